//! Which of the variants of a run to take.

use std::collections::BTreeMap;

use serde::Serialize;
use tcplab_scenario::{Better, metric};

use super::{Gain, Goal};
use crate::{Case, Run};

/// Of variants that differ only in what can be chosen, the best by one metric.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Choice {
    /// What they have in common: (factor, level) of the path and the workload, and the names of
    /// groups of keys.
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
    /// Of these, those that the trials do not tell from the best.
    pub as_good: Vec<String>,
}

/// Of the path and the workload nobody can choose; of the rest one can.
const GIVEN: [&str; 2] = ["path", "workload"];
/// What tells of a goal, the first that trials have.
const THROUGHPUT: [&str; 2] = ["goodput", "load.rate"];
const LATENCY: [&str; 4] = ["median_response", "mean_response", "load.response", "rtt.mean"];

/// The best variants of a run for a goal; nothing where nothing could be chosen.
pub fn choose(run: &Run, goal: Goal) -> Vec<Choice> {
    let mut groups: BTreeMap<Vec<(String, String)>, Vec<&Case>> = BTreeMap::new();
    for case in &run.cases {
        let is_given = |(key, _): &&(String, String)| {
            GIVEN.iter().any(|section| key.split('.').next() == Some(section))
        };
        let given = case.levels.iter().filter(is_given).cloned().collect();
        groups.entry(given).or_default().push(case);
    }
    let mut choices = Vec::new();
    for (given, cases) in groups.into_iter().filter(|(_, cases)| cases.len() > 1) {
        let of =
            |names: &[&'static str]| names.iter().find_map(|name| best(run, &given, &cases, name));
        choices.extend(goal.wants_throughput().then(|| of(&THROUGHPUT)).flatten());
        choices.extend(goal.wants_latency().then(|| of(&LATENCY)).flatten());
    }
    choices
}

fn best(
    run: &Run,
    given: &[(String, String)],
    cases: &[&Case],
    name: &'static str,
) -> Option<Choice> {
    let info = metric(name)?;
    let sign = if info.better == Better::Lower { -1.0 } else { 1.0 };
    let median = |case: &Case| {
        let summary = case.summaries.iter().find(|summary| summary.name == name)?;
        Some(summary.median.unwrap_or(summary.mean))
    };
    let mut ranked: Vec<(&Case, f64)> =
        cases.iter().filter_map(|case| Some((*case, median(case)?))).collect();
    ranked.sort_by(|one, other| (other.1 * sign).total_cmp(&(one.1 * sign)));
    let ((best, median), rest) = ranked.split_first().map(|(first, rest)| (*first, rest))?;
    let others: Vec<(String, Option<Gain>)> = rest
        .iter()
        .map(|(case, _)| (case.name.clone(), Gain::of(run, &case.name, &best.name, name)))
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
        metric: name,
        unit: info.unit,
        best: best.name.clone(),
        levels: chosen.collect(),
        median,
        as_good: as_good.collect(),
        others,
    })
}
