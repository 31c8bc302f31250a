//! The bytes that are sent, and how both ends agree that they arrived.

use std::fmt;

use tcplab_units::Rng;
use twox_hash::XxHash3_128;

/// A pseudo-random stream of bytes, the same for the same seed however it is cut into pieces. It
/// repeats after [`PERIOD`](Payload::PERIOD) bytes, so a long one costs no more than to copy it.
#[derive(Debug, Clone)]
pub struct Payload {
    rng: Rng,
    /// The beginning of the stream, as far as anybody asked for it, in whole draws.
    drawn: Vec<u8>,
    /// How many bytes of the period are gone.
    at: usize,
}

impl Payload {
    /// Bytes after which a stream repeats: the largest prime below 64 KiB. Data moved by any number
    /// of segments or writes, below 65,521, are then other data; and DEFLATE, which looks back
    /// 32 KiB (RFC 1951 section 2), finds nothing to compress.
    pub const PERIOD: usize = 65_521;

    /// The stream of `seed`.
    pub fn new(seed: u64) -> Payload {
        Payload::of(Rng::new(seed, "payload"))
    }

    /// The stream of `seed` in the opposite direction.
    pub fn answering(seed: u64) -> Payload {
        Payload::of(Rng::new(seed, "answer"))
    }

    fn of(rng: Rng) -> Payload {
        Payload { rng, drawn: Vec::new(), at: 0 }
    }

    /// Fills `bytes` with the next bytes of the stream.
    pub fn fill(&mut self, mut bytes: &mut [u8]) {
        while !bytes.is_empty() {
            let next = self.next_bytes(bytes.len());
            let (first, rest) = bytes.split_at_mut(next.len());
            first.copy_from_slice(next);
            bytes = rest;
        }
    }

    /// Whether these are the next bytes of the stream, which continues behind them either way: as
    /// sure as a hash of them, and several times as fast.
    pub fn goes_on_with(&mut self, mut bytes: &[u8]) -> bool {
        let mut is_same = true;
        while !bytes.is_empty() {
            let next = self.next_bytes(bytes.len());
            let (first, rest) = bytes.split_at(next.len());
            is_same &= next == first;
            bytes = rest;
        }
        is_same
    }

    /// The next bytes, `most` at most, and one at least.
    fn next_bytes(&mut self, most: usize) -> &[u8] {
        if self.at == Payload::PERIOD {
            self.at = 0;
        }
        let from = self.at;
        self.at = Payload::PERIOD.min(from + most);
        while self.drawn.len() < self.at {
            self.drawn.extend_from_slice(&self.rng.next_u64().to_le_bytes());
        }
        &self.drawn[from..self.at]
    }
}

/// A running hash of a stream: XXH3, 128 bits. No adversary chooses the bytes, so a hash that only
/// an adversary could deceive is as good as a slower one.
#[derive(Clone, Default)]
pub struct Digest(XxHash3_128);

impl Digest {
    /// The hash of nothing yet.
    pub fn new() -> Digest {
        Digest::default()
    }

    /// Takes in the next bytes of the stream.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.write(bytes);
    }

    /// The hash of everything taken in so far, 32 hexadecimal digits.
    pub fn hex(&self) -> String {
        format!("{:032x}", self.0.finish_128())
    }

    /// The hash of the first `length` bytes of the payload of `seed`: what a receiver must report.
    pub fn of_payload(seed: u64, length: u64) -> String {
        Digest::of(Payload::new(seed), length)
    }

    /// The hash of several texts, whatever their order.
    pub(crate) fn of_texts(mut texts: Vec<String>) -> String {
        texts.sort();
        let mut digest = Digest::new();
        for text in &texts {
            digest.update(text.as_bytes());
        }
        digest.hex()
    }

    /// The hash of the next `length` bytes of a stream.
    pub fn of(payload: Payload, length: u64) -> String {
        Digest::after(payload, length).hex()
    }

    /// The same, to go on with.
    pub(crate) fn after(mut payload: Payload, length: u64) -> Digest {
        let mut digest = Digest::new();
        let mut left = length;
        while left > 0 {
            let next = payload.next_bytes(left.min(Payload::PERIOD as u64) as usize);
            digest.update(next);
            left -= next.len() as u64;
        }
        digest
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({})", self.hex())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn payload_is_pinned() {
        // When this changes, so does every payload ever sent.
        assert_eq!(Digest::of_payload(1, 100_000), PINNED);
        assert_ne!(Digest::of_payload(2, 100_000), PINNED);
        assert_eq!(Digest::of_payload(1, 0), NOTHING);
    }
    const PINNED: &str = "0267887d8019afd0bec908bce736e646";
    /// XXH3_128bits of the empty input, from the test vectors of its author.
    const NOTHING: &str = "99aa06d3014798d86001c324468d497f";

    proptest::proptest! {
        #[test]
        fn however_it_is_cut_it_is_the_same(
            seed: u64,
            cuts in proptest::collection::vec(0usize..40, 0..40),
        ) {
            let mut whole = vec![0; cuts.iter().sum()];
            Payload::new(seed).fill(&mut whole);
            let (mut payload, mut pieces) = (Payload::new(seed), Vec::new());
            for size in cuts {
                let mut piece = vec![0; size];
                payload.fill(&mut piece);
                pieces.extend(piece);
            }
            proptest::prop_assert_eq!(&pieces, &whole);
        }

        #[test]
        fn another_byte_anywhere_is_noticed(
            seed: u64,
            cuts in proptest::collection::vec(1usize..40, 1..40),
            spoilt: proptest::sample::Index,
        ) {
            let mut whole = vec![0; cuts.iter().sum()];
            Payload::new(seed).fill(&mut whole);
            let mut spoilt_whole = whole.clone();
            spoilt_whole[spoilt.index(whole.len())] ^= 1;
            for (bytes, is_right) in [(whole, true), (spoilt_whole, false)] {
                let (mut payload, mut at, mut is_same) = (Payload::new(seed), 0, true);
                for size in &cuts {
                    is_same &= payload.goes_on_with(&bytes[at..at + size]);
                    at += size;
                }
                proptest::prop_assert_eq!(is_same, is_right);
            }
        }
    }
}
