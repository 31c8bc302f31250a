//! What a comparison could have found: the smallest difference that so many trials show.

use tcplab_units::Rng;

use crate::normal::{normal_quantile, spread_bound};
use crate::rank_tests::{least_pairs, least_values};
use crate::shift::{all_differences, rare_sums_of_pairs, rare_sums_of_samples, walsh_averages};

/// How surely a difference that can be detected is detected.
pub const POWER: f64 = 0.9;

/// Rank tests need so many more values of a normal distribution than the best test for it does: the
/// inverse of 3/π (Hodges and Lehmann 1956).
const RANKS_NEED: f64 = std::f64::consts::PI / 3.0;
/// Up to so many values the power is simulated.
const SIMULATED: usize = 24;
const SIMULATIONS: usize = 1_000;

/// Who is compared with whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Design {
    /// So many pairs.
    Pairs(usize),
    /// Samples of these sizes.
    Samples(usize, usize),
}

impl Design {
    /// The smallest shift, in standard deviations (of the differences of pairs, or within either
    /// sample), that a rank test at level `alpha` finds with a probability of [`POWER`] in values
    /// of a normal distribution. None where it can find nothing.
    ///
    /// Simulated for few values, with a seed of its own, for there no formula holds: the shift that
    /// is found in nine of ten samples is the ninth decile of the shifts that bring each sample's
    /// interval beyond zero.
    pub fn detectable(self, alpha: f64) -> Option<f64> {
        let confidence = 1.0 - alpha;
        let quantiles = normal_quantile(1.0 - alpha / 2.0) + normal_quantile(POWER);
        match self {
            Design::Pairs(n) if n < least_pairs(alpha) => None,
            Design::Samples(m, n) if least(m, n) < alpha_least(alpha, m, n) => None,
            Design::Pairs(n) if n > SIMULATED => Some(quantiles * (RANKS_NEED / n as f64).sqrt()),
            Design::Samples(m, n) if m.max(n) > SIMULATED => {
                Some(quantiles * (RANKS_NEED * (1.0 / m as f64 + 1.0 / n as f64)).sqrt())
            }
            Design::Pairs(n) => {
                let rare = rare_sums_of_pairs(n, confidence);
                Some(simulated(rare, |rng| walsh_averages(&normals(rng, n))))
            }
            Design::Samples(m, n) => {
                let rare = rare_sums_of_samples(m, n, confidence);
                Some(simulated(rare, |rng| all_differences(&normals(rng, m), &normals(rng, n))))
            }
        }
    }

    /// [`detectable`](Self::detectable) for a spread known from this design's values only: with the
    /// bound that the true one stays below with a confidence of 80 %.
    pub fn detectable_of(self, alpha: f64, spread: f64) -> Option<f64> {
        Some(self.detectable(alpha)? * spread * self.spread_bound())
    }

    fn spread_bound(self) -> f64 {
        spread_bound(match self {
            Design::Pairs(n) => n,
            Design::Samples(m, n) => m + n - 1,
        })
    }
}

fn least(m: usize, n: usize) -> usize {
    m.min(n)
}

/// Of unequal samples the smaller decides: it must reach the level with the larger beside it.
fn alpha_least(alpha: f64, m: usize, n: usize) -> usize {
    let larger = m.max(n);
    let enough = (1..=larger).find(|few| crate::least_p_of_samples(*few, larger) <= alpha);
    enough.unwrap_or(usize::MAX)
}

/// How many pairs, or values on each side, a shift of so many standard deviations needs, to be
/// found at level `alpha` with a probability of [`POWER`].
///
/// # Panics
/// When the shift is not above zero.
pub fn trials_needed(shift: f64, alpha: f64, is_paired: bool) -> usize {
    assert!(shift > 0.0, "no number of trials finds a shift of {shift}");
    let quantiles = normal_quantile(1.0 - alpha / 2.0) + normal_quantile(POWER);
    let pairs = RANKS_NEED * (quantiles / shift).powi(2);
    let (count, least) =
        if is_paired { (pairs, least_pairs(alpha)) } else { (2.0 * pairs, least_values(alpha)) };
    (count.ceil().min(1e9) as usize).max(least)
}

