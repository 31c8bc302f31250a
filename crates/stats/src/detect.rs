//! The minimum detectable difference of a comparison with a given number of trials.

use tcplab_units::Rng;

use crate::median;
use crate::normal::{normal_quantile, spread_bound};
use crate::rank_tests::{least_pairs, least_values, rank_sum, signed_rank};
use crate::ranks::{doubled_ranks, tie_term};
use crate::shift::{Shift, rare_sums_of_pairs, rare_sums_of_samples};
use crate::steps::{all_differences, walsh_averages};

/// How surely a difference that can be detected is detected.
pub const POWER: f64 = 0.9;

/// The ratio of the values that rank tests and the best test of a normal distribution need: the
/// inverse of 3/π (Hodges and Lehmann 1956).
const RANKS_NEED: f64 = std::f64::consts::PI / 3.0;
/// Up to this many values the power is simulated.
const SIMULATED: usize = 24;
const SIMULATIONS: usize = 1_000;

/// How the values are matched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Design {
    /// This many pairs.
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
        let mut rng = Rng::new(0, "power");
        match self {
            _ if !self.is_enough(alpha) => None,
            Design::Pairs(n) if n > SIMULATED => Some(quantiles * (RANKS_NEED / n as f64).sqrt()),
            Design::Samples(m, n) if m.max(n) > SIMULATED => {
                Some(quantiles * (RANKS_NEED * (1.0 / m as f64 + 1.0 / n as f64)).sqrt())
            }
            Design::Pairs(n) => {
                let rare = rare_sums_of_pairs(n, confidence);
                Some(simulated(rare, SIMULATIONS, &mut rng, |rng| walsh_averages(&normals(rng, n))))
            }
            Design::Samples(m, n) => {
                let rare = rare_sums_of_samples(m, n, confidence);
                let draw = |rng: &mut Rng| all_differences(&normals(rng, m), &normals(rng, n));
                Some(simulated(rare, SIMULATIONS, &mut rng, draw))
            }
        }
    }

    /// Whether a difference could be found at all, however large.
    pub fn is_enough(self, alpha: f64) -> bool {
        match self {
            Design::Pairs(n) => n >= least_pairs(alpha),
            Design::Samples(m, n) => least(m, n) >= alpha_least(alpha, m, n),
        }
    }

    fn spread_bound(self) -> f64 {
        spread_bound(match self {
            Design::Pairs(n) => n,
            Design::Samples(m, n) => m + n - 1,
        })
    }
}

/// Observed values, for computing the minimum detectable difference.
#[derive(Debug, Clone, Copy)]
pub enum Observed<'a> {
    /// The differences of pairs.
    Pairs(&'a [f64]),
    /// Two samples.
    Samples(&'a [f64], &'a [f64]),
}

