//! Room for what arrives, where there is little.

use super::Receiver;
use super::window::COLLAPSED_OVERHEAD;

/// Bytes that share one overhead when Linux squeezes its queues (`tcp_collapse`: a page's worth,
/// `SKB_MAX_ORDER(0, 0)`).
const COLLAPSED: u64 = 3_776;

impl Receiver {
    /// Whether a segment that begins at `start` finds room (`tcp_try_rmem_schedule`,
    /// `tcp_prune_queue`): the queues are collapsed, then the end of the out-of-order queue is
    /// dropped to make room for earlier data.
    pub(super) fn make_room(&mut self, start: u64) -> bool {
        if self.free_segments() == Some(0) && !self.assembler.prune(start) {
            return false;
        }
        if self.memory() <= self.window.buffer {
            return true;
        }
        self.window.clamp_down(self.memory());
        self.acks.forget_quick();
        if self.memory() <= self.window.buffer {
            return true;
        }
        self.collapse();
        let mut pruned = false;
        while self.memory() > self.window.buffer && self.assembler.prune(start) {
            pruned = true;
        }
        if pruned {
            self.blocks.clear();
        }
        self.memory() <= self.window.buffer
    }

    fn collapse(&mut self) {
        let charges_memory = self.config.segment_overhead > 0;
        let overhead = if charges_memory { COLLAPSED_OVERHEAD } else { 0 };
        self.assembler.collapse(overhead, COLLAPSED);
        let (mut memory, mut filled) = (0, u64::MAX);
        for piece in &mut self.queue.pieces {
            let len = u64::from(piece.data.len());
            let shares = filled.saturating_add(len) <= COLLAPSED;
            filled = if shares { filled + len } else { len };
            piece.memory = piece.memory.min(if shares { len } else { len + overhead });
            memory += piece.memory;
        }
        self.queue.memory = memory;
    }
}
