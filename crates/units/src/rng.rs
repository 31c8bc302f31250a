//! Randomness that is the same on every machine.

use rand_core::{Rng as _, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// A seeded stream of random numbers: PCG-MCG-128 (O'Neill 2014), pinned, portable.
///
/// Every consumer takes a stream of its own, named by what it is for. So adding a consumer, or
/// one drawing more, never shifts the draws of another.
#[derive(Debug, Clone)]
pub struct Rng(Pcg64Mcg);

impl Rng {
    /// The stream called `name` of `seed`.
    pub fn new(seed: u64, name: &str) -> Rng {
        // FNV-1a (Fowler, Noll, Vo), 64 bit, distinguishes names; SplitMix64 (Steele, Lea, Flood
        // 2014) spreads seeds that differ in one bit over the whole state.
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        for byte in name.bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        let mut state = seed ^ hash.rotate_left(32);
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&split_mix(&mut state).to_le_bytes());
        state ^= hash;
        bytes[8..].copy_from_slice(&split_mix(&mut state).to_le_bytes());
        Rng(Pcg64Mcg::from_seed(bytes))
    }

    /// Any 64-bit number, each as likely.
    pub fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number from 0 to `bound` − 1, by one draw: Lemire's multiplication without rejection,
    /// whose bias is below `bound` / 2⁶⁴.
    ///
    /// # Panics
    /// When `bound` is 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        assert!(bound > 0, "there is no number below zero");
        ((u128::from(self.next_u64()) * u128::from(bound)) >> 64) as u64
    }

    /// A number between 0 and 1, never either: the middle of one of 2⁵³ equal parts of the way. By
    /// one draw; for inverse distribution functions, which are infinite at both ends.
    pub fn open_unit(&mut self) -> f64 {
        ((self.next_u64() >> 11) as f64 + 0.5) * (1.0 / (1_u64 << 53) as f64)
    }

    /// Fills `bytes` with random ones.
    pub fn fill(&mut self, bytes: &mut [u8]) {
        self.0.fill_bytes(bytes);
    }

    /// Puts `items` into random order (Fisher and Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i as u64 + 1) as usize);
        }
    }
}

fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_pinned_and_differ_by_name() {
        let draw = |seed, name| {
            let mut rng = Rng::new(seed, name);
            [rng.next_u64(), rng.next_u64()]
        };
        // A change here changes every seeded result ever published with tcplab.
        assert_eq!(draw(1, "loss"), PINNED);
        assert_ne!(draw(1, "loss"), draw(1, "jitter"));
        assert_ne!(draw(1, "loss"), draw(2, "loss"));
    }
    const PINNED: [u64; 2] = [3_406_264_514_561_810_722, 1_288_055_456_543_104_446];

    #[test]
    fn below_is_even() {
        let mut rng = Rng::new(3, "dice");
        let mut seen = [0u32; 6];
        for _ in 0..60_000 {
            seen[rng.below(6) as usize] += 1;
        }
        // Each face: mean 10,000, σ = 91; five σ either way.
        assert!(seen.iter().all(|n| (9_545..=10_455).contains(n)), "{seen:?}");
    }

    #[test]
    fn open_unit_is_uniform_and_open() {
        let mut rng = Rng::new(5, "unit");
        let mut seen = [0u32; 10];
        for _ in 0..100_000 {
            let u = rng.open_unit();
            assert!(u > 0.0 && u < 1.0);
            seen[(u * 10.0) as usize] += 1;
        }
        // Each tenth: mean 10,000, σ = 95; five σ either way.
        assert!(seen.iter().all(|n| (9_525..=10_475).contains(n)), "{seen:?}");
    }

    #[test]
    fn shuffling_keeps_everything() {
        let mut items: Vec<u32> = (0..100).collect();
        Rng::new(1, "order").shuffle(&mut items);
        assert_ne!(items, (0..100).collect::<Vec<_>>());
        items.sort_unstable();
        assert_eq!(items, (0..100).collect::<Vec<_>>());
    }
}
