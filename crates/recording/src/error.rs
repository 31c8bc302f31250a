//! Why a recording could not be written or read.

use std::io;
use std::path::{Path, PathBuf};

/// The flag that names the place of runs.
pub const RUNS_FLAG: &str = "--runs";

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
    /// It is complete, but for captures, samples and the path's log.
    #[error("{path} has no packets: they were removed, or never recorded")]
    NoPackets { path: PathBuf },
}

impl RecordingError {
    /// What the user can do about it, where something can be done; `flag` names the place.
    pub fn remedy(&self, flag: &str) -> Option<String> {
        match self {
            RecordingError::File { verb: "read", path, source } => readable_again(path, source),
            RecordingError::File { source, .. } => room_for_files(source, flag),
            _ => None,
        }
    }
}

/// What helps when this user may not read what another recorded, which is private.
pub fn readable_again(path: &Path, refusal: &io::Error) -> Option<String> {
    (refusal.kind() == io::ErrorKind::PermissionDenied).then(|| of_owner(path))
}

/// What helps where only its owner may read something.
pub fn of_owner(path: &Path) -> String {
    format!(
        "let its owner do this: only they may read it (`chmod -R go+rX {}` lets others)",
        path.display()
    )
}

/// What helps when a file could not be made or written; `flag` names the place.
pub fn room_for_files(refusal: &io::Error, flag: &str) -> Option<String> {
    match refusal.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            Some(format!("make room on that disk, or choose another with `{flag} DIR`"))
        }
        io::ErrorKind::FileTooLarge => {
            Some("raise the limit on the size of files (`ulimit -f unlimited`)".into())
        }
        io::ErrorKind::PermissionDenied
        | io::ErrorKind::ReadOnlyFilesystem
        | io::ErrorKind::NotFound
        | io::ErrorKind::NotADirectory => Some(format!("choose another place with `{flag} DIR`")),
        _ => None,
    }
}
