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

const COLUMNS: [&str; 23] = [
    "factor",
    "a",
    "b",
    "case",
    "metric",
    "unit",
    "better",
    "paired",
    "trials_a",
    "trials_b",
    "median_a",
    "median_b",
    "difference",
    "interval_low",
    "interval_high",
    "p",
    "p_corrected",
    "effect",
    "could_find",
    "same_within",
    "verdict",
    "identical",
    "more_trials",
];

/// Writes both, whole or not at all; where nothing is compared, those of before go.
pub(crate) fn write(directory: &RunDirectory, run: &Run) -> Result<(), LabError> {
    if run.comparisons.is_empty() {
        directory.remove(CSV)?;
        return directory.remove(JSON);
    }
    let rows = run.comparisons.iter().flat_map(|found| found.rows.iter().map(|it| line(found, it)));
    let table: String = std::iter::once(row(COLUMNS)).chain(rows).collect();
    directory.replace(CSV, table.as_bytes())?;
    let comparisons = serde_json::json!({ "comparisons": run.comparisons });
    directory.replace(JSON, &to_json(&COMPARISONS_DOCUMENT.of(comparisons)))?;
    Ok(())
}

fn line(found: &Comparison, it: &Row) -> String {
    let number = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
    let [a, b] = it.trials().map(|count| count.to_string());
    let (identical, more) = match it.outcome {
        Outcome::Equivalent { identical } => (identical, String::new()),
        Outcome::Inconclusive { more, .. } => (false, more.to_string()),
        Outcome::Worse | Outcome::Better | Outcome::Different => (false, String::new()),
    };
    row([
        found.by.as_deref().unwrap_or_default(),
        &found.sides[0].label,
        &found.sides[1].label,
        &it.case,
        &it.metric,
        &it.unit,
        it.better.name(),
        &it.is_paired.to_string(),
        &a,
        &b,
        &it.medians[0].to_string(),
        &it.medians[1].to_string(),
        &it.difference.to_string(),
        &number(it.interval.map(|(low, _)| low)),
        &number(it.interval.map(|(_, high)| high)),
        &it.p.to_string(),
        &it.p_corrected.to_string(),
        &it.effect.to_string(),
        &number(it.detectable),
        &it.margin.to_string(),
        it.outcome.name(),
        &identical.to_string(),
        &more,
    ])
}
