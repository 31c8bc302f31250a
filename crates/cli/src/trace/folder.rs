//! A directory full of files that grow side by side.

use std::collections::VecDeque;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use tcplab_plot::xpl::XplFiles;

use crate::unfinished::Unfinished;

/// The most open files: far fewer than a process may have (usually 1,024).
const OPEN: usize = 64;

/// Files of a directory that appear when all are complete; dropped before that, it leaves the old
/// ones in place.
#[derive(Debug)]
pub(super) struct Folder {
    /// The last written file is at the back.
    open: VecDeque<(String, File)>,
    /// The files' temporary directory, inside `place`; gone before it.
    growing: Unfinished,
    place: Place,
}

impl Folder {
    pub(super) fn create(path: &Path) -> Result<Folder> {
        let place = Place::make(path)?;
        let name = format!(".{}.part", std::process::id());
        let growing = path.join(name);
        // A leftover of a process with our PID.
        let _ = fs::remove_dir_all(&growing);
        let growing = Unfinished::directory(growing).with_context(|| unwritten(path))?;
        Ok(Folder { open: VecDeque::new(), growing, place })
    }

    /// Renames all files into place.
    pub(super) fn commit(mut self) -> Result<()> {
        self.open.clear();
        self.put_in_place().with_context(|| unwritten(self.place.path()))?;
        drop(self.growing);
        self.place.keep();
        Ok(())
    }

    fn put_in_place(&self) -> io::Result<()> {
        for file in fs::read_dir(self.growing.path())? {
            let file = file?;
            fs::rename(file.path(), self.place.path().join(file.file_name()))?;
        }
        Ok(())
    }
}

impl XplFiles for Folder {
    fn append(&mut self, name: &str, begins: bool, text: &[u8]) -> io::Result<()> {
        let at = self.open.iter().position(|(open, _)| open == name);
        let mut file = if let Some((_, file)) = at.and_then(|at| self.open.remove(at)) {
            file
        } else {
            let path = self.growing.path().join(name);
            OpenOptions::new().append(true).create_new(begins).open(path)?
        };
        file.write_all(text)?;
        if self.open.len() >= OPEN {
            self.open.pop_front();
        }
        self.open.push_back((name.to_owned(), file));
        Ok(())
    }
}

/// A directory for output, created if missing; dropped before it is [kept](Self::keep), a new one
/// is removed if empty.
#[derive(Debug)]
pub(super) struct Place {
    path: PathBuf,
    new: Option<Unfinished>,
}

impl Place {
    pub(super) fn make(path: &Path) -> Result<Place> {
        let new = match Unfinished::empty_directory(path.into()) {
            Ok(new) => Some(new),
            Err(_) if path.is_dir() => None,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                bail!("{} is not a directory", path.display());
            }
            Err(error) => return Err(error).with_context(|| unwritten(path)),
        };
        Ok(Place { path: path.into(), new })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn keep(self) {
        if let Some(new) = self.new {
            new.keep();
        }
    }
}

fn unwritten(place: &Path) -> String {
    format!("cannot write to the directory {}", place.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_grow_side_by_side_and_appear_when_whole() {
        let home = tempfile::tempdir().unwrap();
        let place = home.path().join("graphs");
        let names = || (0..3 * OPEN).map(|number| format!("{number}.xpl"));
        let fill = |folder: &mut Folder| {
            for begins in [true, false] {
                for name in names() {
                    folder.append(&name, begins, name.as_bytes()).unwrap();
                }
            }
            assert!(folder.open.len() <= OPEN);
        };
        let mut folder = Folder::create(&place).unwrap();
        fill(&mut folder);
        drop(folder);
        assert!(!place.exists(), "nothing of what is not whole stays");
        fs::create_dir(&place).unwrap();
        fs::write(place.join("0.xpl"), "old").unwrap();
        let mut folder = Folder::create(&place).unwrap();
        fill(&mut folder);
        assert_eq!(fs::read(place.join("0.xpl")).unwrap(), b"old");
        folder.commit().unwrap();
        for name in names() {
            assert_eq!(fs::read_to_string(place.join(&name)).unwrap(), name.repeat(2));
        }
        assert_eq!(fs::read_dir(&place).unwrap().count(), names().count());
    }

    #[test]
    fn file_is_refused_as_directory() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("file");
        fs::write(&file, "").unwrap();
        let refusal = |place: &Path| Folder::create(place).unwrap_err().to_string();
        assert!(refusal(&file).ends_with("file is not a directory"));
        let missing = home.path().join("missing/graphs");
        assert_eq!(refusal(&missing), unwritten(&missing));
    }
}
