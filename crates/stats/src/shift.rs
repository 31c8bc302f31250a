//! By how much two treatments differ: the estimate of Hodges and Lehmann.

use serde::{Deserialize, Serialize};

use crate::Interval;
use crate::normal::normal_quantile;
use crate::rank_tests::{EXACT_PAIRS, EXACT_VALUES};
use crate::ranks::{beyond, sums_of_any, sums_of_some};
use crate::steps::Steps;

/// By how much values are shifted (Hodges and Lehmann 1963).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Shift {
    /// The likeliest shift.
    pub estimate: f64,
    /// Where the shift lies with the confidence asked for, by the distribution of the rank test
    /// that belongs to it; none where so few values cannot give such confidence. Where values are
    /// equal it holds the shift more often.
    pub interval: Option<Interval>,
}

impl Shift {
    /// Of the differences of pairs: the median of the means of each two of them, each with itself
    /// too (Walsh averages). The interval belongs to Wilcoxon's signed-rank test. None of none.
    ///
    /// # Panics
    /// When a value is not finite, or `confidence` not between 0 and 1.
    pub fn of_pairs(differences: &[f64], confidence: f64) -> Option<Shift> {
        let rare = rare_sums_of_pairs(differences.len(), confidence);
        Shift::within(&Steps::walsh_averages(differences), rare)
    }

    /// Of one sample against another: the median of all differences between a value of `sample` and
    /// one of `other`. The interval belongs to the test of Mann and Whitney. None where a sample is
    /// empty.
    ///
    /// # Panics
    /// When a value is not finite, or `confidence` not between 0 and 1.
    pub fn between(sample: &[f64], other: &[f64], confidence: f64) -> Option<Shift> {
        if sample.is_empty() || other.is_empty() {
            return None;
        }
        let rare = rare_sums_of_samples(sample.len(), other.len(), confidence);
        Shift::within(&Steps::differences(sample, other), rare)
    }

    /// With an interval from the last of the `rare` smallest to the last of the largest: a shift
    /// beyond it would leave a rare number of steps on the other side.
    fn within(steps: &Steps, rare: usize) -> Option<Shift> {
        let estimate = steps.median()?;
        let first = rare.checked_sub(1);
        let interval =
            first.map(|at| Interval { low: steps.nth(at), high: steps.nth(steps.count() - rare) });
        Some(Shift { estimate, interval })
    }
}

/// How many of the smallest sums of ranks of so many pairs are rarer than what is left on one side
/// of the confidence.
pub(crate) fn rare_sums_of_pairs(pairs: usize, confidence: f64) -> usize {
    let tail = tail(confidence);
    if pairs <= EXACT_PAIRS {
        let ranks: Vec<u64> = (1..=pairs as u64).collect();
        return beyond(&sums_of_any(&ranks), tail);
    }
    let n = pairs as f64;
    normal_rare(n * (n + 1.0) / 4.0, n * (n + 1.0) * (2.0 * n + 1.0) / 24.0, tail)
}

/// The same of two samples.
pub(crate) fn rare_sums_of_samples(sample: usize, other: usize, confidence: f64) -> usize {
    let tail = tail(confidence);
    if sample + other <= EXACT_VALUES {
        let ranks: Vec<u64> = (1..=(sample + other) as u64).collect();
        let smallest = sample * (sample + 1) / 2;
        return beyond(&sums_of_some(&ranks, sample)[smallest..], tail);
    }
    let (m, n) = (sample as f64, other as f64);
    normal_rare(m * n / 2.0, m * n * (m + n + 1.0) / 12.0, tail)
}

fn tail(confidence: f64) -> f64 {
    assert!(confidence > 0.0 && confidence < 1.0, "a confidence of {confidence}");
    (1.0 - confidence) / 2.0
}

fn normal_rare(mean: f64, variance: f64, tail: f64) -> usize {
    (mean + normal_quantile(tail) * variance.sqrt()).floor().max(0.0) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{A, B, E, F, differences};
    use crate::{rank_sum, signed_rank};

    #[test]
    fn shifts_are_those_of_all_averages() {
        // By scripts/scipy_values.py, with the distributions counted there one by one.
        let paired = Shift::of_pairs(&differences(&B, &A), 0.95).unwrap();
        let independent = Shift::between(&F, &E, 0.95).unwrap();
        for (shift, estimate, low, high) in
            [(paired, -0.44, -0.7, -0.225), (independent, -1.35, -4.55, 0.1)]
        {
            let interval = shift.interval.unwrap();
            for (ours, theirs) in
                [(shift.estimate, estimate), (interval.low, low), (interval.high, high)]
            {
                assert!((ours - theirs).abs() < 1e-9, "{shift:?}");
            }
        }
    }

    #[test]
    fn few_values_have_no_interval() {
        let shift = Shift::of_pairs(&[1.0, 2.0, 3.0, 4.0, 6.0], 0.95).unwrap();
        assert_eq!((shift.estimate, shift.interval), (3.0, None));
        assert!(Shift::of_pairs(&[1.0, 2.0, 3.0, 4.0, 6.0, 9.0], 0.95).unwrap().interval.is_some());
        assert!(
            Shift::between(&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0], 0.95).unwrap().interval.is_none()
        );
        assert_eq!(Shift::of_pairs(&[], 0.95), None);
        assert_eq!(Shift::between(&[1.0], &[], 0.95), None);
        let one = Shift::between(&[3.0], &[1.0], 0.95).unwrap();
        assert_eq!((one.estimate, one.interval), (2.0, None));
    }

    proptest::proptest! {
        /// An interval and its test say the same: zero is outside where the test finds a
        /// difference.
        #[test]
        fn interval_and_test_agree(
            pairs in proptest::collection::vec(-1.0..1.5_f64, 6..30),
            other in proptest::collection::vec(-1.3..1.0_f64, 6..25),
        ) {
            // The test leaves out equal pairs; the interval counts them.
            proptest::prop_assume!(pairs.iter().chain(&other).all(|value| *value != 0.0));
            let excludes = |shift: Shift| {
                shift.interval.is_none_or(|range| range.low > 0.0 || range.high < 0.0)
            };
            let shift = Shift::of_pairs(&pairs, 0.95).unwrap();
            proptest::prop_assert_eq!(signed_rank(&pairs).p <= 0.05, excludes(shift));
            let shift = Shift::between(&pairs, &other, 0.95).unwrap();
            proptest::prop_assert_eq!(rank_sum(&pairs, &other).unwrap().p <= 0.05, excludes(shift));
        }
    }
}
