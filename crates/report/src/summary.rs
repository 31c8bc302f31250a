//! The summary: each metric with its variants under one another, on one scale.

use tcplab_lab::{Case, Run, Summary};
use tcplab_plot::{StripScale, decimal, strip, strip_axis};

use crate::number::{decimals_of_mean, words};

/// One metric over all variants.
pub(crate) struct Block {
    pub(crate) name: String,
    pub(crate) unit: String,
    pub(crate) rows: Vec<Row>,
    /// The numbers under the strips.
    pub(crate) axis: String,
}

/// One variant's line.
pub(crate) struct Row {
    pub(crate) case: String,
    pub(crate) count: usize,
    pub(crate) mean: String,
    pub(crate) deviation: String,
    pub(crate) interval: String,
    pub(crate) strip: String,
}

/// These come first, in this order: what people ask for.
const FIRST: [&str; 2] = ["transfer time", "goodput"];

/// One block per metric: what people ask for first, the others as the run lists them.
pub(crate) fn blocks(run: &Run) -> Vec<Block> {
    let mut names: Vec<(&str, &str)> = Vec::new();
    for summary in run.cases.iter().flat_map(|case| &case.summaries) {
        if !names.iter().any(|(name, _)| *name == summary.name) {
            names.push((&summary.name, &summary.unit));
        }
    }
    names.sort_by_key(|(name, _)| rank(name));
    names.into_iter().map(|(name, unit)| block(run, name, unit)).collect()
}

/// Where a metric stands among those that come first; the others after them.
pub(crate) fn rank(name: &str) -> usize {
    let name = words(name);
    FIRST.iter().position(|first| *first == name).unwrap_or(FIRST.len())
}

fn block(run: &Run, name: &str, unit: &str) -> Block {
    let of_case = |case: &Case| values(case, name);
    let found: Vec<(&Case, &Summary)> = run
        .cases
        .iter()
        .filter_map(|case| Some((case, case.summaries.iter().find(|s| s.name == name)?)))
        .collect();
    // The scale holds all trials and, as far as they are not much wider, the intervals.
    let scale = StripScale::over(
        found.iter().flat_map(|(case, summary)| of_case(case).into_iter().chain([summary.mean])),
    );
    let places = found
        .iter()
        .map(|(_, s)| decimals_of_mean(s.mean, s.standard_deviation))
        .max()
        .unwrap_or(0);
    let rows = found
        .into_iter()
        .map(|(case, summary)| row(case, summary, &of_case(case), places, scale))
        .collect();
    Block { name: words(name), unit: unit.to_string(), rows, axis: strip_axis(scale, unit) }
}

fn row(case: &Case, summary: &Summary, values: &[f64], places: usize, scale: StripScale) -> Row {
    let number = |value: f64| decimal(value, places);
    let interval = summary
        .interval
        .map_or("–".to_string(), |(low, high)| format!("{} to {}", number(low), number(high)));
    let label = format!(
        "{} of {}: mean {} {}, {} trials",
        words(&summary.name),
        case.name,
        number(summary.mean),
        summary.unit,
        summary.count
    );
    Row {
        case: case.name.clone(),
        count: summary.count,
        mean: number(summary.mean),
        deviation: summary.standard_deviation.map_or("–".to_string(), number),
        interval,
        strip: strip(&label, values, summary.mean, summary.interval, scale),
    }
}

fn values(case: &Case, name: &str) -> Vec<f64> {
    case.trials
        .iter()
        .filter_map(|trial| trial.metrics.iter().find(|m| m.name == name))
        .map(|metric| metric.value)
        .collect()
}
