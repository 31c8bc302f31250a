//! Data received in order and not read.

use std::collections::VecDeque;

use super::assembler::Piece;

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
