//! Quantiles of any number of time spans in a fixed amount of memory.

use tcplab_units::Span;

/// Spans sorted into cells of one width per power of two, 64 each: a quantile is exact within 1/64
/// of itself, and 29 KiB hold an hour of packets as well as a second.
///
/// The idea is that of Tene's `HdrHistogram`: as many significant digits for the small as for the
/// large.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sketch {
    cells: Box<[u64]>,
    count: u64,
    max: Span,
}

/// Cells per power of two are 2 to this.
const DIGITS: u32 = 6;
const PER_POWER: u64 = 1 << DIGITS;
/// One for each number below 128, and 64 for each power of two from there to 2⁶⁴.
const CELLS: usize = ((64 - DIGITS + 1) as usize) << DIGITS;

impl Default for Sketch {
    fn default() -> Sketch {
        Sketch { cells: vec![0; CELLS].into(), count: 0, max: Span::ZERO }
    }
}

impl Sketch {
    /// Without any span.
    pub fn new() -> Sketch {
        Sketch::default()
    }

    /// Adds one.
    pub fn add(&mut self, span: Span) {
        self.add_times(span, 1);
    }

    /// Adds a span `times` times.
    pub fn add_times(&mut self, span: Span, times: u64) {
        self.cells[cell(span.as_nanos())] += times;
        self.count += times;
        self.max = self.max.max(span);
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The longest, exactly; zero without any.
    pub fn max(&self) -> Span {
        self.max
    }

    /// The span that `per_mille` in a thousand are not longer than, rounded up by 1/64 of itself at
    /// most; zero without any.
    pub fn quantile(&self, per_mille: u64) -> Span {
        // The rank that an index of `n · p / 1000` into the sorted spans has.
        let rank = (u128::from(self.count) * u128::from(per_mille) / 1000) as u64;
        let rank = rank.min(self.count.saturating_sub(1));
        let mut below = 0;
        for (index, cell) in self.cells.iter().enumerate() {
            below += cell;
            if below > rank {
                return Span::from_nanos(highest(index)).min(self.max);
            }
        }
        self.max
    }
}

/// Where a number belongs.
fn cell(nanos: u64) -> usize {
    let power = (nanos | (PER_POWER - 1)).ilog2() + 1 - DIGITS;
    if power <= 1 {
        return nanos as usize;
    }
    let shift = power - 1;
    ((u64::from(shift) << DIGITS) + (nanos >> shift)) as usize
}

/// The largest number that belongs there.
fn highest(cell: usize) -> u64 {
    let cell = cell as u64;
    if cell < 2 * PER_POWER {
        return cell;
    }
    let shift = (cell >> DIGITS) - 1;
    let leading = cell - (shift << DIGITS);
    (leading << shift) | ((1 << shift) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A portable stream of numbers of all sizes.
    fn numbers(count: u64) -> Vec<u64> {
        let mut rng = tcplab_units::Rng::new(1, "sketch");
        (0..count).map(|_| rng.next_u64() >> rng.below(64)).collect()
    }

    #[test]
    fn cells_meet_without_gap_or_overlap() {
        for index in 0..CELLS - 1 {
            let end = highest(index);
            assert_eq!(cell(end), index);
            assert_eq!(cell(end + 1), index + 1, "after {end}");
        }
        assert_eq!((cell(u64::MAX), highest(CELLS - 1)), (CELLS - 1, u64::MAX));
    }

    #[test]
    fn quantiles_agree_with_the_sorted_list() {
        for count in [1, 2, 10, 999, 100_000] {
            let mut exact = numbers(count);
            let mut sketch = Sketch::new();
            for nanos in &exact {
                sketch.add(Span::from_nanos(*nanos));
            }
            exact.sort_unstable();
            for per_mille in [0, 1, 10, 500, 900, 990, 999, 1000] {
                let index = (exact.len() * per_mille / 1000).min(exact.len() - 1);
                let (right, estimated) =
                    (exact[index], sketch.quantile(per_mille as u64).as_nanos());
                assert!(estimated >= right, "{estimated} < {right}");
                assert!(estimated - right <= right / PER_POWER, "{estimated} for {right}");
            }
            assert_eq!(sketch.max().as_nanos(), exact[exact.len() - 1]);
            assert_eq!(sketch.count(), count);
        }
    }

    #[test]
    fn empty_sketch_has_no_quantiles() {
        assert_eq!(Sketch::new().quantile(500), Span::ZERO);
        assert_eq!(Sketch::new().max(), Span::ZERO);
    }
}
