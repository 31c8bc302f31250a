//! `trials.csv` and `trials.parquet`: a row for each trial, with its factors and metrics.

use std::collections::BTreeSet;
use std::path::Path;

use tcplab_quantities as q;
use tcplab_results::{Case, Failure, Run, Trial};
use tcplab_table::{Column, Format, Kind, Value};

use super::factors::Factors;
use super::file::TableFile;
use super::typed::key;
use crate::error::LabError;

/// The first columns; factors follow, then metrics.
pub(super) const COLUMNS: &[(q::Quantity, Kind)] = &[
    (q::CASE, Kind::Text),
    (q::TRIAL, Kind::Whole),
    (q::SEED, Kind::Wide),
    (q::WORLD, Kind::Text),
    (q::OUTCOME, Kind::Text),
    (q::WARNINGS, Kind::Text),
    (q::REPEATED, Kind::Whole),
    (q::PACKETS_KEPT, Kind::Flag),
];

/// Its columns and rows; what of a trial is in memory is enough.
pub(super) struct Trials<'a> {
    run: &'a Run,
    factors: &'a Factors,
    metrics: Vec<(&'a str, &'a str)>,
}

impl<'a> Trials<'a> {
    pub(super) fn of(run: &'a Run, factors: &'a Factors) -> Trials<'a> {
        Trials { run, factors, metrics: metrics(run) }
    }

    pub(super) fn columns(&self) -> Vec<Column<Vec<Value>>> {
        let mut columns = Column::list(COLUMNS);
        columns.extend(self.factors.columns(columns.len()));
        let first = columns.len();
        let metric = |(index, (name, unit)): (usize, &(&str, &str))| {
            let meaning = format!("The metric {name}, {}; empty if there is none", in_unit(unit));
            let name = format!("{}{}", key(name), suffix(unit));
            Column::at(first + index, name, Kind::Number, meaning)
        };
        columns.extend(self.metrics.iter().enumerate().map(metric));
        columns
    }

    pub(super) fn rows(&self) -> impl Iterator<Item = Vec<Value>> {
        let of_case = move |(index, case): (usize, &'a Case)| {
            let with_factors = move |(_, mut row, trial): (u32, Vec<Value>, Option<&Trial>)| {
                row.extend(self.factors.cells(index).iter().cloned());
                let value = |name: &str| trial.and_then(|it| it.metrics.value_named(name));
                row.extend(self.metrics.iter().map(|(name, _)| Value::from(value(name))));
                row
            };
            all(case).into_iter().map(with_factors)
        };
        self.run.cases.iter().enumerate().flat_map(of_case)
    }

    /// Writes both files.
    pub(super) fn write(&self, directory: &Path) -> Result<(), LabError> {
        let begin = |format| TableFile::begin(directory, TRIALS, format, self.columns());
        let mut files = [begin(Format::Csv)?, begin(Format::Parquet)?];
        for row in self.rows() {
            let [csv, parquet] = &mut files;
            csv.push(row.clone())?;
            parquet.push(row)?;
        }
        files.into_iter().try_for_each(TableFile::commit)
    }
}

/// The table's name.
pub(super) const TRIALS: &str = "trials";

/// The trials of a case by number, those that failed among them, each with its first cells.
fn all(case: &Case) -> Vec<(u32, Vec<Value>, Option<&Trial>)> {
    let good = case.trials.iter().map(|trial| {
        let Trial { number, seed, flaws, put_aside, has_packets, .. } = trial;
        let outcome = if flaws.is_empty() { "good" } else { "with-warnings" };
        let warnings = flaws.join("; ");
        let row = first(case, *number, *seed, outcome, warnings, *put_aside, *has_packets);
        (*number, row, Some(trial))
    });
    let failed = case.failures.iter().map(|failure| {
        let Failure { number, seed, attempts, reason, .. } = failure;
        let row = first(case, *number, *seed, "failed", reason.clone(), attempts - 1, true);
        (*number, row, None)
    });
    let mut all: Vec<_> = good.chain(failed).collect();
    all.sort_by_key(|(number, ..)| *number);
    all
}

fn first(
    case: &Case,
    number: u32,
    seed: u64,
    outcome: &'static str,
    warnings: String,
    repeated: u32,
    has_packets: bool,
) -> Vec<Value> {
    vec![
        Value::from(case.name.clone()),
        Value::from(u64::from(number)),
        Value::Wide(seed),
        Value::from(case.world.to_string()),
        Value::from(outcome),
        Value::from(Some(warnings).filter(|it| !it.is_empty())),
        Value::from(u64::from(repeated)),
        Value::from(has_packets),
    ]
}

/// Name and unit of all metrics that a trial of the run has, in their order.
fn metrics(run: &Run) -> Vec<(&str, &str)> {
    let (mut known, mut metrics) = (BTreeSet::new(), Vec::new());
    for trial in run.cases.iter().flat_map(|case| &case.trials) {
        for metric in trial.metrics.iter() {
            if known.insert(metric.name) {
                metrics.push((metric.name, metric.unit));
            }
        }
    }
    metrics
}

fn in_unit(unit: &str) -> String {
    if unit.is_empty() { "without a unit".to_owned() } else { format!("in {unit}") }
}

/// What the key of a metric's column ends in.
fn suffix(unit: &str) -> String {
    match unit {
        "" | "segments" => String::new(),
        "s" => "_seconds".into(),
        "%" => "_percent".into(),
        "/s" => "_per_second".into(),
        "Mbit/s" => "_mbit_per_second".into(),
        "ns/B" => "_ns_per_byte".into(),
        other => format!("_{}", key(other)),
    }
}
