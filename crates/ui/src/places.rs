//! Directories below that of all runs, by the names that a page has for them.

use std::path::{Component, Path, PathBuf};

use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use tcplab_lab::packets_again;
use tcplab_recording::Recording;
use tcplab_units::visible_line;

use crate::error::Refusal;

/// A run by its place below the directory of all runs: `interruption/20261126T221500-0123abcd`.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct RunName {
    pub(crate) run: String,
}

/// A trial of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TrialName {
    pub(crate) run: String,
    pub(crate) case: String,
    pub(crate) trial: u32,
}

/// The directory of a run.
///
/// # Errors
/// When there is none, or the name leads elsewhere.
pub(crate) fn run_directory(runs: &Path, name: &str) -> Result<PathBuf, Refusal> {
    let path = below(runs, name)?;
    if path.join("plan.json").is_file() {
        Ok(path)
    } else {
        Err(Refusal::missing(format!("there is no run {}", visible_line(name))))
    }
}

/// The file or directory of this name below `place`, links followed.
///
/// # Errors
/// When there is none, or the name leads elsewhere.
pub(crate) fn below(place: &Path, name: &str) -> Result<PathBuf, Refusal> {
    let is_plain = Path::new(name).components().all(|it| matches!(it, Component::Normal(_)));
    let elsewhere = || {
        let what = match name {
            "" => "a name is missing".into(),
            _ => format!("`{}` is no name: it leads elsewhere", visible_line(name)),
        };
        Refusal::new(StatusCode::FORBIDDEN, what)
    };
    if !is_plain || name.is_empty() || name.contains('\0') {
        return Err(elsewhere());
    }
    let missing = |_| Refusal::missing(format!("there is no {}", visible_line(name)));
    let found = place.join(name).canonicalize().map_err(missing)?;
    let place = place.canonicalize().map_err(missing)?;
    if found.starts_with(place) { Ok(found) } else { Err(elsewhere()) }
}

/// Refuses what needs the packets of a trial that is over and has none any more.
///
/// # Errors
/// Says so, and which command records them again.
pub(crate) fn need_packets(trial: &Path) -> Result<(), Refusal> {
    // One that is running is incomplete.
    let Ok(recording) = Recording::open(trial) else { return Ok(()) };
    recording.need_packets().map_err(|error| {
        let again = packets_again(trial).map(|again| format!("; {again}")).unwrap_or_default();
        Refusal::missing(format!("{error}{again}"))
    })
}

/// The name of a run in this directory. Where a command was given its whole path, and the
/// directory of all runs by a relative one or through a link, both are followed.
pub(crate) fn name_of(runs: &Path, path: &Path) -> String {
    if let Ok(name) = path.strip_prefix(runs) {
        return name.display().to_string();
    }
    let whole = path.canonicalize().ok().zip(runs.canonicalize().ok());
    let name = whole.as_ref().and_then(|(path, runs)| path.strip_prefix(runs).ok());
    name.unwrap_or(path).display().to_string()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn names_do_not_lead_elsewhere() {
        let home = tempfile::tempdir().unwrap();
        let runs = home.path().join("runs");
        fs::create_dir_all(runs.join("a/1")).unwrap();
        fs::write(runs.join("a/1/plan.json"), "{}").unwrap();
        fs::write(home.path().join("secret"), "s").unwrap();
        symlink(home.path(), runs.join("out")).unwrap();
        assert!(run_directory(&runs, "a/1").is_ok());
        for name in ["../secret", "a/../../secret", "/etc/passwd", "out/secret", "", ".", "a/1/.."]
        {
            let refused = below(&runs, name).unwrap_err();
            assert_eq!(refused.status, StatusCode::FORBIDDEN, "{name}");
        }
        assert_eq!(run_directory(&runs, "a/2").unwrap_err().status, StatusCode::NOT_FOUND);
        assert_eq!(run_directory(&runs, "a").unwrap_err().status, StatusCode::NOT_FOUND);
    }

    #[test]
    fn name_is_found_by_relative_path_and_through_links() {
        let home = tempfile::tempdir_in(".").unwrap();
        let absolute = home.path().canonicalize().unwrap();
        let relative = Path::new(home.path().file_name().unwrap());
        fs::create_dir_all(absolute.join("runs/a/1")).unwrap();
        symlink(absolute.join("runs"), absolute.join("link")).unwrap();
        for runs in [absolute.join("runs"), relative.join("runs"), absolute.join("link")] {
            for path in [absolute.join("runs/a/1"), relative.join("runs/a/1")] {
                assert_eq!(name_of(&runs, &path), "a/1", "{runs:?} {path:?}");
            }
        }
    }
}
