//! Whether one of two treatments gives larger values: the rank tests of Wilcoxon, and of Mann and
//! Whitney.
//!
//! Exact for small samples, also where values are equal: the distribution is that of all
//! arrangements of the ranks that there are. Otherwise by the normal law, with the corrections for
//! ties and for continuity.

use crate::normal::normal_probability;
use crate::ranks::{both_tails, doubled_ranks, sums_of_any, sums_of_some, tie_term};

/// Up to this many pairs the test of pairs is exact.
pub(crate) const EXACT_PAIRS: usize = 50;
/// Up to this many values on both sides together the test of two samples is exact.
pub(crate) const EXACT_VALUES: usize = 60;

/// What a rank test says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RankTest {
    /// Of pairs: the sum of the ranks of positive differences. Of two samples: in how many pairs of
    /// values the first sample's is the larger, equal ones counting half.
    pub statistic: f64,
    /// How likely ranks as unequal as these or more are, on either side, when nothing differs.
    pub p: f64,
    /// From −1, all smaller, to 1, all larger. Of pairs: the matched-pairs rank-biserial
    /// correlation (Kerby 2014), the share of the ranks that is for minus the share that is
    /// against. Of two samples: Cliff's delta (1993), how likely a value of the first is the larger
    /// minus how likely it is the smaller.
    pub effect: f64,
    /// Whether `p` is exact.
    pub is_exact: bool,
}

/// Wilcoxon's signed-rank test (1945) of the differences of pairs. Pairs without a difference are
/// left out; if none differ, `p` is 1.
///
/// # Panics
/// When a value is not a number.
pub fn signed_rank(differences: &[f64]) -> RankTest {
    assert!(differences.iter().all(|d| d.is_finite()), "a difference is not finite");
    let kept: Vec<f64> = differences.iter().copied().filter(|d| *d != 0.0).collect();
    if kept.is_empty() {
        return RankTest { statistic: 0.0, p: 1.0, effect: 0.0, is_exact: true };
    }
    let sizes: Vec<f64> = kept.iter().map(|d| d.abs()).collect();
    let ranks = doubled_ranks(&sizes);
    let all: u64 = ranks.iter().sum();
    let signed = kept.iter().zip(&ranks);
    let positive: u64 = signed.filter(|(d, _)| **d > 0.0).map(|(_, rank)| rank).sum();
    let is_exact = kept.len() <= EXACT_PAIRS;
    let p = if is_exact {
        both_tails(&sums_of_any(&ranks), positive)
    } else {
        let n = kept.len() as f64;
        let variance = n * (n + 1.0) * (2.0 * n + 1.0) / 24.0 - tie_term(&ranks) / 48.0;
        normal_p(positive as f64 / 2.0 - all as f64 / 4.0, variance)
    };
    let effect = (2.0 * positive as f64 - all as f64) / all as f64;
    RankTest { statistic: positive as f64 / 2.0, p, effect, is_exact }
}

/// The test of Mann and Whitney (1947) of two samples. `p` is 1 where all values are equal; none
/// where a sample is empty.
///
/// # Panics
/// When a value is not a number.
pub fn rank_sum(sample: &[f64], other: &[f64]) -> Option<RankTest> {
    if sample.is_empty() || other.is_empty() {
        return None;
    }
    let both = [sample, other].concat();
    assert!(both.iter().all(|value| value.is_finite()), "a value is not finite");
    let ranks = doubled_ranks(&both);
    let (m, n) = (sample.len() as f64, other.len() as f64);
    let own: u64 = ranks[..sample.len()].iter().sum();
    let statistic = own as f64 / 2.0 - m * (m + 1.0) / 2.0;
    let is_exact = both.len() <= EXACT_VALUES;
    let p = if is_exact {
        both_tails(&sums_of_some(&ranks, sample.len()), own)
    } else {
        let all = m + n;
        let variance = m * n / 12.0 * (all + 1.0 - tie_term(&ranks) / (all * (all - 1.0)));
        normal_p(statistic - m * n / 2.0, variance)
    };
    Some(RankTest { statistic, p, effect: 2.0 * statistic / (m * n) - 1.0, is_exact })
}

/// Of a sum so far from its mean.
fn normal_p(distance: f64, variance: f64) -> f64 {
    if variance <= 0.0 {
        return 1.0;
    }
    // Half a step, as a sum of ranks has steps.
    let z = (distance.abs() - 0.5).max(0.0) / variance.sqrt();
    (2.0 * normal_probability(-z)).min(1.0)
}

