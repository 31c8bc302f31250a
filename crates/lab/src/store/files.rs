//! The files of a run directory: their names, and how each is written whole or not at all.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs::{self, File, TryLockError};
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tcplab_quantities::ENVIRONMENT_DOCUMENT;
use tcplab_recording::make_private_directory;
use tcplab_scenario::Scenario;
use tcplab_testbed::open_lock_file;

use crate::error::LabError;
use crate::json::to_json;
use crate::plan::Plan;

pub(crate) const PLAN: &str = "plan.json";
pub(crate) const SCENARIO_FILE: &str = "scenario.toml";
/// The files that the scenario refers to, by the names it has for them; all are plain text.
pub(crate) const FILES: &str = "files.json";
pub(crate) const ENVIRONMENT: &str = "environment.json";
pub(crate) const RUN: &str = "run.json";
/// How many blocks there are and why, once that is known; only where a plan does not fix it.
pub(super) const BLOCKS: &str = "blocks.json";
const LOCK: &str = "lock";
pub(crate) const TRIALS: &str = "trials";
/// Trials that failed or whose path misbehaved, and which were run again.
pub(crate) const FLAWED: &str = "flawed";
/// A trial that is being made. Nothing with this beginning is ever taken for a trial.
pub(crate) const PARTIAL: &str = ".partial-";

/// `environment.json`: names and values.
#[derive(Serialize, Deserialize)]
pub(super) struct EnvironmentFile<'a> {
    pub(super) environment: Cow<'a, [(String, String)]>,
}

impl EnvironmentFile<'_> {
    pub(super) fn json(environment: &[(String, String)]) -> Vec<u8> {
        to_json(&ENVIRONMENT_DOCUMENT.of(EnvironmentFile { environment: environment.into() }))
    }
}

/// A trial's directory, relative to the run's.
pub(crate) fn trial_directory(case: &str, number: u32) -> String {
    format!("{TRIALS}/{case}-{number}")
}

/// The folder of the runs of a scenario, below `runs`: a name without a way out of it, and without
/// what a terminal takes for a command.
pub(crate) fn folder_of(runs: &Path, name: &str) -> PathBuf {
    let is_dots = name.chars().all(|c| c == '.');
    // Windows reads more characters as parts of a path.
    let is_of_windows = |c: char| cfg!(windows) && r#"\:*?"<>|"#.contains(c);
    let unfit = |c: char| c == '/' || c.is_control() || is_dots || is_of_windows(c);
    runs.join(if name.is_empty() { "-".into() } else { name.replace(unfit, "-") })
}

/// Removes a file, if it is there.
pub(crate) fn remove(path: &Path) -> Result<(), LabError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(LabError::file("remove", path)(error))
        }
        _ => Ok(()),
    }
}

/// Writes `name` in a run's directory whole or not at all.
pub(crate) fn replace_in(
    directory: &Path,
    name: &str,
    content: &[u8],
) -> Result<PathBuf, LabError> {
    let mut draft = Draft::begin(directory, name)?;
    draft.write(|out| io::Write::write_all(out, content))?;
    draft.commit()
}

/// A file in a run's directory while it is written. It is there, whole, once it is committed;
/// dropped before that, it is as if it had never been begun.
pub(crate) struct Draft {
    target: PathBuf,
    partial: PathBuf,
    /// Nothing once it is committed.
    out: Option<BufWriter<File>>,
}

impl Draft {
    pub(crate) fn begin(directory: &Path, name: &str) -> Result<Draft, LabError> {
        let target = directory.join(name);
        let partial = directory.join(format!("{PARTIAL}{}", name.replace('/', "-")));
        // A leftover, or a link that someone put there.
        remove(&partial)?;
        let file = File::create_new(&partial).map_err(LabError::file("write", &target))?;
        Ok(Draft { target, partial, out: Some(BufWriter::new(file)) })
    }

    pub(crate) fn write(
        &mut self,
        write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
    ) -> Result<(), LabError> {
        let Draft { target, out, .. } = self;
        out.as_mut().map_or(Ok(()), write).map_err(LabError::file("write", target))
    }

