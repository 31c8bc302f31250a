//! A payload that both ends of a connection share: its bytes are drawn and hashed once.

use std::ops::Range;
use std::ptr;
use std::sync::{Arc, OnceLock};

use crate::payload::{Digest, Payload};

/// Bytes of a piece: what a write is given where nothing else is asked for, and as many as BLAKE3
/// hashes fast.
const PIECE: usize = 64 << 10;

/// A position in a payload. Its clones go on by themselves; the bytes from the rearmost of them to
/// the foremost are in memory.
#[derive(Debug, Clone)]
pub(crate) struct SharedPayload {
    piece: Arc<Piece>,
    /// Bytes of the piece that are before the position.
    at: usize,
}

/// Some bytes of a payload, and how it goes on. Whoever comes first to its end draws the next.
#[derive(Debug)]
struct Piece {
    bytes: Arc<[u8]>,
    /// The hash of all before.
    before: Digest,
    /// What follows, and how many bytes of it.
    rest: Payload,
    left: u64,
    next: OnceLock<Arc<Piece>>,
}

impl SharedPayload {
    /// The beginning of the first `length` bytes of a payload.
    pub(crate) fn new(payload: Payload, length: u64) -> SharedPayload {
        let nothing = Piece {
            bytes: Arc::new([]),
            before: Digest::new(),
            rest: payload,
            left: length,
            next: OnceLock::new(),
        };
        SharedPayload { piece: Arc::new(nothing), at: 0 }
    }

    /// The block that holds the next `size` bytes, and where; the position is then behind them.
    /// None where they are not in one block.
    pub(crate) fn take_whole(&mut self, size: usize) -> Option<(Arc<[u8]>, Range<usize>)> {
        self.enter_next();
        let part = self.at..self.at + size;
        (part.end <= self.piece.bytes.len()).then(|| {
            self.at = part.end;
            (Arc::clone(&self.piece.bytes), part)
        })
    }

    /// Fills `bytes` with the next ones, as many as there are.
    pub(crate) fn fill(&mut self, mut bytes: &mut [u8]) {
        while !bytes.is_empty() {
            let next = self.next_bytes(bytes.len());
            if next.is_empty() {
                return;
            }
            let (first, rest) = bytes.split_at_mut(next.len());
            first.copy_from_slice(next);
            self.at += first.len();
            bytes = rest;
        }
    }

    /// Whether these are the next bytes; if so, the position is then behind them.
    pub(crate) fn goes_on_with(&mut self, bytes: &[u8]) -> bool {
        let mut ahead = self.clone();
        let mut rest = bytes;
        while !rest.is_empty() {
            let next = ahead.next_bytes(rest.len());
            let (first, others) = rest.split_at(next.len());
            // What came through unchanged is mostly the same memory.
            if next.is_empty() || !ptr::eq(next, first) && next != first {
                return false;
            }
            ahead.at += first.len();
            rest = others;
        }
        *self = ahead;
        true
    }

    /// The hash of all bytes before the position.
    pub(crate) fn digest(&self) -> Digest {
        let mut digest = self.piece.before.clone();
        digest.update(&self.piece.bytes[..self.at]);
        digest
    }

    /// The next bytes of the piece, `most` at most: none at the end of the payload.
    fn next_bytes(&mut self, most: usize) -> &[u8] {
        self.enter_next();
        let next = &self.piece.bytes[self.at..];
        &next[..next.len().min(most)]
    }

    /// At the end of a piece, the next is entered, if there is one.
    fn enter_next(&mut self) {
        if self.at == self.piece.bytes.len() && self.piece.left > 0 {
            self.piece =
                Arc::clone(self.piece.next.get_or_init(|| Arc::new(self.piece.draw_next())));
            self.at = 0;
        }
    }
}

impl Piece {
    fn draw_next(&self) -> Piece {
        let size = self.left.min(PIECE as u64);
        let mut bytes: Arc<[u8]> = std::iter::repeat_n(0, size as usize).collect();
        let mut rest = self.rest.clone();
        rest.fill(Arc::get_mut(&mut bytes).expect("nobody else has it yet"));
        let mut before = self.before.clone();
        before.update(&self.bytes);
        Piece { bytes, before, rest, left: self.left - size, next: OnceLock::new() }
    }
}

impl Drop for Piece {
    /// One after the other: a long list would need much stack.
    fn drop(&mut self) {
        let mut next = self.next.take();
        while let Some(mut piece) = next.and_then(|piece| Arc::try_unwrap(piece).ok()) {
            next = piece.next.take();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// More than two pieces.
    const LENGTH: usize = 150_000;

    fn whole() -> Vec<u8> {
        let mut whole = vec![0; LENGTH];
        Payload::new(7).fill(&mut whole);
        whole
    }

    fn shared() -> SharedPayload {
        SharedPayload::new(Payload::new(7), LENGTH as u64)
    }

    #[test]
    fn writer_and_reader_hash_as_payload_does_at_every_position() {
        let (whole, mut writer, mut reader) = (whole(), shared(), shared().clone());
        let mut filled = vec![0; 100_000];
        writer.fill(&mut filled);
        assert_eq!(filled, whole[..100_000]);
        for piece in whole.chunks(1_448) {
            assert!(reader.goes_on_with(piece));
        }
        assert_eq!(writer.digest().hex(), Digest::of_payload(7, 100_000));
        assert_eq!(reader.digest().hex(), Digest::of_payload(7, LENGTH as u64));
    }

    #[test]
    fn other_bytes_leave_the_position_before_them() {
        let (mut whole, mut reader) = (whole(), shared());
        let beyond = [&whole[60_000..], &[0]].concat();
        assert!(reader.goes_on_with(&whole[..60_000]));
        whole[70_000] ^= 1;
        assert!(!reader.goes_on_with(&whole[60_000..80_000]));
        assert_eq!(reader.digest().hex(), Digest::of_payload(7, 60_000));
        assert!(!reader.goes_on_with(&beyond), "more than there is");
    }

    #[test]
    fn bytes_across_two_pieces_are_in_no_block() {
        let (whole, mut writer) = (whole(), shared());
        let (block, part) = writer.take_whole(60_000).unwrap();
        assert_eq!(block[part], whole[..60_000]);
        assert!(writer.take_whole(60_000).is_none());
        let mut filled = vec![0; 60_000];
        writer.fill(&mut filled);
        assert_eq!(filled, whole[60_000..120_000]);
    }

    #[test]
    fn long_list_of_pieces_is_dropped_without_recursion() {
        let reader = SharedPayload::new(Payload::new(1), u64::MAX);
        let mut writer = reader.clone();
        for _ in 0..3_000 {
            writer.take_whole(PIECE).unwrap();
        }
        drop(writer);
        drop(reader);
    }
}
