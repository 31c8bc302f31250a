//! Whether values drift.

use crate::median;
use crate::normal::normal_probability;

/// Up to this many values the test is exact, if they all differ.
const EXACT: usize = 40;

/// What values do in the order they are in.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trend {
    /// By how much each is larger than the one before it: the median of the slopes between each two
    /// (Theil 1950, Sen 1968).
    pub slope: f64,
    /// How likely an order as good as this or better is, rising or falling, when there is none
    /// (Mann 1945, Kendall 1975).
    pub p: f64,
}

impl Trend {
    /// Of values in their order; none of fewer than three.
    ///
    /// # Panics
    /// When a value is not finite.
    pub fn of(values: &[f64]) -> Option<Trend> {
        if values.len() < 3 {
            return None;
        }
        let each = |i: usize| (0..i).map(move |j| (j, i));
        let pairs = || (1..values.len()).flat_map(each);
        let slopes: Vec<f64> =
            pairs().map(|(j, i)| (values[i] - values[j]) / (i - j) as f64).collect();
        let rising = slopes.iter().filter(|slope| **slope > 0.0).count() as i64;
        let falling = slopes.iter().filter(|slope| **slope < 0.0).count() as i64;
        let is_tied = rising + falling < slopes.len() as i64;
        let p = if values.len() <= EXACT && !is_tied {
            exact(values.len(), rising.min(falling) as usize)
        } else {
            normal(values, rising - falling)
        };
        Some(Trend { slope: median(&slopes)?, p })
    }
}

/// The probability of so few inversions or fewer, on either side, of any order of `count` values.
fn exact(count: usize, inversions: usize) -> f64 {
    let mut shares = vec![1.0];
    for placed in 2..=count {
        // The next value may stand before none of those placed, or before any number of them.
        let mut grown = vec![0.0; shares.len() + placed - 1];
        for (sum, share) in shares.iter().enumerate() {
            for more in 0..placed {
                grown[sum + more] += share / placed as f64;
            }
        }
        shares = grown;
    }
    let tail: f64 = shares[..=inversions].iter().sum();
    (2.0 * tail).min(1.0)
}

fn normal(values: &[f64], score: i64) -> f64 {
    let n = values.len() as f64;
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let variance_of = |n: f64| n * (n - 1.0) * (2.0 * n + 5.0) / 18.0;
    let ties: f64 = sorted
        .chunk_by(|a, b| a.total_cmp(b).is_eq())
        .map(|alike| variance_of(alike.len() as f64))
        .sum();
    let variance = variance_of(n) - ties;
    if variance <= 0.0 {
        return 1.0;
    }
    (2.0 * normal_probability(-(score.abs() as f64) / variance.sqrt())).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{TREND, long};

    #[test]
    fn trends_are_those_of_scipy() {
        // scipy.stats.kendalltau against the places, and theilslopes; SciPy 1.17.1, by
        // scripts/scipy_values.py.
        let trend = Trend::of(&TREND).unwrap();
        assert!((trend.p - 0.000_946_318_342_151_675_5).abs() < 1e-12, "{trend:?}");
        assert!((trend.slope - 1.0 / 7.0).abs() < 1e-12, "{trend:?}");
        let many = Trend::of(&long()).unwrap();
        assert!((many.p - 0.283_948_305_910_745_05).abs() < 1e-9, "{many:?}");
    }

    #[test]
    fn constant_series_has_no_trend() {
        let flat = Trend::of(&[3.0; 8]).unwrap();
        assert!(flat.p >= 1.0 && flat.slope.abs() < 1e-12);
        assert_eq!(Trend::of(&[1.0, 2.0]), None);
        let falling = Trend::of(&[5.0, 4.0, 3.0, 2.0, 1.0]).unwrap();
        assert!((falling.slope + 1.0).abs() < 1e-12 && (falling.p - 2.0 / 120.0).abs() < 1e-12);
    }
}
