//! The last packet of each end, and what the other end has retransmitted since.

use tcplab_units::Instant;

use crate::Unanswered;
use crate::fold::folded;
use crate::packet::Packet;

/// The last packet of one end.
#[derive(Debug, Default)]
pub(crate) struct LastHeard {
    packet: Option<(Instant, u64)>,
    /// The retransmissions of the other end until then.
    retransmissions: u64,
    /// What the other end sent first since, if nothing of its own was outstanding.
    asked: Option<(Instant, u64)>,
}
folded! { LastHeard { packet, retransmissions, asked } }

impl LastHeard {
    /// A packet of this end; `retransmissions`: of the other end, so far.
    #[inline(always)]
    pub(crate) fn follow(&mut self, packet: &Packet, retransmissions: u64) {
        let packet = Some((packet.at, packet.frame));
        *self = LastHeard { packet, retransmissions, asked: None };
    }

    /// A packet of the other end; `idle`: nothing of its own was outstanding.
    #[inline(always)]
    pub(crate) fn is_asked(&mut self, packet: &Packet, idle: bool) {
        if idle && packet.sequence_len() > 0 {
            self.asked.get_or_insert((packet.at, packet.frame));
        }
    }

    /// What the other end got no answer to, of all that it retransmitted.
    pub(crate) fn unanswered(&self, retransmissions: u64) -> Unanswered {
        Unanswered {
            heard: self.packet,
            asked: self.asked,
            retransmissions: retransmissions.saturating_sub(self.retransmissions),
        }
    }
}
