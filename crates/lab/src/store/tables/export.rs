//! One table of a run in any format.

use std::io::Write;
use std::path::Path;

use tcplab_results::Run;
use tcplab_table::{Format, Table, Value};

use super::super::directory::RunDirectory;
use super::factors::Factors;
use super::file::ROWS_PER_GROUP;
use super::per_trial::PER_TRIAL;
use super::trials::{TRIALS, Trials};
use crate::error::LabError;

/// The tables of a run: name, and what the rows are.
pub fn run_tables() -> impl Iterator<Item = (&'static str, &'static str)> {
    let trials = (TRIALS, "A row for each trial, with its factors and metrics.");
    std::iter::once(trials).chain(PER_TRIAL.iter().map(|table| (table.name, table.about)))
}

/// Writes the table of this name to `out`, and says how many rows it has. One trial after the
/// other is in memory.
///
/// # Errors
/// When it cannot be written, or there is no such table.
pub fn write_run_table<W: Write + Send>(
    directory: &RunDirectory,
    run: &Run,
    name: &str,
    format: Format,
    out: W,
    mut trial_done: impl FnMut(),
) -> Result<(u64, W), LabError> {
    let failed = || LabError::file("write", Path::new(name));
    let factors = Factors::of(run);
    let begin = |columns: Vec<tcplab_table::Column<Vec<Value>>>, out| {
        Table::with_groups(format, columns, ROWS_PER_GROUP, out).map_err(failed())
    };
    if name == TRIALS {
        let trials = Trials::of(run, &factors);
        let mut table = begin(trials.columns(), out)?;
        trials.rows().try_for_each(|row| table.push(row)).map_err(failed())?;
        return table.finish(&[]).map_err(failed());
    }
    let known = PER_TRIAL.iter().find(|table| table.name == name);
    let Some(per_trial) = known else {
        return Err(LabError::NotARun {
            path: directory.path().into(),
            what: format!("it has no table `{name}`"),
        });
    };
    let mut table = begin(per_trial.columns(&factors), out)?;
    for (index, case) in run.cases.iter().enumerate() {
        for known in &case.trials {
            let trial = directory.whole(known)?;
            let mut rows = per_trial.rows(&case.name, factors.cells(index), &trial);
            rows.try_for_each(|row| table.push(row)).map_err(failed())?;
            trial_done();
        }
    }
    table.finish(&[]).map_err(failed())
}
