//! Mean, spread, order statistics, and the interval that the mean is in.

use serde::{Deserialize, Serialize};

use crate::student_t_quantile;

/// How often an [`Interval`] of a [`Summary`] holds the true mean.
pub(crate) const CONFIDENCE: f64 = 0.95;

/// What a sample of values says.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// How many values there are, at least 1.
    pub count: usize,
    /// Arithmetic mean.
    pub mean: f64,
    /// Sample standard deviation (n − 1); none for a single value.
    pub standard_deviation: Option<f64>,
    /// 95 % confidence interval of the mean by Student's t; none for a single value.
    pub interval: Option<Interval>,
    /// The smallest value.
    pub min: f64,
    /// The middle value; of an even number of values, the mean of the two in the middle.
    pub median: f64,
    /// The largest value.
    pub max: f64,
}

impl Summary {
    /// The summary of `values`; none of none.
    ///
    /// # Panics
    /// When a value is not finite.
    pub fn of(values: &[f64]) -> Option<Summary> {
        let sorted = sorted(values);
        let (mean, standard_deviation) = (mean(values)?, standard_deviation(values));
        Some(Summary {
            count: values.len(),
            mean,
            standard_deviation,
            interval: standard_deviation.map(|s| Interval::of_mean(mean, s, values.len())),
            min: *sorted.first()?,
            median: quantile_of_sorted(&sorted, 0.5)?,
            max: *sorted.last()?,
        })
    }
}

/// A range of values, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Interval {
    /// Where the true mean lies with 95 % confidence, given the mean and sample standard deviation
    /// of `count` values, at least two, from a normal distribution (Student 1908).
    pub fn of_mean(mean: f64, standard_deviation: f64, count: usize) -> Interval {
        assert!(count >= 2, "one value says nothing of the spread");
        let quantile = student_t_quantile(0.5 + CONFIDENCE / 2.0, (count - 1) as f64);
        let half = quantile * standard_deviation / (count as f64).sqrt();
        Interval { low: mean - half, high: mean + half }
    }

    /// Half its width: the `±` behind a mean.
    pub fn half_width(self) -> f64 {
        (self.high - self.low) / 2.0
    }
}

/// The arithmetic mean; none of no values.
pub fn mean(values: &[f64]) -> Option<f64> {
    assert_finite(values);
    // Dividing first keeps the sum finite; summing the differences from a rough mean takes the
    // rounding of the first pass out again.
    let count = values.len() as f64;
    let rough: f64 = values.iter().map(|v| v / count).sum();
    let correction: f64 = values.iter().map(|v| (v - rough) / count).sum();
    (!values.is_empty()).then_some(rough + correction)
}

/// The sample standard deviation, with n − 1 in the denominator; none of fewer than two values.
pub fn standard_deviation(values: &[f64]) -> Option<f64> {
    if values.len() < 2 {
        return None;
    }
    let mean = mean(values)?;
    // Two passes: the one-pass formula cancels when the spread is small against the mean.
    let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
    Some((squares / (values.len() - 1) as f64).sqrt())
}

/// The middle value; of an even number of values, the mean of the two in the middle; none of none.
pub fn median(values: &[f64]) -> Option<f64> {
    quantile(values, 0.5)
}

/// The value below which the share `p` (0 to 1) of the sample lies, by linear interpolation at
/// position (n − 1)·p of the sorted values: type 7 of Hyndman and Fan (1996), the default of R and
/// NumPy. None of no values.
///
/// # Panics
/// When `p` is not from 0 to 1, or a value is not finite.
pub fn quantile(values: &[f64], p: f64) -> Option<f64> {
    quantile_of_sorted(&sorted(values), p)
}

pub(crate) fn quantile_of_sorted(sorted: &[f64], p: f64) -> Option<f64> {
    assert!((0.0..=1.0).contains(&p), "{p} is not a share");
    let position = sorted.len().checked_sub(1)? as f64 * p;
    let below = position.floor();
    let (low, high) = (sorted[below as usize], sorted[position.ceil() as usize]);
    Some(low + (high - low) * (position - below))
}

pub(crate) fn sorted(values: &[f64]) -> Vec<f64> {
    assert_finite(values);
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}

