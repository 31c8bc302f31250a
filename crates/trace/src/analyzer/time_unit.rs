//! What the times of frames are multiples of.
//!
//! A format names the unit in which it counts, but programs that convert or cut captures write
//! coarser times in a finer unit. Of times in a finer unit, one in a thousand is a multiple of a
//! millisecond.

/// Units of time from which on reactions of a kernel do not show, nanoseconds.
pub(super) const COARSE: u64 = 1_000_000;
/// A unit is believed after so many frames, at so many different times.
const FRAMES: u64 = 1_000;
const TIMES: u32 = 8;
/// Fewer frames may have come at once.
const AT_ONCE: u64 = 8;

#[derive(Debug, Default)]
pub(super) struct TimeUnit {
    last: Option<u64>,
    /// The greatest common divisor of the steps between frames, nanoseconds; 0 before the first.
    unit: u64,
    steps: u32,
    frames: u64,
    /// Nothing more is to be found out.
    pub(super) settled: bool,
}

impl TimeUnit {
    /// The time of the next frame; returns the unit where it proves to be coarse.
    #[cold]
    pub(super) fn see(&mut self, time_ns: u64) -> Option<u64> {
        self.frames += 1;
        let step = time_ns.abs_diff(self.last.replace(time_ns).unwrap_or(time_ns));
        if step > 0 {
            self.unit = common_divisor(step, self.unit);
            self.steps += 1;
        }
        let is_known = self.frames >= FRAMES && self.steps >= TIMES;
        self.settled = is_known || self.unit > 0 && self.unit < COARSE;
        (is_known && self.unit >= COARSE).then_some(self.unit)
    }

    /// Whether all frames had the same time.
    pub(super) fn stands_still(&self) -> bool {
        self.steps == 0 && self.frames > AT_ONCE
    }
}

/// By Euclid's algorithm.
fn common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_divisors() {
        for (a, b, divisor) in [(7, 0, 7), (12, 18, 6), (18, 12, 6), (1_000_001, 1_000_000, 1)] {
            assert_eq!(common_divisor(a, b), divisor);
        }
    }

    #[test]
    fn unit_is_known_after_enough_frames() {
        for (step, found) in
            [(1_000_000, Some(1_000_000)), (15_625_000, Some(15_625_000)), (999_999, None)]
        {
            let mut unit = TimeUnit::default();
            let all = (0..FRAMES + 10).map(|frame| unit.see(7 + frame / 3 * step));
            let known: Vec<u64> = all.flatten().collect();
            assert_eq!(known.first().copied(), found, "{step}");
            assert!(unit.settled && !unit.stands_still());
        }
    }
}
