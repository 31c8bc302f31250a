//! The outcome of `tcplab run`.

use std::path::PathBuf;
use std::process::ExitCode;

use tcplab_results::ClaimCounts;

/// The outcome of one run.
pub(crate) struct RunSummary {
    pub(crate) code: ExitCode,
    pub(crate) state: RunEnd,
}

/// How far a run came.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum RunEnd {
    /// Tables and report are complete.
    Finished {
        /// How its claims went.
        claims: ClaimCounts,
        /// Where the report begins.
        report: PathBuf,
    },
    /// It can be resumed from this directory, if there is one.
    Unfinished(Option<PathBuf>),
    /// A dry run.
    NotRun,
}
