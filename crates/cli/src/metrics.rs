//! `tcplab metrics`.

use std::process::ExitCode;

use anyhow::{Result, bail};
use tcplab_quantities::METRICS_DOCUMENT;
use tcplab_scenario::{Better, METRICS, MetricInfo, nearest};

use crate::arguments::MetricsArguments;
use crate::output::{answer_or_json, hanging, listed, shown_columns};

/// Columns of a terminal that are filled.
const WIDTH: usize = 90;

pub(crate) fn metrics(arguments: &MetricsArguments) -> Result<ExitCode> {
    let names = &arguments.names;
    let is_named = |metric: &&MetricInfo| {
        names.is_empty() || names.iter().any(|name| metric.name.contains(name.as_str()))
    };
    let chosen: Vec<&MetricInfo> = METRICS.iter().filter(is_named).collect();
    if chosen.is_empty() {
        let known = || METRICS.iter().map(|metric| metric.name);
        let near = names.iter().find_map(|name| nearest(name, known()));
        let near = near.map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
        bail!("no metric has {} in its name: {near}`tcplab metrics` lists all", names.join(" or "));
    }
    answer_or_json(&METRICS_DOCUMENT, &arguments.json, &listed("metrics", &chosen), || {
        let width = chosen.iter().map(|metric| metric.name.len()).max().unwrap_or_default();
        chosen.iter().map(|metric| in_words(metric, width, shown_columns())).collect()
    })?;
    Ok(ExitCode::SUCCESS)
}

/// With names in a column of this width, in lines of at most `columns`.
fn in_words(metric: &MetricInfo, width: usize, columns: usize) -> String {
    let better = match metric.better {
        Better::Lower => Some("lower is better"),
        Better::Higher => Some("higher is better"),
        Better::Neither => None,
    };
    let of = format!("per {}", metric.scope.name());
    let unit = (!metric.unit.is_empty()).then_some(metric.unit);
    let source = format!("from {}", metric.source.name());
    let facts: Vec<&str> = [unit, Some(&of), better, Some(&source)].into_iter().flatten().collect();
    let head = hanging(&format!("{:<width$}  ", metric.name), &facts.join(", "), columns);
    head + &hanging("    ", &metric.explanation(), columns.min(WIDTH))
}
