//! The rate that the path's narrowest link shows in the spacing of what passes it.
//!
//! While packets wait before the narrowest link it is never idle, so they leave it, and their
//! acknowledgements come back, at its rate (Jacobson, "Congestion Avoidance and Control", the
//! "ack clock"). Spacings of acknowledgements that meet this condition are put into a histogram
//! of their rates; the mean of those around its mode withstands acknowledgements that were
//! compressed or thinned out (Lai and Baker, "Nettimer": density of the samples rather than the
//! mean of all).

use tcplab_units::Rate;

use crate::fold::folded;

/// Bins in each doubling of the rate.
const PER_OCTAVE: usize = 16;
/// The slowest rate distinguished, 2¹⁰ bytes a second; the fastest is 2³⁴.
const SLOWEST: u32 = 10;
const BINS: usize = PER_OCTAVE * 24;
/// Places in a bin that are distinguished: 255 samples of the last one fit 16 bits.
const PLACES: u64 = 256;

/// The full segments of a sufficient train; shorter ones depend on clocks and interrupts.
const SEGMENTS: u64 = 4;
/// And it takes at least this long, nanoseconds: as long as network cards hold back interrupts.
const LONG_ENOUGH: u64 = 250_000;
/// Where times are of a millisecond.
const LONG_ENOUGH_COARSE: u64 = 20_000_000;

/// The histogram, and the train under way.
#[derive(Debug, Default)]
pub(crate) struct Capacity {
    bytes: u64,
    nanos: u64,
    /// Allocated with the first sample.
    bins: Option<Box<Bins>>,
    mode: usize,
}
folded! { Capacity { bytes, nanos, bins, mode } }

/// How many samples each bin has, and where in it they lie: the sum, in parts of its width.
#[derive(Debug)]
struct Bins {
    counts: [u8; BINS],
    places: [u16; BINS],
}
folded! { Bins { counts, places } }

impl Capacity {
    /// `bytes` took `nanos` to pass, right after what passed before; `full`: a segment's size;
    /// `coarse`: times are of a millisecond or more.
    pub(crate) fn extend(&mut self, bytes: u64, nanos: u64, full: u64, coarse: bool) {
        self.bytes += bytes;
        self.nanos = self.nanos.saturating_add(nanos);
        let long_enough = if coarse { LONG_ENOUGH_COARSE } else { LONG_ENOUGH };
        if self.bytes >= SEGMENTS * full && self.nanos >= long_enough {
            let rate = self.bytes.saturating_mul(1_000_000_000) / self.nanos;
            self.count(rate);
            self.break_off();
        }
    }
    /// Ends the burst: the next segment did not follow back to back.
    pub(crate) fn break_off(&mut self) {
        (self.bytes, self.nanos) = (0, 0);
    }
    /// Bytes a second, if any train was seen: the mean of the samples in the mode and beside it.
    pub(crate) fn bytes_per_second(&self) -> Option<u64> {
        let Bins { counts, places } = self.bins.as_deref()?;
        let around = self.mode.saturating_sub(1)..=(self.mode + 1).min(BINS - 1);
        let weigh = |bin: usize| {
            let (begin, width) = extent(bin);
            u64::from(counts[bin]) * begin + width * u64::from(places[bin]) / PLACES
        };
        let count: u64 = around.clone().map(|bin| u64::from(counts[bin])).sum();
        (around.map(weigh).sum::<u64>()).checked_div(count)
    }
    /// The same as a rate.
    pub(crate) fn rate(&self) -> Option<Rate> {
        self.bytes_per_second().map(|bytes| Rate::from_bits_per_second(bytes * 8))
    }

    fn count(&mut self, rate: u64) {
        let bins = || Box::new(Bins { counts: [0; BINS], places: [0; BINS] });
        let Bins { counts, places } = &mut **self.bins.get_or_insert_with(bins);
        let bin = bin(rate);
        let (begin, width) = extent(bin);
        counts[bin] += 1;
        places[bin] += (rate.saturating_sub(begin) * PLACES / width).min(PLACES - 1) as u16;
        if counts[bin] == u8::MAX {
            // The past fades: the path may have changed.
            for (count, place) in counts.iter_mut().zip(places.iter_mut()) {
                // An odd one's half is left out, with its place.
                *place =
                    (u32::from(*place) * u32::from(*count / 2) / u32::from((*count).max(1))) as u16;
                *count /= 2;
            }
        }
        let score = |bin: usize| {
            let beside = |other: Option<usize>| other.and_then(|o| counts.get(o)).copied();
            let beside = [bin.checked_sub(1), bin.checked_add(1)].map(|o| beside(o).unwrap_or(0));
            u32::from(counts[bin]) * 2 + u32::from(beside[0]) + u32::from(beside[1])
        };
        for near in bin.saturating_sub(1)..=(bin + 1).min(BINS - 1) {
            if score(near) > score(self.mode) {
                self.mode = near;
            }
        }
    }
}

/// The bin of a rate in bytes a second: its power of two, and sixteenths of that.
fn bin(rate: u64) -> usize {
    let rate = rate.clamp(1 << SLOWEST, (1 << 34) - 1);
    let power = rate.ilog2();
    let fraction = (rate >> (power - PER_OCTAVE.ilog2())) as usize % PER_OCTAVE;
    (power - SLOWEST) as usize * PER_OCTAVE + fraction
}

/// The least rate of a bin, and its width.
fn extent(bin: usize) -> (u64, u64) {
    let power = SLOWEST + (bin / PER_OCTAVE) as u32;
    let width = (1_u64 << power) / PER_OCTAVE as u64;
    ((1 << power) + width * (bin % PER_OCTAVE) as u64, width)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn capacity_even_rate_to_a_thousandth(rate in 10_000_u64..1_000_000_000) {
            let mut capacity = Capacity::default();
            for _ in 0..40 {
                capacity.extend(20_000, 20_000 * 1_000_000_000 / rate, 1448, false);
            }
            let found = capacity.bytes_per_second();
            // Trains of fewer bytes than a quarter of a millisecond holds are joined.
            let found = found.unwrap();
            prop_assert!(found.abs_diff(rate) * 1_000 <= rate, "{} for {}", found, rate);
        }
    }

    #[test]
    fn capacity_ack_compression_and_thinning_ignored() {
        let mut capacity = Capacity::default();
        for round in 0..300 {
            let nanos = [1_158_400, 300_000 + round * 1_000, 2_000_000 + round * 9_000];
            capacity.extend(7_240, nanos[round as usize % 3], 1_448, false);
        }
        // 50 Mbit/s.
        let found = capacity.rate().unwrap().bits_per_second();
        assert!(found.abs_diff(50_000_000) < 1_000_000, "{found}");
    }

    #[test]
    fn capacity_without_a_train_unknown() {
        let mut capacity = Capacity::default();
        for _ in 0..100 {
            capacity.extend(1_448, 1_000_000, 1_448, false);
            capacity.break_off();
        }
        assert_eq!(capacity.rate(), None);
    }
}
