//! The run's tables as files: for spreadsheets, notebooks, other programs.

mod comparisons;
mod export;
mod factors;
mod file;
mod per_trial;
mod removed;
mod row;
mod rows;
mod run_json;
mod trials;
mod typed;

use serde_json::value::{RawValue, to_raw_value};
use tcplab_results::{Run, Trial};

use super::directory::RunDirectory;
use crate::error::LabError;
use factors::Factors;
use per_trial::PerTrialFiles;
use trials::Trials;

pub use export::{run_tables, write_run_table};
pub(crate) use removed::note_removed_packets;
pub(crate) use row::row;

/// Writes `trials.csv` and `trials.parquet` (a row for each trial, with its factors and metrics),
/// the tables of which each trial has some rows (`PER_TRIAL`), `comparisons.csv` and
/// `comparisons.json` (where the scenario asks for comparisons) and, last, `run.json` (everything),
/// which makes the run a finished one. One trial after the other is in memory.
pub(crate) fn write_tables(directory: &RunDirectory, run: &Run) -> Result<(), LabError> {
    let factors = Factors::of(run);
    Trials::of(run, &factors).write(directory.path())?;
    let mut tables = PerTrialFiles::begin(directory, run, &factors)?;
    // One trial after the other is in memory: it is added to all tables.
    let mut each = |case: &str, known: &Trial| -> Result<Box<RawValue>, LabError> {
        let trial = directory.whole(known)?;
        tables.add(case, &trial)?;
        Ok(to_raw_value(&*trial).expect("plain data has a JSON form"))
    };
    let file = run_json::draft(directory, run, &mut each)?;
    tables.commit()?;
    comparisons::write(directory, run)?;
    file.commit().map(drop)
}

#[cfg(test)]
mod page;
