//! Files and directories that are not complete yet.

use std::fs;
use std::io;
use std::mem;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::signals::clean_on_signals;

type Remove = fn(&Path) -> io::Result<()>;

/// Those of this process, the oldest first.
static ALL: Mutex<Vec<(PathBuf, Remove)>> = Mutex::new(Vec::new());

/// A place that is removed when this is dropped, or when Ctrl-C or SIGTERM ends the process.
/// What was renamed before that stays under its new name.
#[derive(Debug)]
pub(crate) struct Unfinished {
    path: PathBuf,
}

impl Unfinished {
    /// The file that `create` creates.
    pub(crate) fn file<T>(
        path: PathBuf,
        create: impl FnOnce(&Path) -> io::Result<T>,
    ) -> io::Result<(Unfinished, T)> {
        Unfinished::new(path, create, |path| fs::remove_file(path))
    }

    /// A new directory, with all that will be in it.
    pub(crate) fn directory(path: PathBuf) -> io::Result<Unfinished> {
        let remove = |path: &Path| {
            // Meanwhile nobody creates a file in it.
            let aside = path.with_extension("removed");
            fs::rename(path, &aside)?;
            fs::remove_dir_all(aside)
        };
        Ok(Unfinished::new(path, |path| fs::create_dir(path), remove)?.0)
    }

    /// A new directory that stays if something is in it.
    pub(crate) fn empty_directory(path: PathBuf) -> io::Result<Unfinished> {
        Ok(Unfinished::new(path, |path| fs::create_dir(path), |path| fs::remove_dir(path))?.0)
    }

    fn new<T>(
        path: PathBuf,
        create: impl FnOnce(&Path) -> io::Result<T>,
        remove: Remove,
    ) -> io::Result<(Unfinished, T)> {
        clean_on_signals(remove_all);
        // A signal comes before there is anything, or finds it here.
        let mut all = all();
        let created = create(&path)?;
        all.push((path.clone(), remove));
        Ok((Unfinished { path }, created))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// It stays.
    pub(crate) fn keep(self) {
        self.forget();
    }

    /// How to remove it, for the first who asks.
    fn forget(&self) -> Option<Remove> {
        let mut all = all();
        let at = all.iter().position(|(path, _)| *path == self.path)?;
        Some(all.remove(at).1)
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        if let Some(remove) = self.forget() {
            let _ = remove(&self.path);
        }
    }
}

/// The last thing that this process does: nothing is created any more.
fn remove_all() {
    let all = all();
    for (path, remove) in all.iter().rev() {
        let _ = remove(path);
    }
    mem::forget(all);
}

fn all() -> MutexGuard<'static, Vec<(PathBuf, Remove)>> {
    ALL.lock().unwrap_or_else(PoisonError::into_inner)
}
