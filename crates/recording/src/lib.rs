//! What a trial leaves behind, whichever world it ran in: the same files, written and read here.
//!
//! | file | what |
//! |---|---|
//! | `client.pcapng`, `server.pcapng` | every packet as it left and entered that endpoint |
//! | `path.jsonl` | the ground truth: the path's verdict on every packet, a row each |
//! | `samples.csv` | `TCP_INFO` of both sockets, a row each time it was looked at |
//! | `samples-NAME.csv` | the same of another flow, where there are several |
//! | `app.json` | what the applications did and saw, where these were tcplab's |
//! | `result.json` | how the trial was set up and how the world behaved |
//! | `DONE` | written last: without it the directory is not a recording |
//!
//! In the captures, a frame that the path dropped says why in its comment.

mod capture;
mod csv;
pub mod quality;
mod read;
mod record;
mod sample;
mod sketch;
mod write;

#[cfg(test)]
mod tests;

pub use capture::Captured;
pub use csv::parse as parse_samples;
pub use read::{Recording, TruthRows};
pub use record::{
    AppLog, ConnectionLog, EndpointRecord, FlowLog, Lateness, MoverRecord, OptionRecord,
    PoolRecord, RingWait, TrialRecord, TruthRow, WorldRecord,
};
pub use sample::{Column, Sample};
pub use sketch::Sketch;
pub use write::RecordingWriter;

use std::io;
use std::path::PathBuf;

use tcplab_units::Endpoint;

/// The name of an endpoint's capture in a recording.
pub fn capture_file(endpoint: Endpoint) -> &'static str {
    match endpoint {
        Endpoint::Client => "client.pcapng",
        Endpoint::Server => "server.pcapng",
    }
}

/// Why a recording could not be written or read.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "each field is told in the message above it")]
pub enum RecordingError {
    /// Such as a full disk or a missing permission.
    #[error("cannot {verb} {path}: {source}")]
    File { verb: &'static str, path: PathBuf, source: io::Error },
    /// The file is not what tcplab writes.
    #[error("{path}, line {line}: {what}")]
    Malformed { path: PathBuf, line: usize, what: String },
    /// There is no `DONE`.
    #[error("{path} is not a whole recording: it has no DONE")]
    Unfinished { path: PathBuf },
}

impl RecordingError {
    /// What the user can do about it, where something can be done.
    pub fn remedy(&self) -> Option<&'static str> {
        match self {
            RecordingError::File { verb, source, .. } if *verb != "read" => room_for_files(source),
            _ => None,
        }
    }
}

/// What helps when a file could not be made or written.
pub fn room_for_files(refusal: &io::Error) -> Option<&'static str> {
    match refusal.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            Some("make room on that disk, or choose another with `--runs DIR`")
        }
        io::ErrorKind::FileTooLarge => {
            Some("raise the limit on the size of files (`ulimit -f unlimited`)")
        }
        io::ErrorKind::PermissionDenied
        | io::ErrorKind::ReadOnlyFilesystem
        | io::ErrorKind::NotFound
        | io::ErrorKind::NotADirectory => Some("choose another place with `--runs DIR`"),
        _ => None,
    }
}

pub(crate) const TRUTH_FILE: &str = "path.jsonl";
pub(crate) const SAMPLES_FILE: &str = "samples.csv";

/// The samples of one of several flows; its name is fit for that.
pub(crate) fn flow_samples_file(flow: &str) -> String {
    format!("samples-{flow}.csv")
}

pub(crate) const APP_FILE: &str = "app.json";
pub(crate) const RESULT_FILE: &str = "result.json";
pub(crate) const DONE_FILE: &str = "DONE";
