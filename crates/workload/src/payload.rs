//! The bytes that are sent, and how both ends agree that they arrived.

use tcplab_units::Rng;

/// A pseudo-random stream of bytes, the same for the same seed however it is cut into pieces.
#[derive(Debug, Clone)]
pub struct Payload {
    rng: Rng,
    /// The draw being handed out, little-endian, and how many of its bytes are gone.
    draw: [u8; 8],
    used: usize,
}

impl Payload {
    /// The stream of `seed`.
    pub fn new(seed: u64) -> Payload {
        Payload { rng: Rng::new(seed, "payload"), draw: [0; 8], used: 8 }
    }

    /// The stream of `seed` in the opposite direction.
    pub fn answering(seed: u64) -> Payload {
        Payload { rng: Rng::new(seed, "answer"), draw: [0; 8], used: 8 }
    }

    /// Fills `bytes` with the next bytes of the stream.
    pub fn fill(&mut self, bytes: &mut [u8]) {
        let left = &self.draw[self.used..];
        let first = left.len().min(bytes.len());
        bytes[..first].copy_from_slice(&left[..first]);
        self.used += first;

        let mut words = bytes[first..].chunks_exact_mut(8);
        for word in &mut words {
            word.copy_from_slice(&self.rng.next_u64().to_le_bytes());
        }
        let rest = words.into_remainder();
        if !rest.is_empty() {
            self.draw = self.rng.next_u64().to_le_bytes();
            rest.copy_from_slice(&self.draw[..rest.len()]);
            self.used = rest.len();
        }
    }

    /// Whether these are the next bytes of the stream, which continues behind them either way: as
    /// sure as a hash of them, and several times as fast.
    pub fn goes_on_with(&mut self, bytes: &[u8]) -> bool {
        let left = &self.draw[self.used..];
        let first = left.len().min(bytes.len());
        let mut is_same = left[..first] == bytes[..first];
        self.used += first;

        let mut words = bytes[first..].chunks_exact(8);
        for word in &mut words {
            is_same &= *word == self.rng.next_u64().to_le_bytes();
        }
        let rest = words.remainder();
        if !rest.is_empty() {
            self.draw = self.rng.next_u64().to_le_bytes();
            is_same &= self.draw[..rest.len()] == *rest;
            self.used = rest.len();
        }
        is_same
    }
}

/// A running BLAKE3 hash of a stream.
#[derive(Debug, Clone, Default)]
pub struct Digest(blake3::Hasher);

impl Digest {
    /// The hash of nothing yet.
    pub fn new() -> Digest {
        Digest::default()
    }

    /// Takes in the next bytes of the stream.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The hash of everything taken in so far, 64 hexadecimal digits.
    pub fn hex(&self) -> String {
        self.0.finalize().to_hex().to_string()
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
        let mut chunk = vec![0; 64 << 10];
        let mut left = length;
        while left > 0 {
            let size = left.min(chunk.len() as u64) as usize;
            payload.fill(&mut chunk[..size]);
            digest.update(&chunk[..size]);
            left -= size as u64;
        }
        digest
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
    const PINNED: &str = "307715baa7ae5243d67a67118711ebf7078f07f4726f527db980400003b77186";
    /// BLAKE3 of the empty input, from the test vectors of its authors.
    const NOTHING: &str = "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262";

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
