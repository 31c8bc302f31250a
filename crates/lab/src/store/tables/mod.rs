//! The run's tables as files: for spreadsheets, notebooks, other programs.

mod comparisons;
mod export;
mod factors;
mod file;
mod per_trial;
mod row;
mod rows;
mod trials;
mod typed;

use std::io::{self, Write};
use std::mem;

use tcplab_results::{Run, Trial};

use super::directory::RunDirectory;
use super::files::{Draft, RUN};
use crate::error::LabError;
use factors::Factors;
use per_trial::PerTrialFiles;
use trials::Trials;

pub use export::{run_tables, write_run_table};
pub(crate) use row::row;

/// Writes `trials.csv` and `trials.parquet` (a row for each trial, with its factors and metrics),
/// the tables of which each trial has some rows (`PER_TRIAL`), `comparisons.csv` and
/// `comparisons.json` (where the scenario asks for comparisons) and, last, `run.json` (everything),
/// which makes the run a finished one. One trial after the other is in memory.
///
/// # Errors
/// When one cannot be written, or a trial cannot be read.
pub fn write_tables(directory: &RunDirectory, run: &mut Run) -> Result<(), LabError> {
    let mut whole = Whole::begin(directory, run)?;
    let factors = Factors::of(run);
    Trials::of(run, &factors).write(directory)?;
    let mut tables = PerTrialFiles::begin(directory, run, &factors)?;
    for (index, case) in run.cases.iter().enumerate() {
        for known in &case.trials {
            let trial = directory.whole(known);
            tables.add(&case.name, &trial)?;
            whole.add(index, &trial)?;
        }
    }
    tables.commit()?;
    comparisons::write(directory, run)?;
    whole.end()
}

/// `run.json` while it is written.
struct Whole {
    draft: Draft,
    /// All but the trials, in the pieces between which they stand.
    gaps: Vec<String>,
    /// The case that comes next, and how many trials of it there are already.
    place: (usize, usize),
}

impl Whole {
    fn begin(directory: &RunDirectory, run: &mut Run) -> Result<Whole, LabError> {
        let gaps = skeleton(run);
        let mut draft = Draft::begin(directory.path(), RUN)?;
        draft.write(|out| out.write_all(gaps[0].as_bytes()))?;
        Ok(Whole { draft, gaps, place: (0, 0) })
    }

    /// The next trial, which is of the case at this index.
    fn add(&mut self, case: usize, trial: &Trial) -> Result<(), LabError> {
        while self.place.0 < case {
            self.close()?;
        }
        let before: &[u8] = if self.place.1 == 0 { b"[\n" } else { b",\n" };
        self.place.1 += 1;
        self.draft.write(|out| {
            out.write_all(before)?;
            serde_json::to_writer(out, trial).map_err(io::Error::from)
        })
    }

    /// Ends the list of a case's trials, and writes what is between it and the next.
    fn close(&mut self) -> Result<(), LabError> {
        let end: &[u8] = if self.place.1 == 0 { b"[]" } else { b"\n]" };
        self.place = (self.place.0 + 1, 0);
        let after = self.gaps[self.place.0].as_bytes();
        self.draft.write(|out| out.write_all(end).and_then(|()| out.write_all(after)))
    }

    fn end(mut self) -> Result<(), LabError> {
        while self.place.0 + 1 < self.gaps.len() {
            self.close()?;
        }
        self.draft.write(|out| out.write_all(b"\n"))?;
        self.draft.commit().map(drop)
    }
}

/// `run.json` without trials, in the pieces between which they stand.
fn skeleton(run: &mut Run) -> Vec<String> {
    /// No text in it holds this: its quotes would be escaped.
    const GAP: &str = "\"trials\": []";
    let trials: Vec<Vec<Trial>> =
        run.cases.iter_mut().map(|case| mem::take(&mut case.trials)).collect();
    let text = serde_json::to_string_pretty(run).expect("plain data has a JSON form");
    run.cases.iter_mut().zip(trials).for_each(|(case, trials)| case.trials = trials);
    let mut pieces: Vec<String> = text.split(GAP).map(Into::into).collect();
    let last = pieces.len() - 1;
    pieces[..last].iter_mut().for_each(|piece| *piece += "\"trials\": ");
    pieces
}

#[cfg(test)]
mod page;
