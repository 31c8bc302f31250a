//! Intervals of any statistic, by drawing from the sample again and again.

use tcplab_units::Rng;

use crate::Interval;
use crate::normal::{normal_probability, normal_quantile};
use crate::summary::quantile_of_sorted;

/// How values of several samples belong together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resampling {
    /// Unpaired: each sample is resampled separately.
    Independent,
    /// Paired: values with the same index are drawn together.
    Paired,
}

/// How a bootstrap is made.
#[derive(Debug, Clone, Copy)]
pub struct Bootstrap {
    /// The number of resamples; 10,000 leave the ends of a 95 % interval uncertain by about a
    /// hundredth of its width.
    pub resamples: usize,
    /// How often the interval is to hold the truth, between 0 and 1.
    pub confidence: f64,
    /// How values belong together.
    pub resampling: Resampling,
}

impl Default for Bootstrap {
    fn default() -> Bootstrap {
        Bootstrap { resamples: 10_000, confidence: 0.95, resampling: Resampling::Independent }
    }
}

impl Bootstrap {
    /// The interval of `statistic` of these samples: bias-corrected and accelerated (Efron 1987,
    /// "Better bootstrap confidence intervals"), with the acceleration by the jackknife.
    ///
    /// None where a sample has fewer than two values, for a single one says nothing of its spread,
    /// or where the statistic of some drawn sample is not finite, such as a ratio to zero. Where
    /// all drawn samples have the same statistic the interval is that value. With two values it
    /// goes from the one to the other, and promises more than it holds: below ten or so, the
    /// intervals that go with rank tests ([`Shift`](crate::Shift)) are the honest ones.
    ///
    /// # Panics
    /// When samples are paired and not of one size, or the confidence is not between 0 and 1.
    pub fn interval(
        &self,
        samples: &[&[f64]],
        statistic: impl Fn(&[&[f64]]) -> f64,
        rng: &mut Rng,
    ) -> Option<Interval> {
        let is_paired = self.resampling == Resampling::Paired;
        let sizes: Vec<usize> = samples.iter().map(|sample| sample.len()).collect();
        assert!(!is_paired || sizes.windows(2).all(|pair| pair[0] == pair[1]), "pairs: {sizes:?}");
        if sizes.iter().any(|size| *size < 2) {
            return None;
        }
        let left_out = |group: &[usize], place: usize| {
            let mut fewer: Vec<Vec<f64>> = samples.iter().map(|sample| sample.to_vec()).collect();
            for index in group {
                fewer[*index].remove(place);
            }
            of(&fewer, &statistic)
        };
        let everything: Vec<usize> = (0..samples.len()).collect();
        let groups: Vec<&[usize]> =
            if is_paired { vec![&everything] } else { everything.chunks(1).collect() };
        let jackknife: Vec<Vec<f64>> = groups
            .iter()
            .map(|group| (0..sizes[group[0]]).map(|place| left_out(group, place)).collect())
            .collect();
        let mut drawn: Vec<Vec<f64>> = samples.iter().map(|sample| sample.to_vec()).collect();
        let mut replicates: Vec<f64> = (0..self.resamples)
            .map(|_| {
                for group in &groups {
                    let size = sizes[group[0]];
                    let from: Vec<usize> =
                        (0..size).map(|_| rng.below(size as u64) as usize).collect();
                    for index in *group {
                        for (value, from) in drawn[*index].iter_mut().zip(&from) {
                            *value = samples[*index][*from];
                        }
                    }
                }
                of(&drawn, &statistic)
            })
            .collect();
        self.between(statistic(samples), &mut replicates, &jackknife)
    }

    /// The interval by the statistics of the whole, of drawn samples, and of those that lack one
    /// value, by sample.
    fn between(
        &self,
        whole: f64,
        replicates: &mut [f64],
        jackknife: &[Vec<f64>],
    ) -> Option<Interval> {
        assert!(self.confidence > 0.0 && self.confidence < 1.0, "{} confidence", self.confidence);
        let mut all = replicates.iter().chain(jackknife.iter().flatten());
        if replicates.is_empty() || !whole.is_finite() || all.any(|value| !value.is_finite()) {
            return None;
        }
        replicates.sort_by(f64::total_cmp);
        let (first, last) = (replicates[0], replicates[replicates.len() - 1]);
        if first.total_cmp(&last).is_eq() {
            return Some(Interval { low: first, high: last });
        }
        let count = replicates.len() as f64;
        let below = replicates.iter().filter(|value| **value < whole).count() as f64;
        let equal = replicates.iter().filter(|value| value.total_cmp(&whole).is_eq()).count();
        let share = (below + equal as f64 / 2.0) / count;
        // Of a statistic at the very edge of what is drawn the bias is as large as can be measured.
        let bias = normal_quantile(share.clamp(0.5 / count, 1.0 - 0.5 / count));
        let acceleration = acceleration(jackknife);
        let end = |p: f64| {
            let z = bias + normal_quantile(p);
            let p = normal_probability(bias + z / (1.0 - acceleration * z));
            quantile_of_sorted(replicates, p)
        };
        let tail = (1.0 - self.confidence) / 2.0;
        Some(Interval { low: end(tail)?, high: end(1.0 - tail)? })
    }
}