impl Observed<'_> {
    /// How the values are matched.
    pub fn design(self) -> Design {
        match self {
            Observed::Pairs(differences) => Design::Pairs(differences.len()),
            Observed::Samples(sample, other) => Design::Samples(sample.len(), other.len()),
        }
    }

    /// The smallest shift that a rank test at level `alpha` finds with a probability of [`POWER`]
    /// in values that are spread as these are. None where there are too few to find anything.
    ///
    /// As [`Design::detectable`], but drawn from the values themselves, freed of their shift, for
    /// transfers are anything but normal: most take the same time, and one in fifty a second
    /// longer. That a few values do not show all of the spread is allowed for by its 80 % bound.
    /// Not less than the step that the values go in. For more than 60 values by the width of the
    /// shift's interval, which then says the same.
    ///
    /// # Panics
    /// When a value is not finite.
    pub fn detectable(self, alpha: f64, rng: &mut Rng) -> Option<f64> {
        let design = self.design();
        design.is_enough(alpha).then_some(())?;
        let confidence = 1.0 - alpha;
        let shift = match (self, design) {
            (Observed::Pairs(differences), Design::Pairs(n)) if n <= DRAWN => {
                let free = without_shift(differences);
                let rare = rare_sums_of_pairs(n, confidence);
                let draw = |rng: &mut Rng| walsh_averages(&drawn(&free, rng));
                simulated(rare, DRAWS, rng, draw) * design.spread_bound()
            }
            (Observed::Samples(sample, other), Design::Samples(m, n)) if m.max(n) <= DRAWN => {
                let free = [sample, other].map(without_shift);
                let rare = rare_sums_of_samples(m, n, confidence);
                let draw =
                    |rng: &mut Rng| all_differences(&drawn(&free[0], rng), &drawn(&free[1], rng));
                simulated(rare, DRAWS, rng, draw) * design.spread_bound()
            }
            _ => self.by_interval(alpha)?,
        };
        Some(shift.max(self.step()))
    }

    /// How many pairs, or values on each side, a rank test at level `alpha` needs to find with a
    /// probability of [`POWER`] that these values differ, if they differ in trials to come as in
    /// these. `usize::MAX` where as much is for either side.
    ///
    /// From the effect that the test measures (Noether 1987), so it depends on the values as the
    /// test does, by their ranks alone: a value far out counts no more than another, and where most
    /// are equal and few differ there need not be a shift.
    ///
    /// # Panics
    /// When a value is not finite.
    pub fn trials_to_tell(self, alpha: f64) -> usize {
        let quantiles = normal_quantile(1.0 - alpha / 2.0) + normal_quantile(POWER);
        let (effect, squares) = match self {
            Observed::Pairs(differences) => (signed_rank(differences).effect, 4.0 / 3.0),
            Observed::Samples(sample, other) => {
                let both = [sample, other].concat();
                let n = both.len() as f64;
                let tied = tie_term(&doubled_ranks(&both)) / (n * n * n - n);
                let effect = rank_sum(sample, other).map_or(0.0, |test| test.effect);
                (effect, (1.0 - tied) * 2.0 / 3.0)
            }
        };
        if effect == 0.0 {
            return usize::MAX;
        }
        // By the normal law's approximation of the test's statistic; where all are for one side, a
        // test needs no more than can decide it at all.
        let by_law = squares * (quantiles / effect).powi(2);
        let count = if effect.abs() < 1.0 { by_law } else { 0.0 };
        let whole = |count: f64| count.ceil().min(1e9) as usize;
        match self {
            Observed::Samples(..) => whole(count).max(least_values(alpha)),
            Observed::Pairs(differences) => {
                let differing = differences.iter().filter(|it| **it != 0.0).count();
                let rate = differing as f64 / differences.len() as f64;
                whole(count / rate).max(trials_with(least_pairs(alpha), rate))
            }
        }
    }

    /// By how much the shift is uncertain.
    fn by_interval(self, alpha: f64) -> Option<f64> {
        const CONFIDENCE: f64 = 0.95;
        let shift = match self {
            Observed::Pairs(differences) => Shift::of_pairs(differences, CONFIDENCE),
            Observed::Samples(sample, other) => Shift::between(sample, other, CONFIDENCE),
        };
        let quantiles = normal_quantile(1.0 - alpha / 2.0) + normal_quantile(POWER);
        let error = shift?.interval?.half_width() / normal_quantile(0.5 + CONFIDENCE / 2.0);
        Some(quantiles * error)
    }

    /// The smallest distance between two values that are not equal.
    fn step(self) -> f64 {
        let (mut values, other) = match self {
            Observed::Pairs(differences) => (differences.to_vec(), &[][..]),
            Observed::Samples(sample, other) => (sample.to_vec(), other),
        };
        values.extend(other);
        values.sort_by(f64::total_cmp);
        let steps = values.windows(2).map(|pair| pair[1] - pair[0]).filter(|step| *step > 0.0);
        steps.reduce(f64::min).unwrap_or(0.0)
    }
}

/// Up to so many values samples are drawn from them, so often.
const DRAWN: usize = 60;
const DRAWS: usize = 200;

fn without_shift(values: &[f64]) -> Vec<f64> {
    let middle = median(values).unwrap_or_default();
    values.iter().map(|value| value - middle).collect()
}

