//! The verdicts of a comparison by case and metric.

use tcplab_results::Run;
use tcplab_results::comparison::{Comparison, Outcome, Row};

use crate::compared::{change, name_of};
use crate::title::short;

/// The rows of a comparison by case and metric, the case with the worst first.
pub(crate) struct Grid<'a> {
    pub(crate) rows: Vec<(&'a str, Vec<Option<&'a Row>>)>,
}

impl<'a> Grid<'a> {
    pub(crate) fn of(found: &'a Comparison) -> Grid<'a> {
        let mut cases: Vec<&str> = Vec::new();
        for row in &found.rows {
            if !cases.contains(&row.case.as_str()) {
                cases.push(&row.case);
            }
        }
        let cell = |case: &str, metric: &String| {
            found.rows.iter().find(|row| row.case == case && row.metric == *metric)
        };
        let row = |case| (case, found.metrics.iter().map(|metric| cell(case, metric)).collect());
        Grid { rows: cases.into_iter().map(row).collect() }
    }
}

/// Such as `haiku: after against before`.
pub(crate) fn name(found: &Comparison) -> String {
    let [a, b] = found.sides.each_ref().map(|side| side.label.as_str());
    let factor = found.by.as_deref().map(short).unwrap_or_default();
    format!("{factor}: {b} against {a}")
}

/// The other factors, whose levels the rows are.
pub(crate) fn rest(run: &Run, found: &Comparison) -> String {
    let levels = run.cases.first().map(|case| &case.levels[..]).unwrap_or_default();
    let others = levels.iter().filter(|(key, _)| Some(key) != found.by.as_ref());
    let names: Vec<String> = others.map(|(key, _)| short(key)).collect();
    if names.is_empty() { "scenario".into() } else { names.join(", ") }
}

pub(crate) fn in_short(row: &Row) -> String {
    match row.outcome {
        Outcome::Equivalent { .. } | Outcome::Inconclusive { .. } => name_of(row).into(),
        other => format!("{}, {}", other.name(), change(row)),
    }
}
