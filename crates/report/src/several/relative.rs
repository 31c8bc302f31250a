//! Runs as multiples of one of them.

use std::collections::BTreeMap;

use tcplab_results::{Case, Run, Summary, Trial};
use tcplab_scenario::metric;
use tcplab_stats::{Ratio, mean};

use crate::absent::listed;
use crate::summary::measure::values;

/// What runs were divided by, and what they lack therefore.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Relative {
    /// The label of the run by which they were divided.
    label: String,
    /// Cases that it lacks, with the label of the run that has them.
    absent: Vec<(String, String)>,
    /// Metrics, and cases in which its mean of them is not above zero.
    zero: Vec<(String, String)>,
}

/// What a case of the reference measured.
#[derive(Default)]
struct Divisors {
    /// By metric: the unit and the values.
    of: BTreeMap<String, (String, Vec<f64>)>,
    /// The mean response time of its requests, milliseconds.
    response_time: Option<f64>,
}

type Key = (String, Vec<(String, String)>);

impl Relative {
    /// Divides what was measured in each case by the mean of the same case (equal name and levels)
    /// of the run with index `reference`. Means become ratios of means with a 95 % confidence
    /// interval ([`Ratio::of_means`]); those of the reference are 1, without one. What the
    /// reference did not measure in that unit, or with a mean of zero or less, is removed, and so
    /// is what single flows measured.
    ///
    /// # Panics
    /// When `reference` is not the index of a run, or there is not a label for each.
    pub fn divide(runs: &mut [Run], labels: &[String], reference: usize) -> Relative {
        let key = |case: &Case| -> Key { (case.name.clone(), case.levels.clone()) };
        let divisors: BTreeMap<Key, Divisors> =
            runs[reference].cases.iter().map(|case| (key(case), Divisors::of(case))).collect();
        let label = labels[reference].clone();
        let mut all = Relative { label, absent: Vec::new(), zero: Vec::new() };
        for (index, run) in runs.iter_mut().enumerate() {
            for case in &mut run.cases {
                let found = divisors.get(&key(case));
                if found.is_none() {
                    all.absent.push((labels[index].clone(), case.name.clone()));
                }
                let is_reference = index == reference;
                all.divide_case(case, found.unwrap_or(&Divisors::default()), is_reference);
            }
        }
        all.zero.sort();
        all.zero.dedup();
        all
    }

    /// The unit of what was divided.
    pub(super) fn unit(&self) -> String {
        format!("times that of {}", self.label)
    }

    fn divide_case(&mut self, case: &mut Case, divisors: &Divisors, is_reference: bool) {
        let summaries = std::mem::take(&mut case.summaries);
        for summary in summaries {
            let Some((unit, below)) = divisors.of.get(&summary.name) else { continue };
            let (own, Some(info)) = (numbers(case, &summary.name), metric(&summary.name)) else {
                continue;
            };
            let divisor = mean(below).filter(|mean| *mean > 0.0 && *unit == summary.unit);
            let Some((ratio, divisor)) = Ratio::of_means(&own, below).zip(divisor) else {
                if *unit == summary.unit && !own.is_empty() {
                    self.zero.push((summary.name.clone(), case.name.clone()));
                }
                continue;
            };
            let interval = ratio.interval.filter(|_| !is_reference);
            // As the interval of a mean, cut at zero where nothing is below.
            let least = if own.iter().all(|it| *it >= 0.0) { 0.0 } else { f64::NEG_INFINITY };
            case.summaries.push(Summary {
                unit: self.unit(),
                mean: if is_reference { 1.0 } else { ratio.estimate },
                median: None,
                median_interval: None,
                standard_deviation: None,
                interval: interval.map(|it| (it.low.max(least), it.high)),
                ..summary
            });
            for trial in &mut case.trials {
                if let Some(value) = trial.metrics.value(info) {
                    trial.metrics.set(info, value / divisor);
                }
            }
        }
        for trial in &mut case.trials {
            trial.flows.clear();
            for end in &mut trial.ends {
                match divisors.response_time {
                    Some(by) => end.response_times_ms.iter_mut().for_each(|time| *time /= by),
                    None => end.response_times_ms.clear(),
                }
            }
        }
    }

    /// What a figure of the metric lacks, in sentences; labels and names as they are.
    pub(super) fn notes(&self, metric: Option<&str>) -> Vec<String> {
        let mut notes = Vec::new();
        let runs: BTreeMap<&String, Vec<&str>> =
            self.absent.iter().fold(BTreeMap::new(), |mut all, (label, case)| {
                all.entry(label).or_default().push(case);
                all
            });
        for (label, cases) in runs {
            notes.push(format!("`{}` has no {} of `{label}`", self.label, listed(&cases)));
        }
        let zero = self.zero.iter().filter(|(name, _)| metric.is_none_or(|it| it == name));
        let cases: Vec<&str> = zero.map(|(_, case)| case.as_str()).collect();
        if !cases.is_empty() && metric.is_some() {
            let of = listed(&cases);
            notes.push(format!("the mean of `{}` in {of} is not above zero", self.label));
        }
        notes
    }
}

fn numbers(case: &Case, name: &str) -> Vec<f64> {
    values(case, name).into_iter().map(|(_, value)| value).collect()
}

impl Divisors {
    fn of(case: &Case) -> Divisors {
        let one = |summary: &Summary| {
            let values = numbers(case, &summary.name);
            (!values.is_empty()).then(|| (summary.name.clone(), (summary.unit.clone(), values)))
        };
        let times = |trial: &Trial| -> Vec<f64> {
            trial.ends.iter().flat_map(|end| end.response_times_ms.iter().copied()).collect()
        };
        let times = case.trials.iter().flat_map(times).filter(|time| time.is_finite());
        let response_time = mean(&times.collect::<Vec<f64>>()).filter(|mean| *mean > 0.0);
        Divisors { of: case.summaries.iter().filter_map(one).collect(), response_time }
    }
}