    pub(crate) fn commit(mut self) -> Result<PathBuf, LabError> {
        let written = self.out.take().map_or(Ok(()), |out| {
            out.into_inner()?.sync_all()?;
            fs::rename(&self.partial, &self.target)
        });
        if written.is_err() {
            let _ = fs::remove_file(&self.partial);
        }
        written.map_err(LabError::file("write", &self.target))?;
        Ok(self.target.clone())
    }
}

impl io::Write for Draft {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.as_mut().map_or(Ok(bytes.len()), |out| out.write(bytes))
    }
    fn flush(&mut self) -> io::Result<()> {
        self.out.as_mut().map_or(Ok(()), BufWriter::flush)
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if self.out.is_some() {
            let _ = fs::remove_file(&self.partial);
        }
    }
}

/// The plan of the run in `path`.
pub(crate) fn read_plan(path: &Path) -> Result<Plan, LabError> {
    let damaged = |how: String| {
        let what = format!("{PLAN} {how}");
        LabError::NotARun { path: path.into(), what }
    };
    let text = fs::read(path.join(PLAN)).map_err(|error| match error.kind() {
        io::ErrorKind::PermissionDenied => LabError::file("read", path)(error),
        _ => damaged(format!("cannot be read: {error}")),
    })?;
    serde_json::from_slice(&text).map_err(|error| damaged(format!("is damaged: {error}")))
}

/// The scenario of the run in `path`, as it is written there.
pub(crate) fn read_scenario(path: &Path, name: &str) -> Result<Scenario, LabError> {
    let file = path.join(SCENARIO_FILE);
    let source = fs::read_to_string(&file).map_err(LabError::file("read", &file))?;
    let files = kept_files(path)?;
    let mut read = |name: &str| match files.get(name) {
        Some(content) => Ok(content.clone().into_bytes()),
        None => Err(format!("`{name}` is not among the files of this run")),
    };
    Ok(Scenario::parse_with_files(&source, name, &mut read).map_err(Box::new)?)
}

/// The files that the scenario of the run in `path` refers to, as they were when it began, by the
/// names it has for them; none where there is no run, or it refers to none.
///
/// # Errors
/// When they cannot be read.
pub fn kept_files(path: &Path) -> Result<BTreeMap<String, String>, LabError> {
    let path = path.join(FILES);
    let text = match fs::read(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(BTreeMap::new()),
        text => text.map_err(LabError::file("read", &path))?,
    };
    serde_json::from_slice(&text)
        .map_err(|error| LabError::NotARun { path, what: format!("it is damaged: {error}") })
}

/// Makes a directory that was not there: two runs may start in the same second.
pub(super) fn fresh(parent: &Path, name: &str) -> Result<PathBuf, LabError> {
    fs::create_dir_all(parent).map_err(LabError::file("make", parent))?;
    let mut path = parent.join(name);
    for number in 2.. {
        match make_private_directory(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                path = parent.join(format!("{name}-{number}"));
            }
            made => {
                made.map_err(LabError::file("make", &path))?;
                break;
            }
        }
    }
    Ok(path)
}

pub(crate) fn lock(path: &Path) -> Result<File, LabError> {
    let name = path.join(LOCK);
    let file = open_lock_file(&name).map_err(LabError::file("open", &name))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(LabError::Busy { path: path.into() }),
        Err(TryLockError::Error(source)) => {
            Err(LabError::File { verb: "lock", path: name, source })
        }
    }
}

/// The newest run of a scenario, or of any, below `runs`.
pub(super) fn newest(
    runs: &Path,
    name: Option<&str>,
    fits: impl Fn(&Path) -> bool,
) -> Option<PathBuf> {
    let scenarios = match name {
        Some(name) => vec![folder_of(runs, name)],
        None => entries(runs),
    };
    newest_in(&scenarios, fits)
}

/// The newest run in these folders. Run directories are named by their time, so the last name is
/// the newest.
pub(super) fn newest_in(folders: &[PathBuf], fits: impl Fn(&Path) -> bool) -> Option<PathBuf> {
    let runs = folders.iter().flat_map(|folder| entries(folder));
    runs.filter(|path| fits(path)).max_by(|a, b| a.file_name().cmp(&b.file_name()))
}

fn entries(directory: &Path) -> Vec<PathBuf> {
    fs::read_dir(directory)
        .map(|entries| entries.flatten().map(|entry| entry.path()).collect())
        .unwrap_or_default()
}
