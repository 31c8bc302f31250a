//! How many times as large one mean is as another.

use crate::student::student_t_quantile;
use crate::summary::{Interval, mean};

/// Where the ratio of the means of two samples lies, the first of each pair over the second,
/// by the theorem of Fieller (1954, "Some problems in interval estimation"): all ratios r for which
/// Student's t finds no difference of the mean of `first - r second` from zero. So it excludes 1
/// exactly where [`paired`](crate::paired) distinguishes the means. Of several `comparisons` all
/// hold together with `confidence` (Bonferroni).
///
/// None of fewer than two pairs, and where the second mean itself may be zero: then no
/// ratio is too large.
///
/// # Panics
/// When a value is not finite, or `confidence` not between 0 and 1.
pub fn ratio_of_means(
    pairs: &[(f64, f64)],
    confidence: f64,
    comparisons: usize,
) -> Option<Interval> {
    assert!(confidence > 0.0 && confidence < 1.0, "a confidence of {confidence}");
    let count = pairs.len() as f64;
    let (first, second): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
    let means = (mean(&first)?, mean(&second)?);
    if pairs.len() < 2 {
        return None;
    }
    let product = |of: fn(f64, f64) -> f64| {
        let off = pairs.iter().map(|(a, b)| of(a - means.0, b - means.1));
        off.sum::<f64>() / (count - 1.0)
    };
    let (variances, covariance) =
        ((product(|a, _| a * a), product(|_, b| b * b)), product(|a, b| a * b));
    let beyond = (1.0 - confidence) / comparisons.max(1) as f64;
    let squared = student_t_quantile(1.0 - beyond / 2.0, count - 1.0).powi(2) / count;
    // (mean first - r mean second)² = t²/n (variance of first - r second), solved for r.
    let curve = means.1.powi(2) - squared * variances.1;
    let slope = means.0 * means.1 - squared * covariance;
    let rest = means.0.powi(2) - squared * variances.0;
    let root = (slope.powi(2) - curve * rest).max(0.0).sqrt();
    (curve > 0.0).then(|| Interval { low: (slope - root) / curve, high: (slope + root) / curve })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paired;

    const FAR: [(f64, f64); 4] = [(38.3, 5.3), (40.4, 7.0), (40.5, 7.6), (40.4, 13.2)];
    const NEAR: [(f64, f64); 5] = [(10.2, 8.1), (11.1, 8.9), (9.7, 8.0), (10.8, 8.2), (10.1, 8.6)];

    /// The roots of SciPy's t statistic of `first - r second`, found by `scipy.optimize.brentq`.
    #[test]
    fn ratios_beyond_are_those_that_the_t_test_refuses() {
        for (pairs, low, high) in
            [(&FAR[..], 2.972_225_571, 13.787_842_670), (&NEAR[..], 1.176_253_507, 1.308_817_014)]
        {
            let found = ratio_of_means(pairs, 0.95, 1).unwrap();
            assert!(
                (found.low - low).abs() < 1e-6 && (found.high - high).abs() < 1e-6,
                "{found:?}"
            );
        }
        let with_comparisons = |comparisons| ratio_of_means(&FAR, 0.95, comparisons);
        assert_eq!(with_comparisons(5), None, "at 99 % no ratio is too large");
        assert_eq!(ratio_of_means(&FAR[..1], 0.95, 1), None);
        assert_eq!(ratio_of_means(&[(1.0, 2.0); 3], 0.95, 1).map(|it| it.low), Some(0.5));
    }

    #[test]
    fn interval_of_distinct_means_excludes_one() {
        for shift in 0..40 {
            let pairs = NEAR.map(|(a, b)| (a - 0.1 * f64::from(shift), b));
            let differences = pairs.map(|(a, b)| a - b);
            let apart = paired(&differences, 0.95, 2).unwrap().interval.unwrap();
            let ratio = ratio_of_means(&pairs, 0.95, 2).unwrap();
            assert_eq!(apart.low > 0.0, ratio.low > 1.0, "{shift}");
            assert_eq!(apart.high < 0.0, ratio.high < 1.0, "{shift}");
        }
    }
}
