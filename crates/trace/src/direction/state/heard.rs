//! What a packet of the opposite direction tells beside what it acknowledges.

use tcplab_units::{Bytes, Offset};
use tcplab_wire::{SackBlock, SeqUnwrapper, TcpFlags};

use super::DirectionState;
use crate::packet::Packet;

impl DirectionState {
    /// What its flags tell: a SYN, which may acknowledge nothing, and congestion marks.
    #[inline]
    pub(super) fn hear_flags(&mut self, packet: &Packet, unread: bool, copied: bool) {
        self.hear_marks(packet, unread);
        if packet.syn() && !copied {
            self.observers.on_peer_syn(packet);
        }
    }

    /// What a packet of the opposite direction tells of congestion marks.
    #[inline(always)]
    pub(super) fn hear_marks(&mut self, packet: &Packet, unread: bool) {
        if self.feedback.is_classic() {
            // RFC 3168 section 6.1.3.
            if !unread && packet.flags.contains(TcpFlags::ECE) && !packet.syn() {
                self.feedback.mark_echoed = true;
                self.observers.on_echo(packet);
            }
        } else if self.feedback.is_accurate() && !unread {
            self.hear_counter(packet);
        }
    }

    #[inline(never)]
    fn hear_counter(&mut self, packet: &Packet) {
        let ack = packet.ack.zip(self.positions).map(|(ack, positions)| positions.position(ack));
        let una = self.board.una.as_u64() as i64;
        // An old ACK may have been overtaken by a newer one (RFC 9768 section 3.2.2.5).
        let Some(ack) = ack.filter(|&ack| ack >= una) else { return };
        let more = self.feedback.counted(packet, ack > una, ack <= 1);
        if more > 0 {
            self.observers.on_report(packet, more);
        }
    }

    /// The SACK blocks; none if one names data that cannot have been sent, and whether that is so.
    /// Such data lie before the SYN, or beyond what was seen and what the window lets the sender
    /// send (`edge`: by this ACK), so nothing counts that the capture misses. The sender ignores
    /// such blocks (Linux: `tcp_is_sackblock_valid`).
    #[inline]
    pub(super) fn without_unsent<'s>(
        &self,
        sack: &'s [SackBlock],
        positions: &SeqUnwrapper,
        edge: Option<Offset>,
    ) -> (&'s [SackBlock], bool) {
        let Some(edge) = edge.max(self.window_edge).filter(|_| !sack.is_empty()) else {
            return (sack, false);
        };
        let last = self.board.high.max(edge).as_u64() as i64;
        let is_unsent = |block: &SackBlock| {
            let is_before = self.from_syn && positions.position(block.left) < 0;
            is_before || positions.position(block.right) > last
        };
        if sack.iter().any(is_unsent) { (&[], true) } else { (sack, false) }
    }

    #[inline]
    pub(super) fn count_ack(
        &mut self,
        packet: &Packet,
        window: Option<Bytes>,
        duplicate: bool,
        copied: bool,
    ) {
        self.last_window = Some(packet.window);
        self.totals.pure_acks += u64::from(packet.is_bare() && !copied);
        self.totals.duplicate_acks += u64::from(duplicate);
        self.totals.max_window = self.totals.max_window.max(window);
    }
}
