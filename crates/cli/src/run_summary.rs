//! What came of a run of `tcplab run`.

use std::path::PathBuf;
use std::process::ExitCode;

/// What came of one run.
pub(crate) struct RunSummary {
    pub(crate) code: ExitCode,
    pub(crate) state: RunEnd,
}

/// How far a run came.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum RunEnd {
    /// Its tables and its report are there.
    Finished {
        /// Claims that passed.
        passed: usize,
        /// All claims.
        claims: usize,
        /// Where the report begins.
        report: PathBuf,
    },
    /// It can be resumed from this directory, if there is one.
    Unfinished(Option<PathBuf>),
    /// Nothing was to be run.
    NotRun,
}
