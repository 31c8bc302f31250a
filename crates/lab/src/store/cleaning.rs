//! What runs take of the disk, and how to get it back. Links are never followed.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use tcplab_recording::{is_of_packets, remove_packets};
use tcplab_units::Span;

use super::arrangement::UNUSED;
use super::directory::WARM_UP;
use super::files::{FLAWED, RUN, SCENARIO_FILE, TRIALS, lock, read_plan};
use super::tables::note_removed_packets;
use super::trial_files::{FAILED, TRIAL, without_packets};
use crate::error::LabError;

/// Commands put runs into folders of folders, no deeper than this.
const DEPTH: u32 = 4;

/// A run and its size.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunSize {
    /// Where it is.
    pub path: PathBuf,
    /// When it was started, UTC, RFC 3339.
    pub started: String,
    /// Whether its tables and report are there.
    pub is_finished: bool,
    /// All of it, bytes.
    pub bytes: u64,
    /// Captures, samples and the path's logs, bytes.
    pub packet_bytes: u64,
}

impl RunSize {
    /// The run in `path`.
    ///
    /// # Errors
    /// When it is none, or cannot be read.
    pub fn at(path: &Path) -> Result<RunSize, LabError> {
        let not_a_run = |what: &str| LabError::NotARun { path: path.into(), what: what.to_owned() };
        let kind = fs::symlink_metadata(path).map_err(LabError::file("read", path))?;
        if kind.is_symlink() {
            return Err(not_a_run("it is a link, and links are not followed"));
        }
        let plan = read_plan(path)?;
        let has = |name: &str| fs::symlink_metadata(path.join(name)).is_ok();
        if !has(SCENARIO_FILE) || !is_directory(&path.join(TRIALS)) {
            return Err(not_a_run("it has no scenario or no trials"));
        }
        let (mut bytes, mut packet_bytes) = (0, 0);
        let count = &mut |file: &Path, size: u64| {
            bytes += size;
            packet_bytes += if is_of_trial(path, file) && is_of_packets(file) { size } else { 0 };
        };
        walk(path, count)?;
        let is_finished = path.join(RUN).exists();
        Ok(RunSize { path: path.into(), started: plan.started, is_finished, bytes, packet_bytes })
    }

    /// All runs in `place`, which may be one itself, the oldest first. What is no run, or cannot be
    /// read, is left out.
    ///
    /// # Errors
    /// When `place` is a link or cannot be read, or there is nothing but what may not be read.
    pub fn all(place: &Path) -> Result<Vec<RunSize>, LabError> {
        let kind = fs::symlink_metadata(place).map_err(LabError::file("read", place))?;
        if kind.is_symlink() {
            let what = "it is a link, and links are not followed".to_owned();
            return Err(LabError::NotARun { path: place.into(), what });
        }
        let (mut found, mut unread) = (Vec::new(), None);
        search(place, DEPTH, &mut found, &mut unread)?;
        if let Some(error) = unread.filter(|_| found.is_empty()) {
            return Err(error);
        }
        found.sort_by(|a, b| (&a.started, &a.path).cmp(&(&b.started, &b.path)));
        Ok(found)
    }

    /// How long ago it was started; zero for a time that is to come or cannot be read.
    pub fn age(&self) -> Span {
        let started: Option<Timestamp> = self.started.parse().ok();
        let age = started.map(|started| Timestamp::now().duration_since(started));
        age.and_then(|age| u64::try_from(age.as_nanos()).ok()).map_or(Span::ZERO, Span::from_nanos)
    }

    /// Removes the captures, samples and logs of its trials; their results, the tables and the
    /// report stay, and say that the packets are gone. Returns how many bytes that freed.
    ///
    /// # Errors
    /// When another process works on the run, or a file cannot be removed.
    pub fn remove_packets(&self) -> Result<u64, LabError> {
        let _lock = lock(&self.path)?;
        for folder in [TRIALS, FLAWED, WARM_UP, UNUSED] {
            for trial in directories(&self.path.join(folder))? {
                // A trial that was not analysed would be lost.
                let is_known = [TRIAL, FAILED].iter().any(|name| trial.join(name).exists());
                if is_known || [FLAWED, WARM_UP].contains(&folder) {
                    without_packets(&self.path, &trial)?;
                    remove_packets(&trial)?;
                }
            }
        }
        note_removed_packets(&self.path)?;
        let left = RunSize::at(&self.path)?;
        Ok(self.packet_bytes.saturating_sub(left.packet_bytes))
    }

    /// Removes the run, and the folder of its scenario if that is then empty. Returns how many
    /// bytes that freed.
    ///
    /// # Errors
    /// When another process works on the run, or a file cannot be removed.
    pub fn remove(&self) -> Result<u64, LabError> {
        let _lock = lock(&self.path)?;
        // It may have become something else since it was listed.
        RunSize::at(&self.path)?;
        fs::remove_dir_all(&self.path).map_err(LabError::file("remove", &self.path))?;
        if let Some(folder) = self.path.parent() {
            let _ = fs::remove_dir(folder);
        }
        Ok(self.bytes)
    }
}

/// Adds the runs in `place`, and the first error of what in it may not be read.
fn search(
    place: &Path,
    depth: u32,
    found: &mut Vec<RunSize>,
    unread: &mut Option<LabError>,
) -> Result<(), LabError> {
    match RunSize::at(place) {
        Ok(run) => {
            found.push(run);
            return Ok(());
        }
        Err(LabError::File { verb, path, source })
            if source.kind() == io::ErrorKind::PermissionDenied =>
        {
            return Err(LabError::File { verb, path, source });
        }
        Err(_) => {}
    }
    if depth > 0 {
        for folder in directories(place)? {
            // What may not be read holds nothing that could be removed.
            if let Err(error) = search(&folder, depth - 1, found, unread) {
                unread.get_or_insert(error);
            }
        }
    }
    Ok(())
}

/// Whether a file of the run in `run` lies in the directory of a trial.
fn is_of_trial(run: &Path, file: &Path) -> bool {
    let inside = file.strip_prefix(run).unwrap_or(file);
    let folder = inside.components().next().map(|it| it.as_os_str().to_owned());
    inside.components().count() == 3
        && folder.is_some_and(|it| [TRIALS, FLAWED, WARM_UP, UNUSED].iter().any(|of| it == *of))
}

fn is_directory(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|kind| kind.is_dir())
}

/// The directories in one; links are none. None of one that is not there.
fn directories(place: &Path) -> Result<Vec<PathBuf>, LabError> {
    if !is_directory(place) {
        return Ok(Vec::new());
    }
    let entries = fs::read_dir(place).map_err(LabError::file("list", place))?.flatten();
    let mut all: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    all.retain(|path| is_directory(path));
    all.sort();
    Ok(all)
}

/// Every file below `place` with its size; a link has that of itself.
fn walk(place: &Path, count: &mut impl FnMut(&Path, u64)) -> Result<(), LabError> {
    let mut open = vec![place.to_owned()];
    while let Some(directory) = open.pop() {
        let entries = match fs::read_dir(&directory) {
            // Somebody else removed it meanwhile.
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            entries => entries.map_err(LabError::file("list", &directory))?,
        };
        for entry in entries.flatten() {
            match entry.metadata() {
                Ok(kind) if kind.is_dir() => open.push(entry.path()),
                Ok(kind) => count(&entry.path(), kind.len()),
                Err(_) => {}
            }
        }
    }
    Ok(())
}
