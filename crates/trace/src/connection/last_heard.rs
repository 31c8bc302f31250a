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
}
folded! { LastHeard { packet, retransmissions } }

impl LastHeard {
    /// A packet of this end; `retransmissions`: of the other end, so far.
    #[inline(always)]
    pub(crate) fn follow(&mut self, packet: &Packet, retransmissions: u64) {
        *self = LastHeard { packet: Some((packet.at, packet.frame)), retransmissions };
    }

    /// What the other end got no answer to, of all that it retransmitted.
    pub(crate) fn unanswered(&self, retransmissions: u64) -> Unanswered {
        Unanswered {
            heard: self.packet,
            retransmissions: retransmissions.saturating_sub(self.retransmissions),
        }
    }
}
