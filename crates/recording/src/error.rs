//! Why a recording could not be written or read.

use std::io;
use std::path::PathBuf;

/// Why a recording could not be written or read.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the message names each field")]
pub enum RecordingError {
    /// Such as a full disk or a missing permission.
    #[error("cannot {verb} {path}: {source}")]
    File { verb: &'static str, path: PathBuf, source: io::Error },
    /// The file is not what tcplab writes.
    #[error("{path}, line {line}: {what}")]
    Malformed { path: PathBuf, line: usize, what: String },
    /// It has no `DONE`: it is being written, or its trial did not end.
    #[error("incomplete recording: no DONE file in {path}")]
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
