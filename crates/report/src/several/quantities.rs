//! What at least two of several runs measured, with the values of their cases.

use std::collections::BTreeMap;

use tcplab_scenario::{MetricInfo, metric};

use super::columns::Columns;
use super::label::LabelledRun;
use crate::figures::words;
use crate::summary::boxes::REQUESTS;
use crate::summary::measure::{response_times, values};
use crate::summary::metrics::{is_truth, rank};
use crate::title::title;

/// A metric in one unit, or the response times of requests.
pub(super) struct Quantity {
    /// The first part of the names of its figures.
    pub(super) key: String,
    /// The metric's label.
    pub(super) label: String,
    /// The label of an axis, with the unit.
    pub(super) axis: String,
    pub(super) is_detail: bool,
    /// Whether the values are those of requests, not of trials.
    pub(super) is_of_requests: bool,
    /// Such as `times that of before`, where it is divided by what a run measured.
    relative: Option<String>,
    /// By column, then by run.
    pub(super) rows: Vec<Row>,
}

/// The values of a case of a run.
pub(super) struct Row {
    pub(super) column: usize,
    pub(super) run: usize,
    /// All are finite; at least one.
    pub(super) values: Vec<f64>,
    /// None of requests.
    pub(super) mean: Option<f64>,
    pub(super) interval: Option<(f64, f64)>,
}

impl Quantity {
    pub(super) fn title(&self, shows: &str) -> String {
        let of =
            if self.is_of_requests { shows.replace("trials", "requests") } else { shows.into() };
        let relative = self.relative.as_ref().map(|it| format!(", {it}")).unwrap_or_default();
        format!("{}: {of}{relative}", self.label)
    }
}

/// Those that at least two runs have, the usual ones first. A metric whose unit differs between
/// runs is a quantity for each unit, as they have no common axis.
/// `relative` is the unit of all, where they are divided by what a run measured.
pub(super) fn quantities(
    runs: &[LabelledRun<'_>],
    columns: &Columns,
    relative: Option<&str>,
) -> Vec<Quantity> {
    // By the place where a metric first appears.
    let mut all: BTreeMap<(usize, &str), BTreeMap<&str, Vec<Row>>> = BTreeMap::new();
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    for (run, it) in runs.iter().enumerate() {
        for (index, case) in it.run.cases.iter().enumerate() {
            for summary in case.summaries.iter().filter(|it| !is_truth(&it.name)) {
                let name = summary.name.as_str();
                let next = places.len();
                let place = *places.entry(name).or_insert(next);
                let row = Row {
                    column: columns.column(run, index),
                    run,
                    values: values(case, name).into_iter().map(|(_, value)| value).collect(),
                    mean: Some(summary.mean).filter(|mean| mean.is_finite()),
                    interval: summary.interval,
                };
                if !row.values.is_empty() {
                    let units = all.entry((place, name)).or_default();
                    units.entry(&summary.unit).or_default().push(row);
                }
            }
        }
    }
    let mut found: Vec<Quantity> = Vec::new();
    for ((_, name), units) in all {
        let has_units = units.len() > 1;
        if has_two_runs(units.values().flatten()) {
            let each = units.into_iter();
            found.extend(each.map(|(unit, rows)| of_metric(name, unit, has_units, rows)));
        }
    }
    found.extend(requests(runs, columns, relative.unwrap_or("ms")));
    for quantity in &mut found {
        quantity.relative = relative.map(str::to_owned);
    }
    found.sort_by_key(|it| (it.is_detail, rank(&it.key)));
    found
}

fn has_two_runs<'r>(mut rows: impl Iterator<Item = &'r Row>) -> bool {
    let first = rows.next().map(|row| row.run);
    rows.any(|row| Some(row.run) != first)
}

/// `has_units`: runs have it in other units, too.
fn of_metric(name: &str, unit: &str, has_units: bool, mut rows: Vec<Row>) -> Quantity {
    rows.sort_by_key(|row| (row.column, row.run));
    let label = title(name);
    Quantity {
        key: if has_units { format!("{name}-{}", words(unit)) } else { name.to_owned() },
        axis: if unit.is_empty() { label.clone() } else { format!("{label}, {unit}") },
        label: if has_units { format!("{label} in {unit}") } else { label },
        is_detail: metric(name).is_none_or(MetricInfo::is_detail),
        is_of_requests: false,
        relative: None,
        rows,
    }
}

/// The response times of all requests; none unless two runs have some.
fn requests(runs: &[LabelledRun<'_>], columns: &Columns, unit: &str) -> Option<Quantity> {
    let of_run = |(run, it): (usize, &LabelledRun<'_>)| -> Vec<Row> {
        let row = |(index, case)| Row {
            column: columns.column(run, index),
            run,
            values: response_times(case),
            mean: None,
            interval: None,
        };
        it.run.cases.iter().enumerate().map(row).collect()
    };
    let rows = runs.iter().enumerate().flat_map(of_run).filter(|row| !row.values.is_empty());
    let mut rows: Vec<Row> = rows.collect();
    rows.sort_by_key(|row| (row.column, row.run));
    has_two_runs(rows.iter()).then(|| Quantity {
        key: REQUESTS.into(),
        label: "response time".into(),
        axis: format!("response time, {unit}"),
        is_detail: false,
        is_of_requests: true,
        relative: None,
        rows,
    })
}
