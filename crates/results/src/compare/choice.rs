//! What to compare, and what is too little to be called a difference.

use std::collections::BTreeMap;

use crate::Case;
pub use tcplab_scenario::Threshold;
use tcplab_scenario::{Better, METRICS, MetricInfo, MetricKind, Scope, metric, metrics};
use tcplab_units::visible_line;

use super::error::CompareError;
use super::progress::Progress;

/// The options of a comparison.
#[derive(Debug, Clone, Default)]
pub struct Asked {
    /// Which metrics.
    pub metrics: Metrics,
    /// The threshold of those that are not named below.
    pub threshold: Threshold,
    /// Thresholds of metrics, by name.
    pub thresholds: BTreeMap<String, Threshold>,
    /// How far it is, for whoever shows it.
    pub progress: Progress,
}

impl Asked {
    /// What applies to a metric. Of yes and no any difference counts.
    pub(super) fn threshold_of(&self, info: &MetricInfo) -> Threshold {
        let usual =
            if info.kind == MetricKind::Truth { Threshold::Absolute(0.0) } else { self.threshold };
        self.thresholds.get(info.name).copied().unwrap_or(usual)
    }
}

/// Which metrics are compared. The first is tested first and by itself; of the rest, each makes it
/// harder for the others to be decided, since these are tested together.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Metrics {
    /// What people ask for first.
    #[default]
    Usual,
    /// Every one of a trial that has a good direction.
    All,
    /// These.
    Named(Vec<String>),
}

/// What is compared where nothing is asked for, of what the trials have. Goodput is one over the
/// transfer time: where there is the one, the other says nothing new.
const USUAL: [&MetricInfo; 13] = [
    metrics::TRANSFER_TIME,
    metrics::RETRANSMISSIONS,
    metrics::TIMEOUTS,
    metrics::MEAN_RTT,
    metrics::PAYLOAD_INTACT,
    metrics::MEAN_RESPONSE,
    metrics::UNANSWERED_SHARE,
    metrics::LOAD_RATE,
    metrics::LOAD_RESPONSE,
    metrics::LOAD_RESPONSE_P99,
    metrics::LOAD_ERRORS,
    metrics::LOAD_INTACT,
    metrics::GOODPUT,
];

/// The metrics to compare, the primary one first: the first named, else `main`. What has a
/// threshold of its own is compared, too.
pub(super) fn chosen_metrics(
    Asked { metrics: asked, thresholds, .. }: &Asked,
    cases: [&[&Case]; 2],
    main: Option<&MetricInfo>,
) -> Result<Vec<&'static MetricInfo>, CompareError> {
    let has = |info: &&MetricInfo| {
        let mut trials = cases.iter().copied().flatten().flat_map(|case| &case.trials);
        trials.any(|trial| trial.metrics.find(info).is_some())
    };
    let is_number = |info: &&MetricInfo| {
        info.scope == Scope::Trial && !matches!(info.kind, MetricKind::Text(_))
    };
    let had: Vec<&MetricInfo> = METRICS.iter().filter(is_number).filter(has).collect();
    if had.is_empty() {
        return Err(CompareError::NoValues { why: without_values(cases) });
    }
    let main = had.iter().copied().find(|info| Some(*info) == main);
    let mut chosen: Vec<&MetricInfo> = match asked {
        Metrics::Usual => {
            let is_timed = had.iter().any(|info| **info == *metrics::TRANSFER_TIME);
            let twice = if main == Some(metrics::GOODPUT) {
                Some(metrics::TRANSFER_TIME)
            } else {
                Some(metrics::GOODPUT).filter(|_| is_timed)
            };
            let usual = USUAL.iter().filter(|info| Some(**info) != twice);
            usual.filter_map(|usual| had.iter().copied().find(|info| info == usual)).collect()
        }
        Metrics::All => had.iter().copied().filter(|info| info.better != Better::Neither).collect(),
        Metrics::Named(names) => {
            // One that is named twice is tested once: each test costs the others power.
            let mut once: Vec<&MetricInfo> = Vec::new();
            for name in names {
                let info = named(name, &had)?;
                if !once.contains(&info) {
                    once.push(info);
                }
            }
            once
        }
    };
    if let (Some(main), Metrics::Usual | Metrics::All) = (main, asked) {
        chosen.retain(|info| *info != main);
        chosen.insert(0, main);
    }
    for name in thresholds.keys() {
        let info = named(name, &had)?;
        match asked {
            _ if chosen.contains(&info) => {}
            Metrics::Usual | Metrics::All => chosen.push(info),
            Metrics::Named(_) => return Err(CompareError::Threshold { metric: name.clone() }),
        }
    }
    if chosen.is_empty() {
        let what = "no trial has anything that could be compared".into();
        return Err(CompareError::NoMetric { what, asked: None, known: names(&had) });
    }
    Ok(chosen)
}

/// Why there is no value on either side.
fn without_values(cases: [&[&Case]; 2]) -> String {
    let failures = || cases.into_iter().flatten().flat_map(|case| &case.failures);
    match (failures().count(), failures().next()) {
        (1, Some(only)) => format!("the one trial failed ({})", visible_line(&only.reason)),
        (count, Some(first)) => {
            format!("all {count} trials failed (the first: {})", visible_line(&first.reason))
        }
        (_, None) => "no trial has a value".to_owned(),
    }
}

fn named(name: &str, had: &[&'static MetricInfo]) -> Result<&'static MetricInfo, CompareError> {
    if let Some(info) = had.iter().find(|info| info.name == name) {
        return Ok(info);
    }
    let what = match metric(name) {
        None => format!("there is no metric `{name}`"),
        Some(info) if info.scope != Scope::Trial || matches!(info.kind, MetricKind::Text(_)) => {
            format!("`{name}` is not one number for each trial, which is what can be compared")
        }
        Some(_) => format!("no trial of either side has `{name}`"),
    };
    Err(CompareError::NoMetric { what, asked: Some(name.into()), known: names(had) })
}

fn names(had: &[&MetricInfo]) -> Vec<String> {
    had.iter().map(|info| info.name.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Failure;

    /// The name that is asked for has no part in it.
    #[test]
    fn trials_that_all_failed_are_the_reason() {
        let failure = |number| Failure {
            number,
            seed: 1,
            directory: format!("{number}"),
            attempts: 1,
            reason: format!("no end in {number} s"),
        };
        let [a, b] = [vec![failure(1), failure(2)], vec![failure(3)]]
            .map(|failures| Case { failures, ..Case::default() });
        for metrics in [Metrics::Usual, Metrics::Named(vec!["nope".into()])] {
            let asked = Asked { metrics, ..Asked::default() };
            let error =
                |a: &[&Case], b: &[&Case]| chosen_metrics(&asked, [a, b], None).unwrap_err();
            let all = "nothing could be compared: all 3 trials failed (the first: no end in 1 s)";
            let found = error(&[&a], &[&b]);
            assert_eq!(found.to_string(), all);
            assert!(found.remedy().unwrap().starts_with("the report of a run tells"));
            let one = "nothing could be compared: the one trial failed (no end in 3 s)";
            assert_eq!(error(&[], &[&b]).to_string(), one);
            assert!(error(&[], &[]).to_string().ends_with(": no trial has a value"));
        }
    }
}
