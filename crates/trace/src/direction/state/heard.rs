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

    /// Whether a block names data that were never sent, above the highest byte or before the SYN;
    /// none where the capture misses some. The sender ignores it (Linux: `tcp_is_sackblock_valid`).
    #[inline]
    pub(super) fn name_unsent(
        &self,
        sack: &[SackBlock],
        positions: &SeqUnwrapper,
        ack: Offset,
    ) -> bool {
        let high = self.board.high;
        !sack.is_empty()
            && self.from_syn
            && self.is_whole
            && ack <= high
            && sack.iter().any(|block| {
                let (left, right) =
                    (positions.position(block.left), positions.position(block.right));
                left < 0 || right > high.as_u64() as i64
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
