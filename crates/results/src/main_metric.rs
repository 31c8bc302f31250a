//! The metric that a run is judged by.

use tcplab_scenario::{Better, MetricInfo, MetricKind, Scope, metric};

use crate::{Run, Trial};

/// Without a comparison, plot or claim, the first of these that trials have: answers of a load,
/// data of a transfer, response time, duration.
const USUAL: [&str; 4] = ["load.rate", "goodput", "mean_response", "transfer_time"];

/// The main metric of a run, which its answer is about and its comparisons test first: that of the
/// scenario's question, if it names one; else the first of its first `[[compare]]`, else that of
/// its first plot, else of the first claim about a number that each trial has once and that has a
/// better direction, else by the workload; of the latter two the first that is not the same in
/// every trial, if there is one. None if no trial has any.
pub fn main_metric(run: &Run) -> Option<&'static MetricInfo> {
    let is_of_trials =
        |flow: &Option<String>| flow.is_none() || flow.as_deref() == subject_flow(run);
    let asked = run.question_metric.as_deref().into_iter();
    let compared = run.comparisons.iter().filter_map(|found| found.metrics.first());
    let compared = compared.map(String::as_str);
    let plotted = run.plots.iter().filter(|plot| is_of_trials(&plot.flow));
    let plotted = plotted.map(|plot| plot.metric.as_str());
    let claimed = run.claims.iter().filter_map(|claim| {
        let is_merit = |info: &MetricInfo| is_number(info) && info.better != Better::Neither;
        claim.check.split_whitespace().find(|word| metric(word).is_some_and(is_merit))
    });
    // Of a transfer, goodput is one over its time.
    let is_timed = has(run, "transfer_time");
    let usual = USUAL.map(|name| {
        if name == "goodput" && is_timed && has(run, name) { "transfer_time" } else { name }
    });
    let usual = usual.into_iter();
    let known = |name: &str| metric(name).filter(|info| is_number(info) && has(run, info.name));
    let others: Vec<_> = claimed.chain(usual).filter_map(known).collect();
    let varied = others.iter().find(|info| varies(run, info.name)).copied();
    asked.chain(compared).chain(plotted).find_map(known).or(varied).or(others.first().copied())
}

/// The metric by which a trial is shown before its run has an answer: the first by the workload
/// that it has, with its value.
pub fn metric_by_workload(trial: &Trial) -> Option<(&'static MetricInfo, f64)> {
    USUAL.into_iter().find_map(|name| {
        let value = trial.metrics.value_named(name).filter(|value| value.is_finite())?;
        Some((metric(name)?, value))
    })
}

/// The flow whose metrics a run's trials have, where there are flows ([`Trial::subject_flow`]).
pub fn subject_flow(run: &Run) -> Option<&str> {
    let first = run.cases.iter().find_map(|case| case.trials.first())?;
    first.subject_flow().map(|flow| flow.name.as_str())
}

fn is_number(info: &MetricInfo) -> bool {
    info.scope == Scope::Trial && info.kind == MetricKind::Number
}

fn has(run: &Run, name: &str) -> bool {
    values(run, name).next().is_some()
}

fn varies(run: &Run, name: &str) -> bool {
    let mut values = values(run, name);
    let first = values.next();
    values.any(|value| Some(value) != first)
}

fn values(run: &Run, name: &str) -> impl Iterator<Item = f64> {
    let trials = run.cases.iter().flat_map(|case| &case.trials);
    trials
        .filter_map(move |trial| trial.metrics.value_named(name))
        .filter(|value| value.is_finite())
}
