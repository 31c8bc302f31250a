//! A payload that both ends of a connection share: its bytes are drawn and hashed once.

use std::ops::Range;
use std::ptr;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::payload::{Digest, Payload};

/// Bytes that lie together from any position on: what a write is given where nothing else is
/// asked for.
const TOGETHER: usize = 64 << 10;

/// A position in a payload. Its clones go on by themselves.
#[derive(Debug, Clone)]
pub(crate) struct SharedPayload {
    whole: Arc<Whole>,
    /// Bytes of the payload that are before the position.
    at: u64,
}

/// A payload of which a period and a little more are in memory.
#[derive(Debug)]
struct Whole {
    payload: Payload,
    length: u64,
    /// Its beginning, with as much of the second period as makes [`TOGETHER`] bytes of every
    /// position lie together; drawn when somebody wants bytes.
    bytes: OnceLock<Arc<[u8]>>,
    /// The hash of so many bytes: both ends mostly ask for the same.
    hashed: Mutex<(u64, Digest)>,
}

impl SharedPayload {
    /// The beginning of the first `length` bytes of a payload.
    pub(crate) fn new(payload: Payload, length: u64) -> SharedPayload {
        let (bytes, hashed) = (OnceLock::new(), Mutex::default());
        SharedPayload { whole: Arc::new(Whole { payload, length, bytes, hashed }), at: 0 }
    }

    /// The block that holds the next `size` bytes, and where; the position is then behind them.
    /// None where they do not lie together.
    pub(crate) fn take_whole(&mut self, size: usize) -> Option<(Arc<[u8]>, Range<usize>)> {
        let next = self.next_part(size);
        (next.len() == size).then(|| {
            self.at += size as u64;
            (Arc::clone(self.whole.bytes()), next)
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
            self.at += first.len() as u64;
            bytes = rest;
        }
    }

    /// Whether these are the next bytes; if so, the position is then behind them.
    pub(crate) fn goes_on_with(&mut self, bytes: &[u8]) -> bool {
        let before = self.at;
        let mut rest = bytes;
        while !rest.is_empty() {
            let next = self.next_bytes(rest.len());
            let (first, others) = rest.split_at(next.len());
            // What came through unchanged is mostly the same memory.
            if next.is_empty() || !ptr::eq(next, first) && next != first {
                self.at = before;
                return false;
            }
            self.at += first.len() as u64;
            rest = others;
        }
        true
    }

    /// The hash of all bytes before the position.
    pub(crate) fn digest(&self) -> Digest {
        let mut hashed = self.whole.hashed.lock().unwrap_or_else(PoisonError::into_inner);
        if hashed.0 > self.at {
            *hashed = (0, Digest::new());
        }
        let mut ahead = SharedPayload { whole: Arc::clone(&self.whole), at: hashed.0 };
        while ahead.at < self.at {
            let left = usize::try_from(self.at - ahead.at).unwrap_or(usize::MAX);
            let next = ahead.next_bytes(left);
            hashed.1.update(next);
            let count = next.len() as u64;
            ahead.at += count;
        }
        hashed.0 = self.at;
        hashed.1.clone()
    }

    /// The next bytes, `most` at most, that lie together: none at the end of the payload.
    fn next_bytes(&self, most: usize) -> &[u8] {
        &self.whole.bytes()[self.next_part(most)]
    }

    /// Where they are in the block.
    fn next_part(&self, most: usize) -> Range<usize> {
        let from = (self.at % Payload::PERIOD as u64) as usize;
        let left = usize::try_from(self.whole.length - self.at).unwrap_or(usize::MAX);
        let together = self.whole.bytes().len() - from;
        from..from + most.min(left).min(together)
    }
}

impl Whole {
    fn bytes(&self) -> &Arc<[u8]> {
        self.bytes.get_or_init(|| {
            let size = self.length.min((Payload::PERIOD + TOGETHER) as u64);
            let mut bytes = vec![0; size as usize];
            self.payload.clone().fill(&mut bytes);
            bytes.into()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// More than two periods.
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
    fn as_many_bytes_as_a_write_takes_lie_together_wherever_it_begins() {
        let (whole, mut writer, mut at) = (whole(), shared(), 0);
        for size in [60_000, 1, TOGETHER] {
            let (block, part) = writer.take_whole(size).unwrap();
            assert_eq!(block[part], whole[at..at + size]);
            at += size;
        }
        let left = LENGTH - at;
        assert!(writer.take_whole(left + 1).is_none(), "more than there is");
        let mut filled = vec![0; left + 1];
        writer.fill(&mut filled);
        assert_eq!((&filled[..left], filled[left]), (&whole[at..], 0));
        let long = SharedPayload::new(Payload::new(7), u64::MAX);
        assert!(long.clone().take_whole(LENGTH).is_none(), "does not lie together");
    }

    #[test]
    fn hash_of_less_than_was_hashed_already() {
        let mut writer = shared();
        let reader = writer.clone();
        writer.take_whole(100_000).unwrap();
        assert_eq!(writer.digest().hex(), Digest::of_payload(7, 100_000));
        assert_eq!(reader.digest().hex(), Digest::of_payload(7, 0));
        assert_eq!(writer.digest().hex(), Digest::of_payload(7, 100_000));
    }
}
