//! The results of a finished run.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;

use tcplab_results::Run;

use crate::store::{PLAN, RUN};
use tcplab_results::compare::CompareError;

/// The most bytes of a file with results: those of some hundred thousand trials.
const LARGEST: u64 = 2 << 30;

/// Whether a place is a file with the results of a run, such as one that is kept as a baseline.
pub fn is_results(path: &Path) -> bool {
    path.is_file() && path.extension().is_some_and(|ending| ending == "json")
}

/// Reads what `tcplab run` or `tcplab report` made of a run, from its directory, or from a copy of
/// its `run.json`. Trials are not looked at.
///
/// # Errors
/// When it is no run, not finished, or of a version that is not understood.
pub fn read_run(path: &Path) -> Result<Run, CompareError> {
    let what = |what: &str| CompareError::NotARun { path: path.into(), what: what.into() };
    if !path.exists() {
        return Err(what("no such directory"));
    }
    if !path.is_dir() && !is_results(path) {
        return Err(what("it is a file, not a directory"));
    }
    let unreadable = |what: String| {
        Err(CompareError::Unreadable { path: path.into(), what: format!("{RUN}: {what}") })
    };
    let file = if is_results(path) { path.to_owned() } else { path.join(RUN) };
    match bounded(&file) {
        Ok(text) => serde_json::from_slice(&text).or_else(|error| unreadable(error.to_string())),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            if path.join(PLAN).exists() {
                Err(CompareError::NoResults { path: path.into() })
            } else {
                Err(what("no run.json"))
            }
        }
        Err(error) => unreadable(error.to_string()),
    }
}

/// What a file has, if that is not more than results can have.
fn bounded(file: &Path) -> io::Result<Vec<u8>> {
    if fs::metadata(file)?.len() > LARGEST {
        return Err(io::Error::other("more than 2 GiB: these are no results of a run"));
    }
    fs::read(file)
}