fn of(samples: &[Vec<f64>], statistic: impl Fn(&[&[f64]]) -> f64) -> f64 {
    let views: Vec<&[f64]> = samples.iter().map(Vec::as_slice).collect();
    statistic(&views)
}

/// How fast the spread of the statistic changes with it: a sixth of the skewness of what single
/// values do to it (Efron and Tibshirani 1993, equation 14.15; of several samples as SciPy has it).
fn acceleration(jackknife: &[Vec<f64>]) -> f64 {
    let (mut cubes, mut squares) = (0.0, 0.0);
    for sample in jackknife {
        let count = sample.len() as f64;
        let mean = sample.iter().sum::<f64>() / count;
        let effects = sample.iter().map(|value| (count - 1.0) * (mean - value));
        let (cube, square) = effects.fold((0.0, 0.0), |(cube, square), effect| {
            (cube + effect.powi(3), square + effect.powi(2))
        });
        cubes += cube / count.powi(3);
        squares += square / count.powi(2);
    }
    if squares > 0.0 { cubes / squares.powf(1.5) / 6.0 } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{A, B, E, F};
    use crate::{Shift, mean, median};

    fn rng() -> Rng {
        Rng::new(1, "bootstrap")
    }

    /// As far from SciPy's ends as its own are from one seed to the next, in widths.
    fn close(ours: Option<Interval>, low: f64, high: f64) {
        let ours = ours.unwrap();
        let apart = 0.03 * (high - low);
        assert!((ours.low - low).abs() < apart, "{ours:?} for {low} to {high}");
        assert!((ours.high - high).abs() < apart, "{ours:?} for {low} to {high}");
    }

    #[test]
    fn intervals_are_those_of_scipy() {
        // scipy.stats.bootstrap(method="BCa", n_resamples=400_000), SciPy 1.17.1, by
        // scripts/scipy_values.py.
        let bootstrap = Bootstrap { resamples: 20_000, ..Bootstrap::default() };
        let paired = Bootstrap { resampling: Resampling::Paired, ..bootstrap };
        let of = |values: &[f64]| mean(values).unwrap();
        close(bootstrap.interval(&[&E], |s| of(s[0]), &mut rng()), 14.12, 27.986_667);
        let middle = |s: &[&[f64]]| median(s[0]).unwrap();
        close(bootstrap.interval(&[&A], middle, &mut rng()), 16.7, 17.33);
        let difference = |s: &[&[f64]]| of(s[0]) - of(s[1]);
        let interval = bootstrap.interval(&[&F, &E], difference, &mut rng());
        close(interval, -11.727_917, 2.746_281);
        let ratio = |s: &[&[f64]]| of(s[0]) / of(s[1]);
        close(paired.interval(&[&B, &A], ratio, &mut rng()), 0.960_406_3, 0.984_435_3);
    }

    #[test]
    fn any_statistic_will_do_and_the_seed_decides() {
        let bootstrap = Bootstrap { resamples: 300, ..Bootstrap::default() };
        let shift =
            |s: &[&[f64]]| Shift::between(s[0], s[1], 0.95).map_or(f64::NAN, |s| s.estimate);
        let draw = |seed| bootstrap.interval(&[&F, &E], shift, &mut Rng::new(seed, "bootstrap"));
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
        let interval = draw(1).unwrap();
        assert!(interval.low < -1.35 && interval.high > -1.35, "{interval:?}");
    }

    #[test]
    fn constant_sample_has_no_interval() {
        let bootstrap = Bootstrap { resamples: 200, ..Bootstrap::default() };
        let of = |values: &[f64]| {
            bootstrap.interval(&[values], |s| median(s[0]).unwrap_or(f64::NAN), &mut rng())
        };
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[1.0]), None);
        assert_eq!(of(&[4.0; 7]), Some(Interval { low: 4.0, high: 4.0 }));
        let two = of(&[1.0, 2.0]).unwrap();
        assert_eq!((two.low, two.high), (1.0, 2.0));
        let ratio = |s: &[&[f64]]| mean(s[0]).unwrap() / mean(s[1]).unwrap();
        assert_eq!(bootstrap.interval(&[&E, &[0.0, 0.0]], ratio, &mut rng()), None);
    }
}