/// See [`Design::detectable`]: each step that `steps` gives is what a value of the rank
/// distribution stands for; the interval begins with the last of the `rare` smallest.
fn simulated(rare: usize, steps: impl Fn(&mut Rng) -> Vec<f64>) -> f64 {
    let mut rng = Rng::new(0, "power");
    let mut shifts: Vec<f64> = (0..SIMULATIONS)
        .map(|_| {
            let mut steps = steps(&mut rng);
            -*steps.select_nth_unstable_by(rare - 1, f64::total_cmp).1
        })
        .collect();
    let place = (SIMULATIONS as f64 * POWER) as usize;
    *shifts.select_nth_unstable_by(place, f64::total_cmp).1
}

fn normals(rng: &mut Rng, count: usize) -> Vec<f64> {
    (0..count).map(|_| normal_quantile(rng.open_unit())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{rank_sum, signed_rank, standard_deviation};

    #[test]
    fn too_few_find_nothing() {
        assert_eq!(Design::Pairs(5).detectable(0.05), None);
        assert!(Design::Pairs(6).detectable(0.05).is_some());
        assert_eq!(Design::Samples(3, 3).detectable(0.05), None);
        assert_eq!(Design::Samples(1, 20).detectable(0.05), None);
        assert!(Design::Samples(4, 4).detectable(0.05).is_some());
        assert!(Design::Samples(2, 20).detectable(0.05).is_some());
    }

    #[test]
    fn simulation_and_formula_meet() {
        for (few, many) in [
            (Design::Pairs(SIMULATED), Design::Pairs(SIMULATED + 1)),
            (Design::Samples(SIMULATED, 24), Design::Samples(SIMULATED + 1, 24)),
        ] {
            let [few, many] = [few, many].map(|design| design.detectable(0.05).unwrap());
            assert!((few / many - 1.0).abs() < 0.1, "{few} beside {many}");
        }
        let needed = trials_needed(0.5, 0.05, true);
        let shift = Design::Pairs(needed).detectable(0.05).unwrap();
        assert!((shift / 0.5 - 1.0).abs() < 0.02, "{needed} find {shift}");
        assert_eq!(trials_needed(100.0, 0.05, true), 6);
        assert_eq!(trials_needed(100.0, 0.05, false), 4);
    }

    /// The promise: what is called detectable is found nine times in ten, and nothing is found one
    /// time in twenty at most.
    #[test]
    fn what_could_be_found_is_found() {
        let mut rng = Rng::new(3, "trials");
        for (size, is_paired) in [(10, true), (12, false), (40, true)] {
            let design = if is_paired { Design::Pairs(size) } else { Design::Samples(size, size) };
            let unit = design.detectable(0.05).unwrap();
            let (mut promised, mut found, mut false_alarms) = (0, 0, 0);
            for _ in 0..400 {
                let (a, b) = (normals(&mut rng, size), normals(&mut rng, size));
                let p = |shift: f64| {
                    let moved: Vec<f64> = b.iter().map(|value| value + shift).collect();
                    let apart: Vec<f64> = a.iter().zip(&moved).map(|(a, b)| b - a).collect();
                    if is_paired { signed_rank(&apart).p } else { rank_sum(&moved, &a).unwrap().p }
                };
                let spread = if is_paired {
                    let apart: Vec<f64> = a.iter().zip(&b).map(|(a, b)| b - a).collect();
                    standard_deviation(&apart).unwrap()
                } else {
                    let square = |v: &[f64]| standard_deviation(v).unwrap().powi(2);
                    f64::midpoint(square(&a), square(&b)).sqrt()
                };
                false_alarms += usize::from(p(0.0) <= 0.05);
                // A difference that trials with the usual spread can just promise to find.
                let planted =
                    unit * spread_bound(size) * if is_paired { 2_f64.sqrt() } else { 1.0 };
                if unit * spread * design.spread_bound() <= planted {
                    promised += 1;
                    found += usize::from(p(planted) <= 0.05);
                }
            }
            assert!(promised > 100 && found * 10 >= promised * 9, "{size}: {found} of {promised}");
            assert!(false_alarms <= 28, "{size}: {false_alarms} of 400 false alarms");
        }
    }
}
