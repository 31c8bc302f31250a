//! Data received in order and not read.

use std::collections::VecDeque;

use crate::segment::Data;

/// A stretch of the stream as it arrived, and the memory it takes.
#[derive(Debug, Clone)]
pub(super) struct Piece {
    pub(super) start: u64,
    pub(super) data: Data,
    pub(super) charge: Charge,
}

/// What data is charged, bytes. Of pieces that share a block of memory the last one is charged, as
/// the block is released with it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Charge {
    pub(super) memory: u64,
    /// What the block has room for behind the data.
    pub(super) room: u32,
}

impl Piece {
    pub(super) fn end(&self) -> u64 {
        self.start + u64::from(self.data.len())
    }

    /// Goes into the block of the piece `before`, where that has room: then nothing more is charged
    /// (`tcp_try_coalesce`, `skb_try_coalesce`). Gives what is.
    pub(super) fn settle_behind(&mut self, before: Option<&mut Piece>) -> u64 {
        let len = self.data.len();
        match before {
            Some(before) if before.charge.room >= len && before.end() == self.start => {
                self.charge = std::mem::take(&mut before.charge);
                self.charge.room -= len;
                0
            }
            _ => self.charge.memory,
        }
    }
}

/// The queue from which the application reads.
#[derive(Debug, Default)]
pub(super) struct ReadQueue {
    pub(super) pieces: VecDeque<Piece>,
    /// Memory that the pieces are charged, bytes.
    pub(super) memory: u64,
    /// The position that the application has read up to (`copied_seq`).
    pub(super) read: u64,
    /// Whether data is discarded once acknowledged, as it will not be read.
    pub(super) discards: bool,
}

impl ReadQueue {
    /// What follows in order. A segment may share the block of the last only as a whole
    /// (`is_whole`): one of which some was known begins before that ends.
    pub(super) fn push(&mut self, mut piece: Piece, is_whole: bool) {
        if self.discards {
            self.read = piece.end();
            return;
        }
        self.memory += piece.settle_behind(self.pieces.back_mut().filter(|_| is_whole));
        self.pieces.push_back(piece);
    }

    /// The first piece was read.
    pub(super) fn pop(&mut self) {
        if let Some(front) = self.pieces.pop_front() {
            self.memory -= front.charge.memory;
        }
    }
}