fn drawn(values: &[f64], rng: &mut Rng) -> Vec<f64> {
    values.iter().map(|_| values[rng.below(values.len() as u64) as usize]).collect()
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

/// How many trials have so many events with a probability of [`POWER`], at this rate of events.
fn trials_with(events: usize, rate: f64) -> usize {
    /// From here on the law of large numbers is good enough.
    const MANY: usize = 1_000;
    if events >= MANY || rate >= 1.0 {
        return (events as f64 / rate).ceil() as usize;
    }
    // The probability of each number of events below, trial after trial.
    let mut fewer = vec![0.0; events];
    fewer[0] = 1.0;
    let mut trials = 0;
    while fewer.iter().sum::<f64>() > 1.0 - POWER {
        for count in (0..events).rev() {
            let before = if count > 0 { fewer[count - 1] } else { 0.0 };
            fewer[count] = fewer[count] * (1.0 - rate) + before * rate;
        }
        trials += 1;
    }
    trials
}

/// See [`Design::detectable`]: `steps` gives the values of the rank distribution in steps; the
/// interval begins with the last of the `rare` smallest.
fn simulated(
    rare: usize,
    times: usize,
    rng: &mut Rng,
    steps: impl Fn(&mut Rng) -> Vec<f64>,
) -> f64 {
    let (mut up, mut down) = (Vec::with_capacity(times), Vec::with_capacity(times));
    for _ in 0..times {
        let mut steps = steps(rng);
        let last = steps.len() - rare;
        up.push(-*steps.select_nth_unstable_by(rare - 1, f64::total_cmp).1);
        down.push(*steps.select_nth_unstable_by(last, f64::total_cmp).1);
    }
    // A difference may be of either sign, and skewed values hide one better than the other.
    let place = (times as f64 * POWER) as usize;
    let most = [up, down].map(|mut shifts| *shifts.select_nth_unstable_by(place, f64::total_cmp).1);
    most[0].max(most[1])
}

fn normals(rng: &mut Rng, count: usize) -> Vec<f64> {
    (0..count).map(|_| normal_quantile(rng.open_unit())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

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
    /// time in twenty at most; also of values that are anything but normal.
    #[test]
    fn detectable_difference_is_found() {
        let mut rng = Rng::new(3, "trials");
        // Most take the same time but for a little, one in twenty much longer.
        let draw = |rng: &mut Rng, is_normal: bool| -> Vec<f64> {
            let value = |rng: &mut Rng| {
                let usual = 100.0 + normal_quantile(rng.open_unit());
                if !is_normal && rng.below(20) == 0 { usual + 50.0 } else { usual }
            };
            (0..14).map(|_| value(rng)).collect()
        };
        for (is_paired, is_normal, planted) in
            [(true, true, 1.8), (false, true, 1.6), (true, false, 2.1), (false, false, 1.8)]
        {
            let (mut promised, mut found, mut false_alarms) = (0, 0, 0);
            for _ in 0..120 {
                let (a, b) = (draw(&mut rng, is_normal), draw(&mut rng, is_normal));
                let apart: Vec<f64> = a.iter().zip(&b).map(|(a, b)| b - a).collect();
                let observed =
                    if is_paired { Observed::Pairs(&apart) } else { Observed::Samples(&b, &a) };
                let p = |shift: f64| {
                    let moved = |values: &[f64]| -> Vec<f64> {
                        values.iter().map(|value| value + shift).collect()
                    };
                    if is_paired {
                        signed_rank(&moved(&apart)).p
                    } else {
                        rank_sum(&moved(&b), &a).unwrap().p
                    }
                };
                false_alarms += usize::from(p(0.0) <= 0.05);
                if observed.detectable(0.05, &mut Rng::new(0, "power")).unwrap() <= planted {
                    promised += 1;
                    found += usize::from(p(planted) <= 0.05);
                }
            }
            let case = format!("{is_paired} {is_normal}: {found} of {promised}");
            assert!(promised >= 20 && found * 10 >= promised * 9, "{case}");
            assert!(false_alarms <= 12, "{case}, {false_alarms} of 120 false alarms");
        }
    }

    /// One transfer in ten has a timeout: the promised number of trials finds that nine times in
    /// ten, and hardly always.
    #[test]
    fn rare_events_take_many_trials() {
        let rare: Vec<f64> = (0..10).map(|trial| f64::from(trial == 3)).collect();
        let mut rng = Rng::new(5, "trials");
        for (is_paired, alpha) in [(true, 0.05), (true, 0.002), (false, 0.05)] {
            let observed = if is_paired {
                Observed::Pairs(&rare)
            } else {
                Observed::Samples(&rare, &[0.0; 10])
            };
            let needed = observed.trials_to_tell(alpha);
            let found = (0..400).filter(|_| {
                let events: Vec<f64> = (0..needed).map(|_| f64::from(rng.below(10) == 0)).collect();
                let p = if is_paired {
                    signed_rank(&events).p
                } else {
                    rank_sum(&events, &vec![0.0; needed]).unwrap().p
                };
                p <= alpha
            });
            let found = found.count();
            assert!(
                (340..=398).contains(&found),
                "{is_paired} {alpha}: {found} of 400 by {needed}"
            );
        }
        let mixed = [1.0, 0.0, -1.0, 0.0];
        assert_eq!(Observed::Pairs(&mixed).trials_to_tell(0.05), usize::MAX);
        let most = [1.0, 2.0, 1.5, -0.5, 0.0, 0.0, 0.0, 0.0];
        assert!((20..60).contains(&Observed::Pairs(&most).trials_to_tell(0.05)));
    }

    /// The promised number, drawn from the same values, finds the difference nine times in ten;
    /// half as many do not. Of 2,000 samples so drawn `scipy.stats.wilcoxon` finds it in 95 % (49
    /// and 86 pairs), `mannwhitneyu` in 92 and 91 % (62 and 92 values).
    #[test]
    fn difference_is_found_by_as_many_trials_as_are_told() {
        let apart = [
            -0.2298, 0.0612, -0.1723, 0.0279, -0.0461, -0.2464, -0.0487, -0.0127, -0.3047, 0.0737,
            -0.1796, 0.034,
        ];
        // One is far out, two are equal.
        let a = [0.35, 0.37, 0.32, 0.321, 1.33, 0.346, 0.63, 0.56, 0.348, 0.349, 0.322, 0.385];
        #[expect(clippy::approx_constant, reason = "they are times")]
        let b = [0.615, 0.396, 0.323, 0.324, 0.325, 0.317, 0.319, 0.894, 0.326, 0.318, 0.327, 0.32];
        let times_found = |observed: Observed<'_>, alpha: f64, count: usize| {
            let mut rng = Rng::new(7, "trials");
            let mut draw = |values: &[f64]| -> Vec<f64> {
                (0..count).map(|_| values[rng.below(values.len() as u64) as usize]).collect()
            };
            let mut p = || match observed {
                Observed::Pairs(apart) => signed_rank(&draw(apart)).p,
                Observed::Samples(sample, other) => {
                    rank_sum(&draw(sample), &draw(other)).unwrap().p
                }
            };
            (0..400).filter(|_| p() <= alpha).count()
        };
        for (observed, alpha, needed) in [
            (Observed::Pairs(&apart), 0.05, 49),
            (Observed::Pairs(&apart), 0.0025, 86),
            (Observed::Samples(&a, &b), 0.025, 62),
            (Observed::Samples(&a, &b), 0.0025, 92),
        ] {
            assert_eq!(observed.trials_to_tell(alpha), needed);
            let [half, all] = [needed / 2, needed].map(|count| times_found(observed, alpha, count));
            assert!(half < 300 && (350..=392).contains(&all), "{half}, {all} of 400 by {needed}");
        }
        // All for one side: as few as can show anything.
        assert_eq!(Observed::Pairs(&[1.0; 3]).trials_to_tell(0.05), 6);
        assert_eq!(Observed::Samples(&[1.0; 3], &[0.0; 3]).trials_to_tell(0.05), 4);
    }

    #[test]
    fn counts_cannot_differ_by_less_than_one() {
        let counts = [3.0, 3.0, 4.0, 3.0, 3.0, 3.0, 3.0, 4.0, 3.0, 3.0];
        let rng = || Rng::new(0, "power");
        let step = Observed::Samples(&counts, &counts).detectable(0.05, &mut rng()).unwrap();
        assert!((1.0..1.5).contains(&step), "{step}");
        assert_eq!(Observed::Pairs(&[1.0; 5]).detectable(0.05, &mut rng()), None);
        // Many values: as wide as the interval says.
        let many: Vec<f64> = normals(&mut rng(), 80);
        let found = Observed::Pairs(&many).detectable(0.05, &mut rng()).unwrap();
        let expected = Design::Pairs(80).detectable(0.05).unwrap();
        assert!((found / expected - 1.0).abs() < 0.2, "{found} for {expected}");
    }
}