/// The smallest `p` that [`signed_rank`] can give for this many pairs.
pub fn least_p_of_pairs(pairs: usize) -> f64 {
    0.5_f64.powi(pairs as i32 - 1).min(1.0)
}

/// The smallest `p` that [`rank_sum`] can give for samples of these sizes.
pub fn least_p_of_samples(sample: usize, other: usize) -> f64 {
    let (few, all) = (sample.min(other), sample + other);
    let ways = (0..few).fold(1.0, |ways, k| ways * (all - k) as f64 / (k + 1) as f64);
    (2.0 / ways).min(1.0)
}

/// With so many any level is reached that a floating-point number can hold.
const MOST: usize = 1_100;

/// The fewest pairs in which a difference can be shown at level `alpha`.
///
/// # Panics
/// When `alpha` is not above 0.
pub fn least_pairs(alpha: f64) -> usize {
    assert!(alpha > 0.0, "a level of {alpha}");
    (1..=MOST).find(|pairs| least_p_of_pairs(*pairs) <= alpha).unwrap_or(MOST)
}

/// The fewest values on each side with which a difference can be shown at level `alpha`.
///
/// # Panics
/// When `alpha` is not above 0.
pub fn least_values(alpha: f64) -> usize {
    assert!(alpha > 0.0, "a level of {alpha}");
    (1..=MOST).find(|n| least_p_of_samples(*n, *n) <= alpha).unwrap_or(MOST)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{A, B, C, D, E, F, differences, long, longer};

    fn close(ours: f64, theirs: f64, what: &str) {
        assert!((ours - theirs).abs() < 1e-9, "{what}: {ours} against {theirs}");
    }

    #[test]
    fn pairs_are_tested_as_scipy_does() {
        // scipy.stats.wilcoxon, SciPy 1.17.1, by scripts/scipy_values.py; its statistic is the
        // smaller of both sums.
        let exact = signed_rank(&differences(&B, &A));
        close(exact.statistic, 1.0, "exact");
        close(exact.p, 0.003_906_25, "exact");
        close(exact.effect, (1.0 - 54.0) / 55.0, "effect");
        // With ties: all arrangements (`PermutationMethod`).
        let tied = signed_rank(&differences(&D, &C));
        close(tied.p, 0.031_25, "ties");
        // The normal law.
        let many = signed_rank(&differences(&longer(), &long()));
        assert!(!many.is_exact);
        close(many.p, 0.071_871_656_651_398_07, "many");
    }

    #[test]
    fn samples_are_tested_as_scipy_does() {
        // scipy.stats.mannwhitneyu, SciPy 1.17.1, by scripts/scipy_values.py.
        let test = |a: &[f64], b: &[f64]| rank_sum(a, b).unwrap();
        let exact = test(&B, &A);
        close(exact.statistic, 25.0, "exact");
        close(exact.p, 0.063_012_838_554_634_22, "exact");
        close(exact.effect, -0.5, "effect");
        close(test(&F, &E).p, 0.064_933_899_501_136_01, "of unequal size");
        let tied = test(&D[..8], &C[..7]);
        close(tied.statistic, 40.0, "ties");
        close(tied.p, 0.179_642_579_642_579_65, "ties, all arrangements");
        let many = test(&longer(), &long());
        close(many.statistic, 2223.0, "many");
        close(many.p, 0.026_576_603_237_696_204, "many");
        assert!(!many.is_exact && rank_sum(&[], &A).is_none());
    }

    #[test]
    fn too_few_values_show_no_difference() {
        assert_eq!((least_pairs(0.05), least_pairs(0.05 / 12.0)), (6, 9));
        assert_eq!((least_values(0.05), least_values(0.05 / 12.0)), (4, 6));
        assert!(least_p_of_pairs(5) > 0.05 && signed_rank(&[1.0, 2.0, 3.0, 4.0, 5.0]).p > 0.05);
        close(signed_rank(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).p, least_p_of_pairs(6), "pairs");
        let test = rank_sum(&[1.0, 2.0, 3.0, 4.0], &[5.0, 6.0, 7.0, 8.0]).unwrap();
        close(test.p, least_p_of_samples(4, 4), "samples");
        assert!(test.effect <= -1.0);
    }

    #[test]
    fn equal_samples_do_not_differ() {
        assert!(signed_rank(&[0.0; 9]).p >= 1.0 && signed_rank(&[]).p >= 1.0);
        let test = rank_sum(&[2.0; 7], &[2.0; 80]).unwrap();
        assert!(test.p >= 1.0 && test.effect.abs() < 1e-12);
    }
}
