//! RSTs: what is kept of one, and of those that the connection outlived.

use tcplab_units::{Bytes, Endpoint, Offset, Span};
use tcplab_wire::SeqNumber;

use super::state_walk::PacketTime;
use crate::ForgedReset;
use crate::fold::folded;
use crate::packet::Packet;

#[derive(Debug, Clone, Copy)]
pub(super) struct Reset {
    pub(super) by: Endpoint,
    pub(super) moment: PacketTime,
    pub(super) seq: SeqNumber,
    pub(super) unread: Option<Bytes>,
    /// Its TTL, and that of its sender's first packet.
    pub(super) ttls: Option<(u8, u8)>,
    pub(super) idle: Option<Span>,
    /// The end of the other end's data that was acknowledged then.
    pub(super) acked: Offset,
    pub(super) reopened: Option<u64>,
    /// Both FINs were already acknowledged.
    pub(super) late: bool,
    /// The end of the first new data or FIN that client and server sent after it.
    pub(super) followed: [Option<SeqNumber>; 2],
    /// The other end sent anything but RST after it.
    pub(super) answered: bool,
}
folded! {
    Reset { by, moment, seq, unread, ttls, idle, acked, reopened, late, followed, answered }
}

/// Those whose sender went on, or that the other end did not obey.
#[derive(Debug, Default)]
pub(super) struct Outlived {
    /// The latest whose sender went on, while the other end is silent: it may have obeyed.
    open: Option<Box<(Reset, u64)>>,
    /// The one that was obeyed, or the first with a TTL that its sender does not have.
    forged: Option<Box<ForgedReset>>,
}
folded! { Outlived { open, forged } }

impl Outlived {
    /// This packet shows that the RST did not end the connection for the end that sent it
    /// (`its_own`: the sender of the RST).
    #[cold]
    pub(super) fn add(&mut self, reset: &Reset, packet: &Packet, its_own: bool) {
        let differs = |(ttl, first)| ttl != first && !(its_own && ttl == packet.ttl);
        if reset.ttls.is_some_and(differs) {
            self.forged.get_or_insert_with(|| Box::new(forged(reset, packet.frame, None)));
        }
        if its_own && !reset.answered {
            self.open = Some(Box::new((*reset, packet.frame)));
        }
    }

    /// An end sent something else than an RST.
    #[inline]
    pub(super) fn goes_on(&mut self, by: Endpoint) {
        if self.open.as_ref().is_some_and(|open| open.0.by != by) {
            self.open = None;
        }
    }

    /// The RST that this end obeyed, if it answers what came then as a host answers that has no
    /// such connection: by an RST without ACK (RFC 9293 section 3.10.7.1).
    pub(super) fn refusal(&mut self, packet: &Packet, by: Endpoint) -> Option<Reset> {
        let refuses = |open: &mut Box<(Reset, u64)>| open.0.by != by && packet.ack.is_none();
        let (reset, went_on) = *self.open.take_if(refuses)?;
        self.forged = Some(Box::new(forged(&reset, went_on, Some(packet.frame))));
        Some(reset)
    }

    /// Whether it is open whether one was obeyed.
    pub(super) fn is_open(&self) -> bool {
        self.open.is_some()
    }
    /// Whether one was obeyed.
    pub(super) fn is_obeyed(&self) -> bool {
        self.forged.as_ref().is_some_and(|forged| forged.refused.is_some())
    }
    pub(super) fn forged(&self) -> Option<ForgedReset> {
        self.forged.as_deref().copied()
    }
}

fn forged(reset: &Reset, went_on: u64, refused: Option<u64>) -> ForgedReset {
    let Reset { by, moment, ttls, .. } = *reset;
    ForgedReset { by, at: moment.at, frame: moment.frame, ttls, went_on, refused }
}
