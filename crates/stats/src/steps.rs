//! The steps between values: the means of each two of a sample, or the differences of each two of
//! two samples. There are as many as the square of the values, so they are never listed: counting
//! those up to a bound takes one walk along the sorted values, and halving the range of
//! floating-point numbers finds the bound that has a given number below it. That takes O(n) memory
//! and O(n log n) time, as the methods of Johnson and Mizoguchi (1978) and Monahan (1984) do.

/// Steps, of which any order statistic can be found.
pub(crate) enum Steps {
    /// The mean of each two of these, each with itself too (Walsh averages).
    Means(Vec<f64>),
    /// Each of the first less each of the second.
    Differences(Vec<f64>, Vec<f64>),
}

impl Steps {
    /// # Panics
    /// When a value is not finite.
    pub(crate) fn walsh_averages(values: &[f64]) -> Steps {
        Steps::Means(crate::summary::sorted(values))
    }

    /// # Panics
    /// When a value is not finite.
    pub(crate) fn differences(sample: &[f64], other: &[f64]) -> Steps {
        Steps::Differences(crate::summary::sorted(sample), crate::summary::sorted(other))
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        match self {
            Steps::Means(values) => values.len() * (values.len() + 1) / 2,
            Steps::Differences(sample, other) => sample.len() * other.len(),
        }
    }

    /// The middle one; of an even number, the mean of the two in the middle, as
    /// [`median`](crate::median) rounds it. None of none.
    pub(crate) fn median(&self) -> Option<f64> {
        let last = self.count().checked_sub(1)?;
        let low = self.nth(last / 2);
        let high = if last % 2 == 0 { low } else { self.nth(last / 2 + 1) };
        Some(low + (high - low) * 0.5)
    }

    /// The step at this place, from 0, of all in order: the smallest number that has more steps
    /// than `place` up to it.
    ///
    /// # Panics
    /// When there are not so many.
    pub(crate) fn nth(&self, place: usize) -> f64 {
        assert!(place < self.count(), "of {} steps there is none at {place}", self.count());
        let (mut low, mut high) = self.ends();
        while low < high {
            let middle = low + ((i128::from(high) - i128::from(low)) / 2) as i64;
            if self.count_to(number(middle)) > place {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        number(low)
    }

    /// The [`key`]s of the least and the greatest.
    fn ends(&self) -> (i64, i64) {
        let (low, high) = match self {
            Steps::Means(values) => (values[0], values[values.len() - 1]),
            Steps::Differences(a, b) => (a[0] - b[b.len() - 1], a[a.len() - 1] - b[0]),
        };
        (key(low), key(high))
    }

    /// How many are no greater than a bound.
    fn count_to(&self, bound: f64) -> usize {
        let is_within = |step: f64| step.total_cmp(&bound).is_le();
        match self {
            Steps::Means(values) => {
                // The greater the one, the fewer others are small enough.
                let mut end = values.len();
                let others = values.iter().enumerate().map(|(place, value)| {
                    while end > place && !is_within(f64::midpoint(*value, values[end - 1])) {
                        end -= 1;
                    }
                    end.saturating_sub(place)
                });
                others.take_while(|count| *count > 0).sum()
            }
            Steps::Differences(sample, other) => {
                let mut begin = 0;
                let others = sample.iter().map(|value| {
                    while begin < other.len() && !is_within(value - other[begin]) {
                        begin += 1;
                    }
                    other.len() - begin
                });
                others.take_while(|count| *count > 0).sum()
            }
        }
    }
}

/// A whole number for each floating-point number, in the order of `total_cmp`.
fn key(value: f64) -> i64 {
    turned(value.to_bits() as i64)
}

/// The number of a [`key`].
fn number(key: i64) -> f64 {
    f64::from_bits(turned(key) as u64)
}

/// The greater the bits of a negative number, the smaller it is.
fn turned(bits: i64) -> i64 {
    bits ^ (((bits >> 63) as u64) >> 1) as i64
}

/// All means of each two, each with itself too.
pub(crate) fn walsh_averages(values: &[f64]) -> Vec<f64> {
    let pairs = values.iter().enumerate();
    pairs.flat_map(|(i, a)| values[i..].iter().map(move |b| f64::midpoint(*a, *b))).collect()
}

/// All differences of a value of the one and one of the other.
pub(crate) fn all_differences(sample: &[f64], other: &[f64]) -> Vec<f64> {
    sample.iter().flat_map(|a| other.iter().map(move |b| a - b)).collect()
}

#[cfg(test)]
mod tests {
    use tcplab_units::Rng;

    use super::*;
    use crate::median;

    fn assert_same(steps: &Steps, mut all: Vec<f64>) {
        assert_eq!(steps.count(), all.len());
        assert_eq!(steps.median().map(f64::to_bits), median(&all).map(f64::to_bits), "{all:?}");
        all.sort_by(f64::total_cmp);
        for (place, step) in all.iter().enumerate() {
            assert_eq!(steps.nth(place).to_bits(), step.to_bits(), "{place} of {all:?}");
        }
    }

    proptest::proptest! {
        /// Also of values with ties and zeros of both signs.
        #[test]
        fn order_statistics_are_those_of_all_steps_to_the_last_bit(
            sizes in (1_usize..25, 1_usize..25), seed: u64, kinds in 1_u64..4,
        ) {
            let mut rng = Rng::new(seed, "steps");
            let mut draw = |count: usize| -> Vec<f64> {
                let value = |rng: &mut Rng| match rng.below(kinds) {
                    0 => rng.open_unit() * 1e3 - 500.0,
                    1 => [0.0, -0.0, 0.1, -0.2][rng.below(4) as usize],
                    _ => rng.below(7) as f64 - 3.0,
                };
                (0..count).map(|_| value(&mut rng)).collect()
            };
            let (a, b) = (draw(sizes.0), draw(sizes.1));
            assert_same(&Steps::walsh_averages(&a), walsh_averages(&a));
            assert_same(&Steps::differences(&a, &b), all_differences(&a, &b));
        }
    }

    #[test]
    fn no_values_have_no_median() {
        assert_eq!(Steps::walsh_averages(&[]).median(), None);
        assert_eq!(Steps::differences(&[], &[1.0]).median(), None);
    }

    /// Of 100,000 values on each side, ten thousand million differences.
    #[test]
    fn many_values_take_little_memory() {
        let many: Vec<f64> = (0..100_000).map(f64::from).collect();
        let steps = Steps::differences(&many, &many);
        assert_eq!(steps.nth(steps.count() - 1).to_bits(), 99_999_f64.to_bits());
        assert_eq!(steps.median().map(f64::to_bits), Some(0.0_f64.to_bits()));
    }
}
