//! Data without the timestamps that both ends agreed on.
//!
//! Once agreed on, each packet of the connection has them, RSTs aside, and who gets one without
//! should drop it (RFC 7323 section 3.2). So data without them come from another program: probes
//! with raw packets, or forged ones. Devices that leave options out exist as well: if an ACK
//! without timestamps passed, or the other end takes such data in, they are the connection's.

use tcplab_wire::SeqNumber;

use crate::Handshake;
use crate::direction::DirectionState;
use crate::fold::folded;
use crate::packet::Packet;

#[derive(Debug, Default)]
pub(super) struct Stamps {
    /// Client and server; none as long as no packet lacks them.
    ends: Option<Box<[End; 2]>>,
}
folded! { Stamps { ends } }

#[derive(Debug, Default)]
struct End {
    /// Its packets may lack them.
    leaves_out: bool,
    /// The end of the first data that were refused.
    refused: Option<SeqNumber>,
}
folded! { End { leaves_out, refused } }

impl Stamps {
    /// Whether it has data and no timestamps, as it should.
    #[inline]
    pub(super) fn are_missing(&self, packet: &Packet, forward: bool, agreed: &Handshake) -> bool {
        packet.timestamps.is_none()
            && packet.sequence_len() > 0
            && agreed.client.timestamps
            && agreed.server.timestamps
            && !self.end(forward).is_some_and(|end| end.leaves_out)
    }

    fn end(&self, forward: bool) -> Option<&End> {
        self.ends.as_ref().map(|ends| &ends[usize::from(!forward)])
    }

    /// Whether the packet is not the connection's; `own`: its sender's data.
    pub(super) fn refuse(
        &mut self,
        packet: &Packet,
        forward: bool,
        agreed: &Handshake,
        own: &DirectionState,
    ) -> bool {
        let is_due = agreed.client.timestamps && agreed.server.timestamps;
        if !is_due || packet.timestamps.is_some() || packet.syn() || packet.rst() {
            return false;
        }
        let is_missing = self.are_missing(packet, forward, agreed);
        let end = &mut self.ends.get_or_insert_default()[usize::from(!forward)];
        if packet.is_bare() || packet.options_cut {
            end.leaves_out |= !packet.options_cut;
            return false;
        }
        // Old data say nothing new, as in a keep-alive of a device on the path.
        if !is_missing || own.is_old_ack(packet.end()) {
            return false;
        }
        end.refused.get_or_insert(packet.end());
        true
    }

    /// The other end acknowledges data: refused ones, if `sent`, the data that it answers, end
    /// before.
    #[inline]
    pub(super) fn hear(&mut self, packet: &Packet, forward: bool, sent: &DirectionState) {
        let Some(ends) = &mut self.ends else { return };
        let end = &mut ends[usize::from(forward)];
        let (Some(refused), Some(ack)) = (end.refused, packet.ack) else { return };
        if !end.leaves_out && !refused.is_after(ack) && sent.ends_before(refused) {
            end.leaves_out = true;
        }
    }
}
