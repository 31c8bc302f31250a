//! How many times as large one mean is as another.

use serde::{Deserialize, Serialize};

use crate::student::student_t_quantile;
use crate::summary::CONFIDENCE;
use crate::{Interval, mean, standard_deviation};

/// The ratio of two means.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Ratio {
    /// The one mean divided by the other.
    pub estimate: f64,
    /// Where the ratio of the true means lies with 95 % confidence; none where a sample has fewer
    /// than two values, or the mean below the line is not surely other than zero.
    pub interval: Option<Interval>,
}

impl Ratio {
    /// The mean of `sample` divided by that of `other`, of independent values from normal
    /// distributions (Fieller 1954) whose variances may differ, with the degrees of freedom of
    /// Welch (1947). None where a sample is empty, or the mean of `other` is zero.
    ///
    /// # Panics
    /// When a value is not finite.
    pub fn of_means(sample: &[f64], other: &[f64]) -> Option<Ratio> {
        let (above, below) = (mean(sample)?, mean(other)?);
        let estimate = above / below;
        if !estimate.is_finite() {
            return None;
        }
        Some(Ratio { estimate, interval: interval([sample, other], estimate, below) })
    }
}

/// The ratios `r` for which `above - r * below` does not differ from zero by the t test.
fn interval(samples: [&[f64]; 2], ratio: f64, below: f64) -> Option<Interval> {
    let [above, under] = samples.map(|it| {
        let deviation = standard_deviation(it)?;
        Some((deviation.powi(2) / it.len() as f64, (it.len() - 1) as f64))
    });
    let ((above, above_df), (under, under_df)) = (above?, under?);
    let scaled = ratio.powi(2) * under;
    let spread = above + scaled;
    if spread <= 0.0 {
        return Some(Interval { low: ratio, high: ratio });
    }
    let freedom = spread.powi(2) / (above.powi(2) / above_df + scaled.powi(2) / under_df);
    if !freedom.is_finite() {
        return None;
    }
    let quantile = student_t_quantile(0.5 + CONFIDENCE / 2.0, freedom);
    let doubt = quantile.powi(2) * under / below.powi(2);
    if doubt >= 1.0 {
        return None;
    }
    let half = quantile / below.abs() * (above * (1.0 - doubt) + scaled).max(0.0).sqrt();
    let ends = [ratio - half, ratio + half].map(|end| end / (1.0 - doubt));
    ends.iter().all(|end| end.is_finite()).then(|| Interval { low: ends[0], high: ends[1] })
}

#[cfg(test)]
mod tests {
    use tcplab_units::Rng;

    use super::*;
    use crate::samples::{A, B};

    /// Each end is a ratio that the t test just does not reject.
    #[test]
    fn ends_are_those_of_the_test() {
        let found = Ratio::of_means(&B, &A).unwrap();
        let (a, b) = (mean(&A).unwrap(), mean(&B).unwrap());
        assert!((found.estimate - b / a).abs() < 1e-12);
        let variance = |it: &[f64]| standard_deviation(it).unwrap().powi(2) / it.len() as f64;
        let (va, vb) = (variance(&A), variance(&B));
        let spread = |ratio: f64| vb + ratio.powi(2) * va;
        let degrees = |it: &[f64]| (it.len() - 1) as f64;
        let scaled = found.estimate.powi(2) * va;
        let freedom = spread(found.estimate).powi(2)
            / (vb.powi(2) / degrees(&B) + scaled.powi(2) / degrees(&A));
        let quantile = student_t_quantile(0.975, freedom);
        let interval = found.interval.unwrap();
        assert!(interval.low < found.estimate && found.estimate < interval.high);
        for end in [interval.low, interval.high] {
            let distance = (b - end * a).abs() / spread(end).sqrt();
            assert!((distance - quantile).abs() < 1e-9, "{distance} is not {quantile}");
        }
    }

    /// As wide as the interval of the mean where nothing is uncertain below the line.
    #[test]
    fn exact_divisor_scales_the_interval_of_the_mean() {
        let sample = [8.0, 9.0, 11.0];
        let mean = crate::Summary::of(&sample).unwrap().interval.unwrap();
        let found = Ratio::of_means(&sample, &[2.0, 2.0, 2.0]).unwrap().interval.unwrap();
        assert!((found.low - mean.low / 2.0).abs() < 1e-9, "{found:?} of {mean:?}");
        assert!((found.high - mean.high / 2.0).abs() < 1e-9, "{found:?} of {mean:?}");
    }

    #[test]
    fn no_interval_where_nothing_is_known() {
        let is_open = |a: &[f64], b: &[f64]| Ratio::of_means(a, b).unwrap().interval.is_none();
        assert!(is_open(&[1.0], &[2.0, 3.0]) && is_open(&[1.0, 2.0], &[2.0]));
        assert!(is_open(&[1.0, 2.0], &[-9.0, 10.0]), "the divisor may be zero");
        assert_eq!(Ratio::of_means(&[1.0], &[0.0]), None);
        assert_eq!(Ratio::of_means(&[], &[1.0]), None);
        let same = Ratio::of_means(&[4.0, 4.0], &[2.0, 2.0]).unwrap();
        assert_eq!(same.interval, Some(Interval { low: 2.0, high: 2.0 }));
    }

    /// Of 2,000 pairs of samples with few values, about 95 % hold the true ratio.
    #[test]
    fn interval_holds_the_ratio_as_often_as_it_says() {
        let mut random = Rng::new(7, "ratio");
        let mut normal = |mean: f64, deviation: f64| {
            let sum: f64 = (0..12).map(|_| random.open_unit()).sum();
            mean + deviation * (sum - 6.0)
        };
        let mut held = 0;
        for _ in 0..2_000 {
            let above: Vec<f64> = (0..5).map(|_| normal(30.0, 3.0)).collect();
            let below: Vec<f64> = (0..4).map(|_| normal(10.0, 1.5)).collect();
            let interval = Ratio::of_means(&above, &below).unwrap().interval.unwrap();
            held += usize::from((interval.low..=interval.high).contains(&3.0));
        }
        assert!((1_870..=1_940).contains(&held), "{held} of 2000");
    }
}
