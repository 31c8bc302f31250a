//! The tables of which each trial has some rows.

use std::collections::BTreeMap;

use tcplab_quantities::Quantity;
use tcplab_results::{Run, Trial};
use tcplab_table::{Column, Format, Kind, Value};

use super::super::directory::RunDirectory;
use super::factors::Factors;
use super::file::TableFile;
use super::rows::{self, Row};
use crate::error::LabError;

/// A table of which each trial has some rows.
pub(super) struct PerTrial {
    pub(super) name: &'static str,
    /// What its rows are.
    pub(super) about: &'static str,
    pub(super) columns: fn() -> Vec<(Quantity, Kind)>,
    rows: fn(&Trial) -> Vec<Row>,
}

pub(super) const PER_TRIAL: &[PerTrial] = &[
    PerTrial {
        name: METRICS,
        about: "A row for each metric of each trial; the columns of the factors follow, as in trials.",
        columns: || rows::columns(rows::METRICS),
        rows: |trial| rows::rows(rows::METRICS, &rows::metrics_of(trial)),
    },
    PerTrial {
        name: "episodes",
        about: "A row for each recovery episode. Of several connections those of the first, of several \
                flows those of the first that is not in the background.",
        columns: || rows::columns(rows::EPISODES),
        rows: |trial| rows::rows(rows::EPISODES, &trial.episodes),
    },
    PerTrial {
        name: "interruptions",
        about: "A row for each interruption of the path during a transfer. Of several connections that \
                of the first, as with episodes.",
        columns: || rows::columns(rows::INTERRUPTIONS),
        rows: |trial| rows::rows(rows::INTERRUPTIONS, &trial.interruptions),
    },
    PerTrial {
        name: "calls",
        about: "A row for each call of an application, equal ones in a row together.",
        columns: || rows::columns(rows::CALLS),
        rows: |trial| rows::rows(rows::CALLS, &rows::calls_of(trial)),
    },
    PerTrial {
        name: "ends",
        about: "A row for each metric of an end, and each of its values.",
        columns: || rows::columns(rows::ENDS),
        rows: |trial| rows::rows(rows::ENDS, &rows::metrics_of_ends(trial)),
    },
    PerTrial {
        name: "options",
        about: "A row for each socket option that was asked for or changed.",
        columns: || rows::columns(rows::OPTIONS),
        rows: |trial| rows::rows(rows::OPTIONS, &trial.options),
    },
    PerTrial {
        name: FLOWS,
        about: "A row for each flow, where the scenario has flows. Times, goodput and RTT are medians of \
                its connections or requests, retransmissions, timeouts and losses are sums; a cell \
                is empty where there is none.",
        columns: || rows::columns(rows::FLOWS),
        rows: |trial| rows::rows(rows::FLOWS, &trial.flows),
    },
];
/// The one whose rows have the factors too.
const METRICS: &str = "metrics";
/// The one that is there only where a scenario has flows.
const FLOWS: &str = "flows";

impl PerTrial {
    /// Its columns in a run.
    pub(super) fn columns(&self, factors: &Factors) -> Vec<Column<Vec<Value>>> {
        let mut columns = Column::list(&(self.columns)());
        if self.name == METRICS {
            columns.extend(factors.columns(columns.len()));
        }
        columns
    }

    /// The rows of a trial of the case with these factors.
    pub(super) fn rows(
        &self,
        case: &str,
        factors: &[Value],
        trial: &Trial,
    ) -> impl Iterator<Item = Vec<Value>> {
        let factors = if self.name == METRICS { factors.to_vec() } else { Vec::new() };
        let first = [Value::from(case.to_owned()), Value::from(u64::from(trial.number))];
        (self.rows)(trial)
            .into_iter()
            .map(move |row| first.iter().cloned().chain(row).chain(factors.clone()).collect())
    }
}

/// These tables of a run while they are written.
pub(super) struct PerTrialFiles<'a> {
    files: Vec<(&'static PerTrial, TableFile)>,
    factors: &'a Factors,
    /// The index of each case by its name.
    cases: BTreeMap<String, usize>,
}

impl<'a> PerTrialFiles<'a> {
    pub(super) fn begin(
        directory: &RunDirectory,
        run: &Run,
        factors: &'a Factors,
    ) -> Result<PerTrialFiles<'a>, LabError> {
        let has_flows = directory.scenario().cases.iter().any(|case| !case.flows.is_empty());
        let wanted = PER_TRIAL.iter().filter(|table| table.name != FLOWS || has_flows);
        let begin = |table: &'static PerTrial| {
            let columns = table.columns(factors);
            Ok((table, TableFile::begin(directory.path(), table.name, Format::Csv, columns)?))
        };
        let cases = run.cases.iter().enumerate().map(|(index, case)| (case.name.clone(), index));
        let files = wanted.map(begin).collect::<Result<_, LabError>>()?;
        Ok(PerTrialFiles { files, factors, cases: cases.collect() })
    }

    /// The rows of the next trial of the case of this name.
    pub(super) fn add(&mut self, case: &str, trial: &Trial) -> Result<(), LabError> {
        let factors = self.cases.get(case).map_or(&[][..], |index| self.factors.cells(*index));
        for (table, file) in &mut self.files {
            table.rows(case, factors, trial).try_for_each(|row| file.push(row))?;
        }
        Ok(())
    }

    pub(super) fn commit(self) -> Result<(), LabError> {
        self.files.into_iter().try_for_each(|(_, file)| file.commit())
    }
}
