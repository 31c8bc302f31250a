//! What placeholders of a page ask of a run, and what a run answers.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Context as _;
use serde::Deserialize;

/// A case of a run, as far as it matters.
#[derive(Deserialize)]
pub(super) struct Case {
    name: String,
    trials: Vec<Trial>,
}

#[derive(Deserialize)]
struct Trial {
    number: u32,
    metrics: Vec<Metric>,
    flows: Vec<Flow>,
}

#[derive(Deserialize)]
struct Flow {
    name: String,
    connections: Vec<Connection>,
}

#[derive(Deserialize)]
struct Connection {
    metrics: Vec<Metric>,
}

#[derive(Deserialize)]
struct Metric {
    name: String,
    value: Option<f64>,
}

/// The values that are wanted of a run, by what asks for them.
///
/// # Errors
/// When a case has no trial that knows the metric.
pub(super) fn values(
    cases: &[Case],
    wanted: &BTreeSet<String>,
) -> anyhow::Result<BTreeMap<String, f64>> {
    let value = |asked: &String| {
        let value = value(cases, asked).with_context(|| format!("no trial knows `{asked}`"))?;
        Ok((asked.clone(), six_digits(value)))
    };
    wanted.iter().map(value).collect()
}

/// The value of `CASE METRIC`, the mean over its trials. `CASE/OTHER` is the mean of the ratios of
/// trials of equal number, as in claims; `median:METRIC` the median; `METRIC@FLOW` of one flow.
fn value(cases: &[Case], asked: &str) -> Option<f64> {
    let (case, metric) = asked.split_once(' ')?;
    let (is_median, metric) = match metric.strip_prefix("median:") {
        Some(rest) => (true, rest),
        None => (false, metric),
    };
    let of = |name: &str| -> Option<Vec<(u32, f64)>> {
        let trials = &cases.iter().find(|it| it.name == name)?.trials;
        Some(trials.iter().filter_map(|it| Some((it.number, it.value(metric)?))).collect())
    };
    let mut found: Vec<f64> = match case.split_once('/') {
        None => of(case)?.into_iter().map(|(_, value)| value).collect(),
        Some((case, other)) => {
            let others: BTreeMap<u32, f64> = of(other)?.into_iter().collect();
            let ratio = |(number, value)| Some(value / others.get(&number)?);
            of(case)?.into_iter().filter_map(ratio).collect()
        }
    };
    found.sort_by(f64::total_cmp);
    let count = found.len();
    match count {
        0 => None,
        _ if is_median => Some(f64::midpoint(found[(count - 1) / 2], found[count / 2])),
        _ => Some(found.iter().sum::<f64>() / count as f64),
    }
}

impl Trial {
    fn value(&self, metric: &str) -> Option<f64> {
        let (metric, metrics) = match metric.split_once('@') {
            None => (metric, &self.metrics),
            Some((metric, flow)) => {
                let flow = self.flows.iter().find(|it| it.name == flow)?;
                (metric, &flow.connections.first()?.metrics)
            }
        };
        metrics.iter().find(|it| it.name == metric)?.value
    }
}

/// No page prints more.
fn six_digits(value: f64) -> f64 {
    format!("{value:.5e}").parse().expect("it was written from a number")
}

/// Sums over the first trials of all cases, which change as soon as a model sends a packet at
/// another time or a metric is taken in another way.
pub(super) fn first_trials(cases: &[Case]) -> String {
    let sum = |metric: &str| -> f64 {
        let firsts = cases.iter().filter_map(|case| case.trials.iter().find(|it| it.number == 1));
        // The sum of nothing is -0.
        firsts.filter_map(|it| it.value(metric)).sum::<f64>() + 0.0
    };
    let [time, delay, retransmissions] =
        ["transfer_time", "buffer_delay", "retransmissions"].map(sum);
    format!("{time:.6} s, buffer delay {delay:.3} %, {retransmissions} retransmissions")
}

#[cfg(test)]
mod tests {
    use super::*;

    const CASES: &str = r#"[
        {"name": "a", "trials": [
            {"number": 1, "metrics": [{"name": "goodput", "value": 1}], "flows": []},
            {"number": 2, "metrics": [{"name": "goodput", "value": 2}], "flows": []},
            {"number": 3, "metrics": [{"name": "goodput", "value": 6}], "flows": []},
            {"number": 4, "metrics": [{"name": "goodput", "value": null}], "flows": []}]},
        {"name": "b=1 %", "trials": []},
        {"name": "b", "trials": [
            {"number": 1, "metrics": [{"name": "transfer_time", "value": 0.5}], "flows": [
                {"name": "bulk", "connections": [{"metrics": [{"name": "rtt", "value": 7}]}]}]},
            {"number": 3, "metrics": [{"name": "goodput", "value": 3}], "flows": []},
            {"number": 2, "metrics": [{"name": "goodput", "value": 1}], "flows": []}]}]"#;

    #[test]
    fn means_medians_ratios_and_flows_are_of_their_trials() {
        let cases: Vec<Case> = serde_json::from_str(CASES).unwrap();
        for (asked, expected) in [
            ("a goodput", Some(3.0)),
            ("a median:goodput", Some(2.0)),
            ("b median:goodput", Some(2.0)),
            ("a/b goodput", Some(2.0)),
            ("b rtt@bulk", Some(7.0)),
            ("b rtt@other", None),
            ("a other", None),
            ("c goodput", None),
        ] {
            assert_eq!(value(&cases, asked), expected, "{asked}");
        }
        let sums = "0.500000 s, buffer delay 0.000 %, 0 retransmissions";
        assert_eq!(first_trials(&cases), sums);
        assert_eq!(six_digits(1_234_567.8).to_string(), "1234570");
        let wanted = BTreeSet::from(["a goodput".to_owned(), "a other".to_owned()]);
        let error = values(&cases, &wanted).unwrap_err().to_string();
        assert_eq!(error, "no trial knows `a other`");
    }
}