fn assert_finite(values: &[f64]) {
    assert!(values.iter().all(|v| v.is_finite()), "a value is not finite: {values:?}");
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ten throughputs in Mbit/s; the figures by `numpy.mean`, `numpy.std(ddof=1)`,
    /// `numpy.quantile` and `mean ± q * scipy.stats.sem`, q the SciPy quantile of `student.rs`.
    const THROUGHPUTS: [f64; 10] = [4.31, 4.52, 4.11, 4.87, 4.42, 4.40, 4.39, 4.68, 4.05, 4.55];

    #[test]
    fn summary_matches_scipy() {
        let summary = Summary::of(&THROUGHPUTS).unwrap();
        let interval = summary.interval.unwrap();
        for (what, ours, theirs) in [
            ("mean", summary.mean, 4.43),
            ("standard deviation", summary.standard_deviation.unwrap(), 0.245_492_701_860_292_9),
            ("low", interval.low, 4.254_385_100_358_842),
            ("high", interval.high, 4.605_614_899_641_157),
            ("min", summary.min, 4.05),
            ("median", summary.median, 4.41),
            ("max", summary.max, 4.87),
            ("first decile", quantile(&THROUGHPUTS, 0.1).unwrap(), 4.104),
            ("third quartile", quantile(&THROUGHPUTS, 0.75).unwrap(), 4.5425),
        ] {
            assert!((ours - theirs).abs() < 1e-12, "{what}: {ours} against {theirs}");
        }
        assert!((interval.half_width() - 0.175_614_899_641_157_92).abs() < 1e-12);
    }

    #[test]
    fn too_few_values_say_so() {
        assert_eq!(Summary::of(&[]), None);
        let single = Summary::of(&[3.0]).unwrap();
        assert_eq!((single.mean, single.median), (3.0, 3.0));
        assert_eq!((single.standard_deviation, single.interval), (None, None));
        let same = Summary::of(&[2.0, 2.0, 2.0]).unwrap();
        assert_eq!(same.interval, Some(Interval { low: 2.0, high: 2.0 }));
    }

    #[test]
    fn small_spread_on_large_mean_survives() {
        let values = [1e9 + 4.0, 1e9 + 7.0, 1e9 + 13.0, 1e9 + 16.0];
        assert_eq!(mean(&values), Some(1e9 + 10.0));
        assert_eq!(standard_deviation(&values), Some(30f64.sqrt()));
    }

    proptest::proptest! {
        #[test]
        fn order_and_bounds_hold(values in proptest::collection::vec(-1e6..1e6f64, 1..40)) {
            let summary = Summary::of(&values).unwrap();
            let near = 1e-6;
            proptest::prop_assert!(summary.min <= summary.median && summary.median <= summary.max);
            proptest::prop_assert!(summary.min - near <= summary.mean);
            proptest::prop_assert!(summary.mean <= summary.max + near);
            let deciles: Vec<f64> =
                (0..=10).map(|d| quantile(&values, f64::from(d) / 10.0).unwrap()).collect();
            proptest::prop_assert!(deciles.is_sorted());
            proptest::prop_assert_eq!(deciles[0].to_bits(), summary.min.to_bits());
            proptest::prop_assert_eq!(deciles[10].to_bits(), summary.max.to_bits());
            if let Some(interval) = summary.interval {
                proptest::prop_assert!((interval.low..=interval.high).contains(&summary.mean));
            }
        }

        #[test]
        fn order_of_trials_does_not_matter(
            values in proptest::collection::vec(-1e3..1e3f64, 2..20),
        ) {
            let mut turned = values.clone();
            turned.reverse();
            let (a, b) = (Summary::of(&values).unwrap(), Summary::of(&turned).unwrap());
            proptest::prop_assert!((a.mean - b.mean).abs() < 1e-9);
            proptest::prop_assert_eq!(a.median.to_bits(), b.median.to_bits());
        }
    }

    /// The ranks of Conover's table (also `scipy.stats.quantile_test(range(1, n + 1), q=0, p=0.5)
    /// .confidence_interval()`), and their coverage by counting subsets: with the next rank it
    /// would be less than 95 %.
    #[test]
    fn interval_of_median_is_the_narrowest_of_order_statistics() {
        let first = |n: u32| (1..=n).map(f64::from).collect::<Vec<f64>>();
        let ends = |n: u32| crate::median_interval(&first(n)).map(|it| (it.low, it.high));
        for (n, expected) in [
            (0, None),
            (1, None),
            (5, None),
            (6, Some((1.0, 6.0))),
            (9, Some((2.0, 8.0))),
            (10, Some((2.0, 9.0))),
            (20, Some((6.0, 15.0))),
        ] {
            assert_eq!(ends(n), expected, "{n}");
        }
        for n in 6..=60_u32 {
            let (low, high) = ends(n).unwrap();
            assert!((low + high - f64::from(n + 1)).abs() < 1e-9, "{n}");
            let mut ways = vec![1_u64];
            for _ in 0..n {
                let next = ways.windows(2).map(|pair| pair[0] + pair[1]);
                ways = [1].into_iter().chain(next).chain([1]).collect();
            }
            let all = 2_f64.powi(n as i32);
            let missed = |rank: usize| 2.0 * ways[..rank].iter().sum::<u64>() as f64 / all;
            assert!(missed(low as usize) <= 0.05 && missed(low as usize + 1) > 0.05, "{n}: {low}");
        }
        let (low, high) = ends(10_000).unwrap();
        assert_eq!((low, high), (4_902.0, 5_099.0));
    }
}
