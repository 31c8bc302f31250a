//! Which of the variants of a run to take.

use serde::Serialize;
use tcplab_path::PathSpec;
use tcplab_results::{Case, Run};
use tcplab_scenario::{
    Better, Case as Spec, Flow, FlowEnd, FlowSpec, MetricInfo, Scenario, metrics,
};
use tcplab_units::Bytes;
use tcplab_workload::WorkloadSpec;

use super::gain::Gain;
use super::situation::Goal;

/// Of variants that differ only in what can be chosen, the best by one metric.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Choice {
    /// What only they have in common: (factor, level) of the path and of what is done.
    pub given: Vec<(String, String)>,
    /// The metric.
    pub metric: &'static str,
    /// Its unit.
    pub unit: &'static str,
    /// The case whose median is best.
    pub best: String,
    /// What was chosen in it: (factor, level).
    pub levels: Vec<(String, String)>,
    /// That median.
    pub median: f64,
    /// The others against it, the nearest first: how many times as good the best is.
    pub others: Vec<(String, Option<Gain>)>,
    /// Of these, those that the trials cannot distinguish from the best.
    pub as_good: Vec<String>,
}

/// The metrics of a goal; the first that trials have counts.
const THROUGHPUT: [&MetricInfo; 2] = [metrics::GOODPUT, metrics::LOAD_RATE];
const LATENCY: [&MetricInfo; 4] =
    [metrics::MEDIAN_RESPONSE, metrics::MEAN_RESPONSE, metrics::LOAD_RESPONSE, metrics::RTT_MEAN];

/// What nobody can choose: the path, and what is to be done.
type Given = (PathSpec, WorkloadSpec, Vec<Flow>);

/// The best variants of a run of `scenario` for a goal; nothing where nothing could be chosen.
/// Nobody can choose the path, nor what is to be done, but in which pieces it is written and read.
pub fn choose(run: &Run, scenario: &Scenario, goal: Goal) -> Vec<Choice> {
    let groups = groups(run, scenario);
    let mut choices = Vec::new();
    for cases in groups.iter().filter(|cases| cases.len() > 1) {
        let common = in_common(cases, &run.cases);
        let of = |metrics: &[&'static MetricInfo]| {
            metrics.iter().find_map(|info| best(run, &common, cases, info))
        };
        choices.extend(goal.wants_throughput().then(|| of(&THROUGHPUT)).flatten());
        choices.extend(goal.wants_latency().then(|| of(&LATENCY)).flatten());
    }
    choices
}

/// The cases that are compared with no other: nothing else does the same over the same path.
pub fn incomparable(run: &Run, scenario: &Scenario) -> Vec<String> {
    let groups = groups(run, scenario);
    if groups.len() < 2 {
        return Vec::new();
    }
    let alone = groups.iter().filter_map(|cases| match cases[..] {
        [case] => Some(case.name.clone()),
        _ => None,
    });
    alone.collect()
}

/// The cases that differ only in what can be chosen, together.
fn groups<'r>(run: &'r Run, scenario: &Scenario) -> Vec<Vec<&'r Case>> {
    let whole = |workload: &WorkloadSpec| {
        let mut whole =
            WorkloadSpec { write_size: Bytes::ZERO, read_size: None, ..workload.clone() };
        whole.requests.iter_mut().for_each(|requests| requests.writes = 1);
        whole
    };
    let of_flow = |Flow { name, spec }: &Flow| {
        let (client, server) = (FlowEnd::default(), FlowEnd::default());
        let workload = spec.workload.as_ref().map(whole);
        Flow { name: name.clone(), spec: FlowSpec { workload, client, server, ..spec.clone() } }
    };
    let given = |spec: &Spec| {
        let flows: Vec<Flow> = spec.flows.iter().map(of_flow).collect();
        (spec.path.clone(), whole(&spec.workload), flows)
    };
    let mut groups: Vec<(Given, Vec<&Case>)> = Vec::new();
    for (case, spec) in run.cases.iter().zip(&scenario.cases) {
        let given = given(spec);
        match groups.iter_mut().find(|(known, _)| *known == given) {
            Some((_, cases)) => cases.push(case),
            None => groups.push((given, vec![case])),
        }
    }
    groups.into_iter().map(|(_, cases)| cases).collect()
}

/// The levels that some cases share and that not all have.
fn in_common(some: &[&Case], all: &[Case]) -> Vec<(String, String)> {
    let is_theirs = |level: &&(String, String)| {
        some.iter().all(|case| case.levels.contains(level))
            && !all.iter().all(|case| case.levels.contains(level))
    };
    some[0].levels.iter().filter(is_theirs).cloned().collect()
}

