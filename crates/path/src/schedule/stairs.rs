//! The stairs of a ramp, added up without climbing each: a ramp of years has billions.

use tcplab_units::Span;

use super::STAIR;

/// Stairs of a ramp that lie ahead, each whole.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stairs {
    /// The values between which the ramp leads, and how long it takes.
    pub(super) from: u64,
    pub(super) to: u64,
    pub(super) over: Span,
    /// The index of the first within the ramp.
    pub(super) next: u64,
    /// How many there are; above zero.
    pub(super) count: u64,
}

impl Stairs {
    /// What lies below the first `count`, in whole units times nanoseconds.
    pub(crate) fn area(&self, count: u64) -> u128 {
        let [from, all, over, stair, next, count] = [
            self.from,
            self.from.abs_diff(self.to),
            self.over.as_nanos(),
            STAIR.as_nanos(),
            self.next,
            count,
        ]
        .map(u128::from);
        // The i-th has risen by all · i · stair / over, rounded down, or fallen by it, rounded up.
        let (each, first) = (all * stair, all * stair * next);
        let heights = if self.from <= self.to {
            from * count + floor_sum(count, over, each, first)
        } else {
            from * count - floor_sum(count, over, each, first + over - 1)
        };
        heights * stair
    }

    /// How many have no more than so much below them.
    pub(crate) fn within(&self, area: u128) -> u64 {
        let fits = |count: u64| self.area(count) <= area;
        // Mostly few.
        let mut high = 1;
        while high < self.count && fits(high) {
            high = high.saturating_mul(2).min(self.count);
        }
        let mut low = 0;
        while low < high {
            let middle = high - (high - low) / 2;
            if fits(middle) { low = middle } else { high = middle - 1 }
        }
        low
    }
}

/// The sum of (a · i + b) / m, each rounded down, for i from 0 to n − 1: the lattice points below a
/// line, counted as in Euclid's algorithm.
fn floor_sum(mut n: u128, mut m: u128, mut a: u128, mut b: u128) -> u128 {
    let mut sum = 0;
    while n > 0 {
        sum += n * (n - 1) / 2 * (a / m) + n * (b / m);
        (a, b) = (a % m, b % m);
        let end = a * n + b;
        (n, b) = (end / m, end % m);
        (m, a) = (a, m);
    }
    sum
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn area_is_that_of_every_stair(
            from in 0..5_000_u64, to in 0..5_000_u64, over in 1..90_000_000_u64, skip in 0..20_u64,
        ) {
            let all = over / STAIR.as_nanos();
            prop_assume!(all > skip);
            let (next, count) = (skip, all - skip);
            let stairs = Stairs { from, to, over: Span::from_nanos(over), next, count };
            let mut sum = 0;
            for nth in 0..count {
                prop_assert_eq!(stairs.area(nth), sum);
                // As in `Schedule::at`.
                let done = (next + nth) * STAIR.as_nanos();
                let height = (from * (over - done) + to * done) / over;
                sum += u128::from(height * STAIR.as_nanos());
                if height > 0 {
                    prop_assert_eq!(stairs.within(sum), nth + 1);
                    prop_assert_eq!(stairs.within(sum - 1), nth);
                }
            }
            prop_assert_eq!(stairs.area(count), sum);
        }
    }

    /// A ramp of 584 years over all that a number holds.
    #[test]
    fn largest_ramp_does_not_overflow() {
        let over = Span::from_nanos(u64::MAX);
        let count = u64::MAX / STAIR.as_nanos();
        for (from, to) in [(0, u64::MAX), (u64::MAX, 0), (u64::MAX, u64::MAX), (0, 0)] {
            let stairs = Stairs { from, to, over, next: 0, count };
            let mean = (stairs.area(count) / u128::from(count * STAIR.as_nanos())) as f64;
            let expected = from.midpoint(to) as f64;
            assert!((mean - expected).abs() <= 1e-9 * expected, "{from} to {to}: {mean}");
            let half = Stairs { next: count / 2, count: count - count / 2, ..stairs };
            assert_eq!(stairs.area(count / 2) + half.area(half.count), stairs.area(count));
        }
    }
}
