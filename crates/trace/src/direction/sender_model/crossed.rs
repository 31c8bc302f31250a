//! An ACK that a retransmission crosses inside the sender's host: it passed the capture point, but
//! the sender had not read it when it reacted to the one before.

use tcplab_units::{Instant, Span};

use crate::direction::classification::RetransmittedPacket;
use crate::direction::knowledge::{Knowledge, THRESHOLD};
use crate::fold::folded;

/// Inside a host, packets that cross at its capture point are at most so far apart.
const CROSSING: Span = Span::from_millis(1);

/// An ACK of data that the sender knew to be lost.
#[derive(Debug)]
pub(super) struct Crossed {
    at: Instant,
    /// The packet before it.
    pub(super) prompt: Option<u64>,
    /// What the sender knew until then.
    pub(super) known: Knowledge,
}
folded! { Crossed { at, prompt, known } }

impl Crossed {
    /// The ACK that passes at this time, after this packet, if a loss was `known` before.
    #[inline]
    pub(super) fn of(at: Instant, prompt: Option<u64>, known: Knowledge) -> Option<Box<Crossed>> {
        (known.sacked.is_some() || known.duplicates >= THRESHOLD)
            .then(|| Box::new(Crossed { at, prompt, known }))
    }

    /// Whether the sender, which otherwise has this ACK according to `known`, cannot have read it
    /// when it retransmitted what it acknowledges.
    pub(super) fn is_crossed_by(&self, again: &RetransmittedPacket, known: &Knowledge) -> bool {
        let &RetransmittedPacket { at, range, beyond, .. } = again;
        let was_open = (self.known.una..known.una).contains(&range.start);
        was_open && range.end <= known.una && at <= self.at + beyond + CROSSING
    }
}
