//! The summary: each metric with its variants under one another, on one scale.

use tcplab_plot::{StripScale, strip, strip_axis};
use tcplab_results::{Case, Run, Summary};
use tcplab_scenario::{MetricKind, metric};
use tcplab_units::rounded::{counted, decimal, decimals_for_error, decimals_of_mean};

use super::worlds::world;
use crate::title::title;

pub(crate) struct Block {
    pub(crate) name: String,
    pub(crate) unit: String,
    /// Whether it is a metric for reference.
    pub(crate) is_detail: bool,
    /// A sentence; empty for a metric that the catalogue does not have.
    pub(crate) meaning: &'static str,
    /// Of each case with values, and of each of which all trials failed.
    pub(crate) rows: Vec<Row>,
    /// The numbers under the strips, and a caution; none without strips.
    pub(crate) axis: Option<(String, String)>,
}

pub(crate) struct Row {
    pub(crate) case: String,
    pub(crate) world: &'static str,
    pub(crate) count: usize,
    /// A dash without values.
    pub(crate) mean: String,
    /// None of one trial, and of yes or no.
    pub(crate) spread: Option<Spread>,
    /// Where the trials of some variant differ.
    pub(crate) strip: Option<String>,
    /// Why there are no values; empty where there are.
    pub(crate) reason: String,
}

/// Variation over the trials of a variant.
pub(crate) struct Spread {
    pub(crate) deviation: String,
    /// Half the width of the interval.
    pub(crate) half: String,
    /// The interval, or why there is none.
    pub(crate) interval: String,
}

/// These come first, in this order.
const FIRST: [&str; 2] = ["transfer_time", "goodput"];

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

/// Its place among those that come first.
pub(crate) fn rank(name: &str) -> usize {
    FIRST.iter().position(|first| *first == name).unwrap_or(FIRST.len())
}

/// Whether a metric says yes or no.
pub(crate) fn is_truth(name: &str) -> bool {
    metric(name).is_some_and(|info| info.kind == MetricKind::Truth)
}

/// The value of such a metric.
pub(crate) fn is_yes(value: f64) -> bool {
    value > 0.5
}

fn block(run: &Run, name: &str, unit: &str) -> Block {
    let found: Vec<(&Case, &Summary)> = run
        .cases
        .iter()
        .filter_map(|case| Some((case, case.summaries.iter().find(|s| s.name == name)?)))
        .collect();
    let truth = is_truth(name);
    let (rows, axis): (Vec<Row>, _) = if truth {
        (found.iter().map(|(case, summary)| truth_row(case, summary)).collect(), None)
    } else {
        numbers(&found, unit)
    };
    let mut rows = rows.into_iter();
    let row = |case: &Case| {
        let has_values = case.summaries.iter().any(|summary| summary.name == name);
        if has_values { rows.next() } else { case.all_failed().then(|| failed_row(case)) }
    };
    let rows = run.cases.iter().filter_map(row).collect();
    let meaning = metric(name).map_or("", |info| info.meaning);
    let is_detail = metric(name).is_some_and(tcplab_scenario::MetricInfo::is_detail);
    Block { name: title(name), unit: unit.to_string(), is_detail, meaning, rows, axis }
}

fn truth_row(case: &Case, summary: &Summary) -> Row {
    let yes = values(case, &summary.name).iter().filter(|value| is_yes(**value)).count();
    let mean = match yes {
        0 => "no".to_string(),
        yes if yes == summary.count => "yes".to_string(),
        yes => format!("yes in {yes} of {}", summary.count),
    };
    Row {
        case: case.name.clone(),
        world: world(case),
        count: summary.count,
        mean,
        spread: None,
        strip: None,
        reason: String::new(),
    }
}

fn failed_row(case: &Case) -> Row {
    let reason = match case.failures.len() {
        1 => "the trial failed".to_owned(),
        failed => format!("all {failed} trials failed"),
    };
    let (mean, name) = ("–".to_owned(), case.name.clone());
    Row { case: name, world: world(case), count: 0, mean, spread: None, strip: None, reason }
}

fn numbers(found: &[(&Case, &Summary)], unit: &str) -> (Vec<Row>, Option<(String, String)>) {
    let all: Vec<f64> = found.iter().flat_map(|(case, s)| values(case, &s.name)).collect();
    let differ = all.windows(2).any(|pair| pair[0].total_cmp(&pair[1]).is_ne());
    let scale = StripScale::over(all, found.iter().filter_map(|(_, s)| s.interval));
    // Decimals of the most certain mean, for all rows.
    let halves = found.iter().filter_map(|(_, s)| s.half_interval()).filter(|half| *half > 0.0);
    let places = match halves.reduce(f64::min) {
        Some(half) => decimals_for_error(half),
        None => found.iter().map(|(_, s)| decimals_of_mean(s.mean)).max().unwrap_or(0),
    };
    let deviations = found.iter().filter_map(|(_, s)| s.standard_deviation).filter(|sd| *sd > 0.0);
    let deviation_places = deviations.reduce(f64::min).map_or(0, decimals_for_error);
    let rows = found
        .iter()
        .map(|(case, summary)| Row {
            case: case.name.clone(),
            world: world(case),
            count: summary.count,
            mean: decimal(summary.mean, places),
            spread: spread(summary, places, deviation_places),
            strip: differ.then(|| drawn(case, summary, places, scale)),
            reason: String::new(),
        })
        .collect();
    let axis = differ.then(|| (strip_axis(scale, unit), caution(scale)));
    (rows, axis)
}

fn spread(summary: &Summary, places: usize, deviation_places: usize) -> Option<Spread> {
    let (deviation, (low, high)) = (summary.standard_deviation?, summary.interval?);
    if deviation <= 0.0 {
        let interval = "all trials identical".to_string();
        return Some(Spread { deviation: "0".into(), half: "0".into(), interval });
    }
    Some(Spread {
        deviation: decimal(deviation, deviation_places),
        half: decimal(summary.half_interval()?, places),
        interval: format!("{} to {}", decimal(low, places), decimal(high, places)),
    })
}

fn drawn(case: &Case, summary: &Summary, places: usize, scale: StripScale) -> String {
    let label = format!(
        "{} of {}: mean {} {}, {}",
        title(&summary.name),
        case.name,
        decimal(summary.mean, places),
        summary.unit,
        counted(summary.count, "trial", "trials"),
    );
    strip(&label, &values(case, &summary.name), summary.mean, summary.interval, scale)
}

/// An axis that does not start at zero exaggerates differences.
fn caution(scale: StripScale) -> String {
    let share = scale.share() * 100.0;
    if share >= 100.0 {
        return String::new();
    }
    let share = decimal(share, usize::from(share < 9.95));
    let share = share.trim_end_matches(".0");
    format!("Axis does not start at zero: it spans {share} % of the largest value.")
}

fn values(case: &Case, name: &str) -> Vec<f64> {
    case.trials.iter().filter_map(|trial| trial.metrics.value_named(name)).collect()
}