fn best(
    run: &Run,
    given: &[(String, String)],
    cases: &[&Case],
    info: &'static MetricInfo,
) -> Option<Choice> {
    let sign = if info.better == Better::Lower { -1.0 } else { 1.0 };
    let median = |case: &Case| {
        let summary = case.summaries.iter().find(|summary| summary.name == info.name)?;
        Some(summary.median.unwrap_or(summary.mean))
    };
    let mut ranked: Vec<(&Case, f64)> =
        cases.iter().filter_map(|case| Some((*case, median(case)?))).collect();
    ranked.sort_by(|one, other| (other.1 * sign).total_cmp(&(one.1 * sign)));
    let ((best, median), rest) = ranked.split_first().map(|(first, rest)| (*first, rest))?;
    let others: Vec<(String, Option<Gain>)> = rest
        .iter()
        .map(|(case, _)| (case.name.clone(), Gain::of(run, &case.name, &best.name, info)))
        .collect();
    // Each of the others is asked whether it is the same: Bonferroni's share of the 5 % for each.
    let alike = |gain: &Option<Gain>| match gain {
        Some(gain) => {
            gain.interval_at(0.05 / others.len() as f64).is_none_or(|(low, _)| low <= 1.0)
        }
        None => true,
    };
    let as_good = others.iter().filter(|(_, gain)| alike(gain)).map(|(name, _)| name.clone());
    let chosen = best.levels.iter().filter(|level| !given.contains(level)).cloned();
    Some(Choice {
        given: given.to_vec(),
        metric: info.name,
        unit: info.unit,
        best: best.name.clone(),
        levels: chosen.collect(),
        median,
        as_good: as_good.collect(),
        others,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A run with one metric, by the name of a case.
    fn run_of(scenario: &Scenario, [name, unit]: [&str; 2], mean: impl Fn(&str) -> f64) -> Run {
        let cases = scenario.cases.iter().map(|case| {
            serde_json::json!({
                "name": case.name, "levels": case.levels, "world": "sim", "trials": [],
                "summaries": [{
                    "name": name, "unit": unit, "count": 1, "mean": mean(&case.name),
                    "standard_deviation": null, "interval": null,
                }],
            })
        });
        serde_json::from_value(serde_json::json!({
            "name": "t", "title": "t", "reference": null, "scenario": "", "world": "sim",
            "started": "", "seed": 1, "path": [], "environment": [], "claims": [],
            "cases": cases.collect::<Vec<_>>(),
        }))
        .unwrap()
    }

    /// In how many pieces a request is written is a choice; how large it is, is none, and such a
    /// case is named.
    #[test]
    fn pieces_of_requests_are_chosen_and_lonely_cases_named() {
        let source = r#"title = "t"
[path]
[workload.requests]
count = 10
request = "200 B"
response = "1 kB"
[matrix]
how = { one = { "workload.requests.writes" = 1 }, two = { "workload.requests.writes" = 2 }, large = { "workload.requests.request" = "9 kB" } }
"#;
        let scenario = Scenario::parse(source, "t").unwrap();
        let metric = [metrics::MEDIAN_RESPONSE.name, metrics::MEDIAN_RESPONSE.unit];
        let run = run_of(&scenario, metric, |name| if name == "one" { 20.0 } else { 60.0 });
        let choices = choose(&run, &scenario, Goal::Latency);
        let found: Vec<_> =
            choices.iter().map(|it| (it.best.as_str(), it.others[0].0.as_str())).collect();
        assert_eq!(found, [("one", "two")]);
        assert_eq!(incomparable(&run, &scenario), ["large"]);
    }

    /// A factor with a name of its own may set the path: that is no choice.
    #[test]
    fn path_factor_of_any_name_is_given_not_chosen() {
        let source = r#"title = "t"
[path]
[workload]
upload = "1 MB"
[matrix]
network = { near = { "path.delay" = "1 ms" }, far = { "path.delay" = "90 ms" } }
"client.socket.congestion" = ["reno", "cubic"]
"workload.write_size" = ["1 kB", "64 kB"]
"#;
        let scenario = Scenario::parse(source, "t").unwrap();
        let goodput = |name: &str| match name {
            far if far.starts_with("far") => 5.0,
            _ => 50.0,
        } * if name.contains("cubic") { 2.0 } else { 1.0 };
        let run = run_of(&scenario, ["goodput", "Mbit/s"], goodput);
        let choices = choose(&run, &scenario, Goal::Throughput);
        let medians: Vec<(&str, &str, f64)> = choices
            .iter()
            .map(|it| (it.given[0].1.as_str(), it.levels[0].1.as_str(), it.median))
            .collect();
        assert_eq!(medians, [("near", "cubic", 100.0), ("far", "cubic", 10.0)]);
        assert!(choices.iter().all(|it| it.levels.len() == 2), "how to write is a choice");
    }
}
