//! Where the files of a capture are, and what is made of it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::Serialize;

use crate::error::Refusal;

/// Files of one capture.
const FILES: usize = 64;
/// Where its files are.
pub(super) const FILES_PLACE: &str = "files";
/// Where files are that have not come whole.
pub(super) const PARTS: &str = "parts";
/// Where things are that were made of it.
pub(super) const MADE: &str = "made";

/// A file with its size.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct NamedFile {
    pub(crate) name: String,
    pub(crate) bytes: u64,
}

/// The directory of a capture.
#[derive(Debug)]
pub(super) struct CapturePlace(pub(super) PathBuf);

impl CapturePlace {
    /// Its files with their sizes, in the order in which they came.
    pub(super) fn files(&self) -> Vec<NamedFile> {
        files_in(&self.0.join(FILES_PLACE))
    }

    /// Their paths.
    pub(super) fn paths(&self) -> Vec<PathBuf> {
        let place = self.0.join(FILES_PLACE);
        self.files().into_iter().map(|file| place.join(file.name)).collect()
    }

    /// The path of a file of this name.
    pub(super) fn path(&self, name: &str) -> Result<PathBuf, Refusal> {
        let is_own = self.files().iter().any(|file| file.name == name);
        let missing = || Refusal::missing("the capture has no such file");
        is_own.then(|| self.0.join(FILES_PLACE).join(name)).ok_or_else(missing)
    }

    pub(super) fn has_room(&self) -> Result<(), Refusal> {
        if self.files().len() < FILES {
            return Ok(());
        }
        Err(Refusal::bad(format!("a capture has at most {FILES} files")))
    }

    /// A directory in it, made where there is none.
    pub(super) fn directory(&self, name: &str) -> Result<PathBuf, Refusal> {
        let place = self.0.join(name);
        fs::create_dir_all(&place).map_err(|error| cannot_keep(&error))?;
        Ok(place)
    }
}

/// Why nothing is kept.
pub(super) fn cannot_keep(error: &io::Error) -> Refusal {
    Refusal::failed(format!("cannot keep it: {error}"))
}

/// The files in a directory with their sizes, in the order in which they came.
pub(super) fn files_in(place: &Path) -> Vec<NamedFile> {
    by_age(place).into_iter().map(|(_, file)| file).collect()
}

/// The files in a directory, the oldest first, each with the time when it was written.
pub(super) fn by_age(place: &Path) -> Vec<(SystemTime, NamedFile)> {
    let entries = fs::read_dir(place).into_iter().flatten().flatten();
    let files = entries.filter_map(|entry| {
        let about = entry.metadata().ok().filter(fs::Metadata::is_file)?;
        let name = entry.file_name().into_string().ok()?;
        Some((about.modified().ok()?, NamedFile { name, bytes: about.len() }))
    });
    let mut files: Vec<(SystemTime, NamedFile)> = files.collect();
    files.sort_by(|(a, one), (b, other)| (a, &one.name).cmp(&(b, &other.name)));
    files
}
