//! How many blocks a run has: each is one trial of every case, and all are whole.

use tcplab_results::{Stopping, Trial, Width};
use tcplab_scenario::Until;

use crate::analysis::trial;
use crate::error::LabError;
use crate::plan::is_simulated;
use crate::store::RunDirectory;

/// Reads each complete block and decides when there are enough.
///
/// The decision depends only on the trials of complete blocks, in their order: not on how many run
/// at once, nor on whether the run was interrupted.
pub(crate) struct StoppingRule<'r> {
    run: &'r RunDirectory,
    /// Of each case the values of the metric.
    values: Vec<Vec<f64>>,
    /// The number of blocks in `values`.
    seen: u32,
}

impl<'r> StoppingRule<'r> {
    pub(crate) fn new(run: &'r RunDirectory) -> StoppingRule<'r> {
        StoppingRule { run, values: vec![Vec::new(); run.scenario().cases.len()], seen: 0 }
    }

    /// The blocks to run next: all, or so few that none is superfluous. In virtual time, where
    /// `jobs` trials run at once, it may be several.
    pub(crate) fn next(&self, jobs: usize) -> (u32, u32) {
        let (plan, cases) = (self.run.plan(), &self.run.scenario().cases);
        let Some(until) = &plan.until else { return (plan.first, plan.trials) };
        if self.seen == 0 {
            return (1, until.min);
        }
        let simulated = cases.iter().all(|case| is_simulated(plan.world, case));
        let more = if simulated { (2 * jobs).div_ceil(cases.len()) as u32 } else { 1 };
        (self.seen + 1, self.seen.saturating_add(more).min(until.max))
    }

    /// The final number of blocks, given those that are complete; none: run more.
    pub(crate) fn enough(&mut self, whole: u32) -> Result<Option<u32>, LabError> {
        let plan = self.run.plan();
        let Some(until) = &plan.until else { return Ok(Some(plan.trials)) };
        for block in self.seen + 1..=whole {
            for (case, values) in self.run.scenario().cases.iter().zip(&mut self.values) {
                if self.run.failure(&case.name, block).is_none() {
                    values.extend(value(&trial(self.run, case, block)?, &until.metric));
                }
            }
            self.seen = block;
            let are_known = || self.values.iter().all(|values| is_enough(values, until));
            if block >= until.max || (block >= until.min && are_known()) {
                return Ok(Some(block));
            }
        }
        Ok(None)
    }

    /// Records the number of blocks, and removes trials beyond them.
    pub(crate) fn settle(&self, blocks: u32) -> Result<(), LabError> {
        let plan = self.run.plan();
        let Some(until) = &plan.until else { return Ok(()) };
        let cases = &self.run.scenario().cases;
        for case in cases {
            for number in blocks + 1..=plan.trials {
                if !self.run.has_trial(&case.name, number) {
                    // None is made beyond the first that is missing.
                    break;
                }
                self.run.remove_trial(&case.name, number)?;
            }
        }
        let widths = cases.iter().zip(&self.values).map(|(case, values)| {
            let (share, reached) = width(values, until);
            Width { case: case.name.clone(), share, reached }
        });
        let stopping = Stopping {
            metric: until.metric.clone(),
            ci: until.ci.to_string(),
            blocks,
            max: until.max,
            cases: widths.collect(),
        };
        self.run.set_stopping(&stopping)
    }
}

fn value(trial: &Trial, metric: &str) -> Option<f64> {
    trial.metrics.value_named(metric)
}

/// Whether more trials of a case would say no more: its mean is known, or it fails each time or
/// does not have the metric.
fn is_enough(values: &[f64], until: &Until) -> bool {
    values.is_empty() || width(values, until).1
}

/// Half the 95 % interval of the mean over the mean, and whether that is narrow enough.
fn width(values: &[f64], until: &Until) -> (Option<f64>, bool) {
    let summary = tcplab_stats::Summary::of(values);
    let Some(summary) = summary else { return (None, false) };
    let Some(interval) = summary.interval else { return (None, false) };
    let half = interval.half_width();
    if half == 0.0 {
        return (Some(0.0), true);
    }
    let share = half / summary.mean.abs();
    (share.is_finite().then_some(share), share <= until.ci.as_f64())
}

#[cfg(test)]
mod tests {
    use tcplab_units::Rng;

    use super::*;

    fn until(min: u32) -> Until {
        Until { ci: "2 %".parse().unwrap(), min, max: 1000, metric: "goodput".into() }
    }

    #[test]
    fn narrow_interval_reaches_width() {
        for (values, expected) in [
            (&[][..], (None, false)),
            (&[5.0], (None, false)),
            (&[5.0, 5.0], (Some(0.0), true)),
            (&[0.0, 0.0, 0.0], (Some(0.0), true)),
            (&[-1.0, 1.0], (None, false)),
        ] {
            assert_eq!(width(values, &until(3)), expected, "{values:?}");
        }
        assert!(is_enough(&[], &until(3)), "of a case without a value more trials say no more");
        assert!(!is_enough(&[5.0], &until(3)) && is_enough(&[5.0, 5.0], &until(3)));
        let (share, narrow) = width(&[99.0, 100.0, 101.0], &until(3));
        assert!(!narrow && (share.unwrap() - 0.02484).abs() < 1e-4, "{share:?}");
    }

    /// How often the interval at which blocks stop holds the true mean: the price of looking after
    /// every block. docs/designs.md has these figures.
    #[test]
    fn stopping_rule_keeps_interval_coverage() {
        let mut rng = Rng::new(1, "sequential");
        // Two open units make a normal one (Box and Muller 1958).
        let mut normal = || {
            let (u, v) = (rng.open_unit(), rng.open_unit());
            (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
        };
        let mut held = |spread: f64, min: u32| {
            let of = |_| {
                let mut values: Vec<f64> = Vec::new();
                loop {
                    values.push(100.0 + spread * normal());
                    if values.len() >= min as usize && width(&values, &until(min)).1 {
                        let summary = tcplab_stats::Summary::of(&values).unwrap();
                        let interval = summary.interval.unwrap();
                        return interval.low <= 100.0 && 100.0 <= interval.high;
                    }
                }
            };
            (0..2000).map(of).filter(|good| *good).count() as f64 / 2000.0
        };
        // A spread of 3 % needs some twelve values for an interval of 2 %.
        let [three, ten] = [3, 10].map(|min| held(3.0, min));
        assert!(ten > 0.925, "{ten}");
        assert!(three < 0.92, "with three it holds less often: {three}");
    }
}
