//! What a packet of the opposite direction tells beside what it acknowledges.

use tcplab_units::{Bytes, Offset};
use tcplab_wire::{SackBlock, SeqUnwrapper, TcpFlags};

use super::DirectionState;
use crate::packet::Packet;

impl DirectionState {
    /// Whether a packet of the opposite direction echoes a mark (RFC 3168 section 6.1.3).
    #[inline(always)]
    pub(super) fn hear_mark(&mut self, packet: &Packet, unread: bool) {
        if !unread && packet.flags.contains(TcpFlags::ECE) && self.classic_ecn && !packet.syn() {
            self.mark_echoed = true;
            self.observers.on_echo(packet);
        }
    }

    /// Whether a block names data that cannot have been sent: before the SYN, or beyond what was
    /// seen and what the window lets the sender send (`edge`: by this ACK), so that nothing that the
    /// capture misses counts. The sender ignores such blocks (Linux: `tcp_is_sackblock_valid`).
    #[inline]
    pub(super) fn name_unsent(
        &self,
        sack: &[SackBlock],
        positions: &SeqUnwrapper,
        edge: Option<Offset>,
    ) -> bool {
        if sack.is_empty() {
            return false;
        }
        let Some(edge) = edge.max(self.window_edge) else { return false };
        let last = self.board.high.max(edge).as_u64() as i64;
        sack.iter().any(|block| {
            let before = self.from_syn && positions.position(block.left) < 0;
            before || positions.position(block.right) > last
        })
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
