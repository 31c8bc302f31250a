//! The comparisons that a scenario asks for, as files for other programs.

use tcplab_quantities::COMPARISONS_DOCUMENT;
use tcplab_results::Run;
use tcplab_results::comparison::{Comparison, Outcome, Row};

use super::super::directory::RunDirectory;
use super::row::row;
use crate::error::LabError;
use crate::json::to_json;

const JSON: &str = "comparisons.json";
const CSV: &str = "comparisons.csv";

type Cell = fn(&Comparison, &Row) -> String;

const COLUMNS: [(&str, Cell); 27] = [
    ("factor", |found, _| found.by.clone().unwrap_or_default()),
    ("a", |found, _| found.sides[0].label.clone()),
    ("b", |found, _| found.sides[1].label.clone()),
    ("case", |_, it| it.case.clone()),
    ("metric", |_, it| it.metric.clone()),
    ("unit", |_, it| it.unit.clone()),
    ("better", |_, it| it.better.name().to_string()),
    ("family", |_, it| it.family.name().to_string()),
    ("paired", |_, it| it.is_paired.to_string()),
    ("exact", |_, it| it.is_exact.to_string()),
    ("trials_a", |_, it| it.trials()[0].to_string()),
    ("trials_b", |_, it| it.trials()[1].to_string()),
    ("median_a", |_, it| it.medians[0].to_string()),
    ("median_b", |_, it| it.medians[1].to_string()),
    ("by_ratio", |_, it| it.is_ratio.to_string()),
    ("estimator", |_, it| it.estimator.name().to_string()),
    ("difference", |_, it| it.difference.to_string()),
    ("interval_low", |_, it| number(it.interval.map(|(low, _)| low))),
    ("interval_high", |_, it| number(it.interval.map(|(_, high)| high))),
    ("p", |_, it| it.p.to_string()),
    ("p_corrected", |_, it| it.p_corrected.to_string()),
    ("effect", |_, it| it.effect.to_string()),
    ("could_find", |_, it| number(it.detectable)),
    ("same_within", |_, it| it.margin.to_string()),
    ("verdict", |_, it| it.outcome.name().to_string()),
    ("identical", |_, it| {
        matches!(it.outcome, Outcome::Equivalent { identical: true }).to_string()
    }),
    ("more_trials", |_, it| match it.outcome {
        Outcome::Inconclusive { more, .. } => more.to_string(),
        _ => String::new(),
    }),
];

fn number(value: Option<f64>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

/// Writes both, whole or not at all; where nothing is compared, those of before go.
pub(crate) fn write(directory: &RunDirectory, run: &Run) -> Result<(), LabError> {
    if run.comparisons.is_empty() {
        directory.remove(CSV)?;
        return directory.remove(JSON);
    }
    let mut table = row(COLUMNS.map(|(name, _)| name));
    for found in &run.comparisons {
        table.extend(found.rows.iter().map(|it| row(COLUMNS.map(|(_, cell)| cell(found, it)))));
    }
    directory.replace(CSV, table.as_bytes())?;
    let comparisons = serde_json::json!({ "comparisons": run.comparisons });
    directory.replace(JSON, &to_json(&COMPARISONS_DOCUMENT.of(comparisons)))?;
    Ok(())
}
