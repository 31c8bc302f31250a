//! Room for what arrives, where there is little.

use super::Receiver;
use super::queue::{Charge, Piece};
use super::window::ReceiveWindow;

/// Bytes that share one block when Linux squeezes its queues (`tcp_collapse`: a page's worth,
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
        if self.prune(start) {
            self.blocks.clear();
        }
        self.memory() <= self.window.buffer
    }

    /// Drops the end of the out-of-order queue, an eighth of the buffer at least where memory is
    /// charged, to make room for what begins at `start`; whether anything was dropped.
    fn prune(&mut self, start: u64) -> bool {
        let step = if self.window.charges_memory() { self.window.buffer >> 3 } else { 0 };
        let mut pruned = false;
        while self.memory() > self.window.buffer {
            let goal = self.assembler.memory().saturating_sub(step);
            loop {
                if !self.assembler.prune(start) {
                    return pruned;
                }
                pruned = true;
                if self.assembler.memory() <= goal {
                    break;
                }
            }
        }
        pruned
    }

    pub(super) fn collapse(&mut self) {
        if !self.window.charges_memory() {
            return;
        }
        let window = &self.window;
        let mut tiny = 0;
        self.assembler.collapse(|run| {
            let is_tiny = run.iter().filter(|piece| piece.charge.memory > 0).count() == 1
                && run.iter().map(|piece| u64::from(piece.data.len())).sum::<u64>() < COLLAPSED;
            // After many of these nothing is tried.
            if tiny > window.buffer >> 3 {
                return;
            }
            if is_tiny {
                tiny += run.iter().map(|piece| piece.charge.memory).sum::<u64>();
            } else {
                collapse(run, 0, window);
            }
        });
        let pieces = self.queue.pieces.make_contiguous();
        collapse(pieces, self.queue.read, window);
        self.queue.memory = pieces.iter().map(|piece| piece.charge.memory).sum();
    }
}

/// Data side by side is copied into new blocks, from the first one on that holds less than window
/// was offered for, or something from before `start` (`tcp_collapse`).
fn collapse(pieces: &mut [Piece], start: u64, window: &ReceiveWindow) {
    let (mut first, mut len) = (0, 0);
    for (index, piece) in pieces.iter().enumerate() {
        len += u64::from(piece.data.len());
        let memory = piece.charge.memory;
        if piece.start < start || window.of_memory(memory) > len {
            break;
        }
        if memory > 0 {
            (first, len) = (index + 1, 0);
        }
    }
    let pieces = &mut pieces[first..];
    let (mut filled, last) = (0, pieces.len().saturating_sub(1));
    for (index, piece) in pieces.iter_mut().enumerate() {
        filled += piece.end() - piece.start.max(start);
        let blocks = filled / COLLAPSED;
        filled %= COLLAPSED;
        piece.charge =
            Charge { memory: blocks * window.charge_of_block(COLLAPSED).memory, room: 0 };
        if index == last && filled > 0 {
            let rest = window.charge_of_block(filled);
            piece.charge = Charge { memory: piece.charge.memory + rest.memory, ..rest };
        }
    }
}
