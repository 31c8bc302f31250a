//! An ACK that a retransmission crosses inside the sender's host: it passed the capture point, but
//! the sender had not read it when it reacted to the one before.

use tcplab_units::{Instant, Span};

use super::SenderModel;
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
    prompt: Option<u64>,
    /// What the sender knew until then.
    known: Knowledge,
}
folded! { Crossed { at, prompt, known } }

impl Crossed {
    /// Whether the sender, which otherwise has this ACK according to `known`, cannot have read it
    /// when it retransmitted what it acknowledges.
    fn is_crossed_by(&self, again: &RetransmittedPacket, known: &Knowledge) -> bool {
        let &RetransmittedPacket { at, range, beyond, .. } = again;
        let was_open = (self.known.una..known.una).contains(&range.start);
        was_open && range.end <= known.una && at <= self.at + beyond + CROSSING
    }
}

impl SenderModel {
    /// The ACK that passes at this time, if a loss was known before.
    #[inline]
    pub(super) fn crossed_by(&self, at: Instant) -> Option<Box<Crossed>> {
        let known = self.known;
        let prompt = self.heard_before.map(|before| before.frame);
        (known.sacked.is_some() || known.duplicates >= THRESHOLD)
            .then(|| Box::new(Crossed { at, prompt, known }))
    }

    /// What the sender knew when it retransmitted; when the latest ACK passed that it is proven to
    /// have had then; and the frame of the last that it had.
    pub(super) fn known_for(
        &mut self,
        again: &RetransmittedPacket,
    ) -> (Knowledge, Option<Instant>, Option<u64>) {
        let passing = (again.at, again.beyond);
        let (known, proven) = self.in_transit.known(passing, again.echo, self.known);
        match self.crossed.take_if(|ack| ack.is_crossed_by(again, &known)) {
            Some(ack) => (ack.known, proven, ack.prompt),
            None => (known, proven, self.last_heard.map(|last| last.frame)),
        }
    }
}
