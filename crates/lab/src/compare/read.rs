//! The results of a finished run.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;

use serde::Deserialize;
use tcplab_quantities::{Document, RUN_DOCUMENT};
use tcplab_results::Run;
use tcplab_results::compare::CompareError;
use tcplab_units::visible_line;

use crate::store::{PLAN, RUN};

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
        Ok(text) => {
            check_header(path, &text)?;
            serde_json::from_slice(&text).or_else(|error| unreadable(error.to_string()))
        }
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

/// Whether a document is the results of a run, of a version that is known.
fn check_header(path: &Path, text: &[u8]) -> Result<(), CompareError> {
    #[derive(Deserialize)]
    struct Header {
        schema: Option<String>,
        version: Option<u64>,
    }
    let is_other = |what: String| CompareError::OtherDocument { path: path.into(), what };
    let header = match serde_json::from_slice::<Header>(text) {
        Ok(header) => header,
        Err(error) if is_results(path) => return Err(is_other(format!("{error}"))),
        // Of a run directory it is known what its file should be.
        Err(_) => return Ok(()),
    };
    let Document { schema, version: known, .. } = RUN_DOCUMENT;
    match header {
        Header { schema: Some(other), .. } if other != schema => {
            Err(is_other(format!("it is a document `{}`", visible_line(&other))))
        }
        Header { schema: None, .. } if is_results(path) => {
            Err(is_other(format!("it is no document `{schema}`")))
        }
        Header { version: Some(version), .. } if version > known => {
            Err(CompareError::Newer { path: path.into(), version, known })
        }
        _ => Ok(()),
    }
}

/// What a file has, if that is not more than results can have.
fn bounded(file: &Path) -> io::Result<Vec<u8>> {
    if fs::metadata(file)?.len() > LARGEST {
        return Err(io::Error::other("more than 2 GiB: these are no results of a run"));
    }
    fs::read(file)
}
