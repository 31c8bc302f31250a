//! The interval that the median is in.

use crate::summary::{CONFIDENCE, sorted};
use crate::{Interval, binomial_range};

/// Where the true median lies with a confidence of at least 95 %, whatever the distribution:
/// between the order statistics that the binomial distribution gives (Conover, Practical
/// Nonparametric Statistics, section 3.2). None of fewer than six values: their extremes miss it
/// more often, with a probability of 2 × 0.5ⁿ.
///
/// # Panics
/// When a value is not finite.
pub fn median_interval(values: &[f64]) -> Option<Interval> {
    let sorted = sorted(values);
    // The median is below the k-th value as often as fewer than k of n coins show heads.
    let (rank, _) = binomial_range(sorted.len() as u64, 0.5, CONFIDENCE);
    let beyond = (rank as usize).checked_sub(1)?;
    Some(Interval { low: sorted[beyond], high: sorted[sorted.len() - 1 - beyond] })
}
