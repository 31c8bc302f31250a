//! By how much B differs from A, drawn: intervals around zero.

use tcplab_plot::{ForestRow, Table, forest, number_cell};
use tcplab_results::comparison::{Comparison, Outcome, Row};

use crate::compared::{change, difference, name_of};
use crate::html::figure::PageFigure;
use crate::title::title;

/// An interval plot for each metric, the metric with the worst row first; none of one that is
/// identical everywhere.
pub(crate) fn pictures(found: &Comparison) -> Vec<PageFigure> {
    let mut metrics: Vec<&str> = Vec::new();
    for row in &found.rows {
        if !metrics.contains(&row.metric.as_str()) {
            metrics.push(&row.metric);
        }
    }
    let picture = |metric: &&str| {
        let rows: Vec<&Row> = found.rows.iter().filter(|row| row.metric == *metric).collect();
        let moves = rows.iter().any(|row| row.outcome != Outcome::Equivalent { identical: true });
        moves.then(|| drawn(metric, &rows))
    };
    metrics.iter().filter_map(picture).collect()
}

fn drawn(metric: &str, rows: &[&Row]) -> PageFigure {
    let is_relative = rows.iter().all(|row| row.is_ratio);
    let scaled = |row: &Row, amount: f64| match row.relative(amount) {
        Some(share) if is_relative => share * 100.0,
        _ => amount,
    };
    let shown = |row: &&Row| ForestRow {
        name: row.case.clone(),
        label: match (row.outcome, row.relative(row.difference)) {
            (Outcome::Inconclusive { .. } | Outcome::Equivalent { identical: true }, _) => {
                name_of(row).into()
            }
            (_, Some(_)) if is_relative => format!("{}, {}", name_of(row), change(row)),
            _ => format!("{}, {}", name_of(row), difference(row)),
        },
        class: row.outcome.name(),
        value: scaled(row, row.difference),
        interval: row.interval.map(|(low, high)| (scaled(row, low), scaled(row, high))),
        margin: scaled(row, row.margin),
    };
    let shown: Vec<ForestRow> = rows.iter().map(shown).collect();
    let unit = if is_relative { "%" } else { rows[0].unit.as_str() };
    let name = title(metric);
    let numbers = rows.iter().zip(&shown).map(|(found, row)| {
        let end = |value: Option<f64>| value.map(number_cell).unwrap_or_default();
        [
            row.name.clone(),
            name_of(found).to_owned(),
            number_cell(row.value),
            end(row.interval.map(|it| it.0)),
            end(row.interval.map(|it| it.1)),
            number_cell(row.margin),
        ]
    });
    let difference = format!("difference ({})", if unit.is_empty() { "count" } else { unit });
    let columns = ["case", "verdict", &difference, "from", "until", "equivalent within"];
    let table = Table::new(&columns, numbers);
    let svg = forest(&format!("B against A: {name}"), unit, &shown);
    PageFigure::new(&name, svg, table)
}
