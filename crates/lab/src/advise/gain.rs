//! What was gained, by measurement.

use serde::Serialize;
use tcplab_results::{Case, Run};
use tcplab_scenario::{Better, MetricInfo};
use tcplab_stats::student_t_quantile;

/// A metric before and after, trial by trial under the same impairments.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Gain {
    /// The metric's name.
    pub metric: String,
    /// Its unit.
    pub unit: String,
    /// The geometric mean before.
    pub before: f64,
    /// The geometric mean after.
    pub after: f64,
    /// How many times as good it became: the geometric mean over the pairs, so that of `before` and
    /// `after`; above 1 is better.
    pub factor: f64,
    /// The 95 % confidence interval of `factor` (Student's t of the logarithms); none of one pair.
    pub interval: Option<(f64, f64)>,
    /// Where 95 % of single pairs of transfers lie (the prediction interval of the same); none of
    /// one pair.
    pub single: Option<(f64, f64)>,
    /// Pairs of trials.
    pub pairs: usize,
    /// The standard deviation of the logarithms; none of one pair.
    #[serde(skip)]
    deviation: Option<f64>,
}

/// What gains say together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Effect {
    /// Something became better, nothing worse.
    Better,
    /// Something became worse, nothing better.
    Worse,
    /// One became better, another worse.
    Mixed,
    /// The difference may be chance.
    Open,
}

impl Effect {
    /// That of these gains, by their 95 % intervals; less than 1 % is nothing.
    pub fn of(gains: &[Gain]) -> Effect {
        let intervals = || gains.iter().filter_map(|gain| gain.interval);
        let is_better = intervals().any(|(low, _)| low > 1.01);
        let is_worse = intervals().any(|(_, high)| high < 1.0 / 1.01);
        match (is_better, is_worse) {
            (true, true) => Effect::Mixed,
            (true, false) => Effect::Better,
            (false, true) => Effect::Worse,
            (false, false) => Effect::Open,
        }
    }
}

impl Gain {
    /// That of a metric between two cases of a run; none where they have no pair of trials with a
    /// value above zero.
    pub fn of(run: &Run, before: &str, after: &str, info: &MetricInfo) -> Option<Gain> {
        let case = |name: &str| run.cases.iter().find(|case| case.name == name);
        let (from, to) = (case(before)?, case(after)?);
        let pairs = pairs(from, to, info);
        let sign = if info.better == Better::Lower { -1.0 } else { 1.0 };
        let logs: Vec<f64> = pairs.iter().map(|(from, to)| sign * (to / from).ln()).collect();
        let mean = tcplab_stats::mean(&logs)?;
        let usual = |of: fn(&(f64, f64)) -> f64| {
            let logs: Vec<f64> = pairs.iter().map(|pair| of(pair).ln()).collect();
            tcplab_stats::mean(&logs).map(f64::exp)
        };
        let gain = Gain {
            metric: info.name.into(),
            unit: info.unit.into(),
            before: usual(|pair| pair.0)?,
            after: usual(|pair| pair.1)?,
            factor: mean.exp(),
            interval: None,
            single: None,
            pairs: logs.len(),
            deviation: tcplab_stats::standard_deviation(&logs),
        };
        let single = (1.0 + 1.0 / gain.pairs as f64).sqrt();
        Some(Gain { interval: gain.interval_at(0.05), single: gain.around(0.05, single), ..gain })
    }

    /// The confidence interval of `factor` that leaves so much out, such as 0.05; none of one pair.
    pub(crate) fn interval_at(&self, alpha: f64) -> Option<(f64, f64)> {
        self.around(alpha, 1.0 / (self.pairs as f64).sqrt())
    }

    /// The factor, give or take so many standard deviations' quantiles.
    fn around(&self, alpha: f64, scale: f64) -> Option<(f64, f64)> {
        let deviation = self.deviation?;
        let quantile = student_t_quantile(1.0 - alpha / 2.0, self.pairs as f64 - 1.0);
        let half = (quantile * deviation * scale).exp();
        Some((self.factor / half, self.factor * half))
    }
}

/// The metric's values in trials of the same number, where both have one above zero.
fn pairs(from: &Case, to: &Case, info: &MetricInfo) -> Vec<(f64, f64)> {
    let value = |case: &Case, number: u32| {
        let trial = case.trials.iter().find(|trial| trial.number == number)?;
        trial.metrics.value(info).filter(|value| *value > 0.0)
    };
    let numbers = from.trials.iter().map(|trial| trial.number);
    numbers.filter_map(|number| value(from, number).zip(value(to, number))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gain(factor: f64, deviation: f64) -> Gain {
        let bare = Gain {
            metric: "goodput".into(),
            unit: "Mbit/s".into(),
            before: 1.0,
            after: factor,
            factor,
            interval: None,
            single: None,
            pairs: 5,
            deviation: Some(deviation),
        };
        Gain { interval: bare.interval_at(0.05), ..bare }
    }

    #[test]
    fn intervals_are_those_of_student() {
        // scipy.stats.t.interval(0.95, 4, loc=log(2), scale=0.1/sqrt(5)), of which exp.
        let (low, high) = gain(2.0, 0.1).interval.unwrap();
        assert!((low - 1.766_466).abs() < 1e-5 && (high - 2.264_409).abs() < 1e-5, "{low} {high}");
    }

    #[test]
    fn gains_combine_to_one_effect() {
        let (good, bad, same, open) =
            (gain(2.0, 0.1), gain(0.5, 0.1), gain(1.001, 0.0001), gain(1.5, 1.0));
        for (gains, verdict) in [
            (vec![good.clone(), same.clone()], Effect::Better),
            (vec![bad.clone(), open.clone()], Effect::Worse),
            (vec![good, bad], Effect::Mixed),
            (vec![same, open], Effect::Open),
            (vec![], Effect::Open),
        ] {
            assert_eq!(Effect::of(&gains), verdict);
        }
    }

    /// Geometric means of 8 and 2, and of 16 and 16: the medians would be 5 and 16, 3.2 times.
    #[test]
    fn factor_is_that_of_before_and_after() {
        use tcplab_results::{Metric, Trial};
        use tcplab_scenario::metrics::GOODPUT;
        let case = |name: &str, values: [f64; 2]| {
            let trials = values.iter().zip(1..).map(|(value, number)| {
                let metrics = vec![Metric::of(GOODPUT, *value)].into();
                Trial { number, metrics, ..Trial::empty(Vec::new()) }
            });
            Case { name: name.into(), trials: trials.collect(), ..Case::default() }
        };
        let cases = vec![case("without", [8.0, 2.0]), case("with", [16.0, 16.0])];
        let run = Run { cases, ..Run::default() };
        let gain = Gain::of(&run, "without", "with", GOODPUT).unwrap();
        for (found, expected) in [(gain.before, 4.0), (gain.after, 16.0), (gain.factor, 4.0)] {
            assert!((found - expected).abs() < 1e-9, "{gain:?}");
        }
    }
}
