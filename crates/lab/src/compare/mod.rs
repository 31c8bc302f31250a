//! Two runs, or two levels of a factor in one, held against one another: what differs, by how much,
//! and how surely.
//!
//! Everything is read from the analysed results of runs (`run.json`). A is what there was, B what
//! is asked about: `better` and `worse` are said of B. What is computed and why:
//! docs/statistics.md.

pub mod captures;
mod choice;
mod diverge;
mod judge;
mod of_scenario;
mod read;
mod sides;
mod surroundings;
pub(crate) mod table;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tcplab_scenario::Better;

use crate::Run;

pub use choice::{Asked, Metrics, Threshold};
pub use diverge::{Course, Divergence, Step, divergence};
pub(crate) use judge::median_interval;
pub use of_scenario::compare_as_written;
pub(crate) use of_scenario::of_scenario;
pub use read::read_run;

/// Why there is nothing to compare.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "each field is told in the message above it")]
pub enum CompareError {
    /// It is not a run.
    #[error("{path} is not the directory of a run: {what}")]
    NotARun { path: PathBuf, what: String },
    /// It is not finished.
    #[error("{path} has no results yet: it has no run.json")]
    NoResults { path: PathBuf },
    /// Its results are those of another version, or damaged.
    #[error("the results of {path} cannot be read: {what}")]
    Unreadable { path: PathBuf, what: String },
    /// Nothing says what to compare it with.
    #[error("with what is {run} to be compared?{}", several(.written))]
    NotWritten { run: String, written: Vec<String> },
    /// No such factor.
    #[error("`{asked}` is not varied in {run}")]
    NoFactor { run: String, asked: String, factors: Vec<String> },
    /// The levels are not clear.
    #[error("{what}")]
    Levels { what: String, factor: String, levels: Vec<String> },
    /// Nothing is in both.
    #[error("A and B have no case in common")]
    NoCases { a: Vec<String>, b: Vec<String> },
    /// A metric that nobody knows, or that the trials do not have.
    #[error("{what}")]
    NoMetric { what: String, known: Vec<String> },
}

/// Why the scenario does not say it.
fn several(written: &[String]) -> &'static str {
    match written {
        [] => " Its scenario has no `[[compare]]`",
        _ => " Its scenario has several `[[compare]]`",
    }
}

impl CompareError {
    /// What can be done about it.
    pub fn remedy(&self) -> Option<String> {
        let list = |names: &[String]| names.join(", ");
        Some(match self {
            CompareError::NotARun { .. } => {
                "name the directory that `tcplab run` made (RUNS/<name>/<time>-<hash>)".into()
            }
            CompareError::NoResults { path } => format!(
                "finish it with `tcplab run --resume {0}`, or, if all trials are there, make them \
                 with `tcplab report {0}`",
                path.display()
            ),
            CompareError::Unreadable { path, .. } => {
                format!("make them anew with `tcplab report {}`", path.display())
            }
            CompareError::NotWritten { written, .. } if written.is_empty() => {
                "name another run, or a factor of this one with `--by FACTOR`".into()
            }
            CompareError::NotWritten { written, .. } => format!("one of: {}", written.join("; ")),
            CompareError::NoFactor { factors, .. } if factors.is_empty() => {
                "compare two runs: this one has one case only".into()
            }
            CompareError::NoFactor { factors, .. } => format!("one of: {}", list(factors)),
            CompareError::Levels { factor, levels, .. } => {
                format!("say which two, `--by {factor} --levels A,B`, of: {}", list(levels))
            }
            CompareError::NoCases { a, b } => {
                format!("A has {}; B has {}", list(a), list(b))
            }
            CompareError::NoMetric { known, .. } => format!("there are: {}", list(known)),
        })
    }
}

/// Holds run B against run A, each read from its directory.
///
/// # Errors
/// When they have no case in common, or a metric is asked for that neither has.
pub fn compare_runs(
    a: (&Path, &Run),
    b: (&Path, &Run),
    asked: &Asked,
) -> Result<Comparison, CompareError> {
    let sides = [a, b].map(|(path, run)| side(path, path.display().to_string(), run));
    let matched = sides::of_runs(a.1, b.1)?;
    let warnings = surroundings::of_runs(a.1, b.1);
    judge::comparison(sides, None, matched, warnings, asked)
}

/// Holds one level of a factor against another within a run; `levels` may be left out where there
/// are but two. The factor may be named by its last words.
///
/// # Errors
/// When there is no such factor or level, or a metric is asked for that no trial has.
pub fn compare_levels(
    (path, run): (&Path, &Run),
    factor: &str,
    levels: Option<[&str; 2]>,
    asked: &Asked,
) -> Result<Comparison, CompareError> {
    let sides::Levels { factor, chosen, matched } = sides::of_levels(run, factor, levels)?;
    let sides = chosen.map(|level| side(path, level, run));
    judge::comparison(sides, Some(factor), matched, Vec::new(), asked)
}

fn side(path: &Path, label: String, run: &Run) -> Side {
    Side {
        label,
        scenario: run.name.clone(),
        directory: path.into(),
        started: run.started.clone(),
        seed: run.seed,
        world: run.world.clone(),
    }
}
