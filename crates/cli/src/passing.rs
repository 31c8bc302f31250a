//! A recording that goes with the command.

use std::env;
use std::fs::{File, remove_dir_all};
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process;
use std::time::Duration;

use anyhow::{Context, Result};
use tcplab_recording::make_private_directory;
use tcplab_testbed::Moving;

use crate::remedied::Remedied;

/// What captures keep of a packet that nobody asked to keep: the headers of IP and TCP with all
/// options have at most 120 bytes.
pub(crate) const HEADERS: u32 = 128;

/// How the names of these directories begin.
const PREFIX: &str = "tcplab-";
/// One that nobody holds is new, or left by processes that were killed: so old, it is not new.
const NEW: Duration = Duration::from_secs(60);

/// A private directory that is removed by the process that made it.
pub(crate) struct PassingDirectory {
    path: PathBuf,
    owner: u32,
    /// Held as long as its process is there.
    _lock: Option<File>,
}

impl PassingDirectory {
    /// A place for the headers of what is moved, where nothing is recorded yet.
    ///
    /// # Errors
    /// If there is no place for temporary files.
    pub(crate) fn of(moving: &mut Moving) -> Result<Option<PassingDirectory>> {
        if moving.capture.is_some() {
            return Ok(None);
        }
        let made = PassingDirectory::make(&env::temp_dir())?;
        (moving.is_passing, moving.snaplen) = (true, Some(HEADERS));
        moving.capture = Some(made.path.clone());
        Ok(Some(made))
    }

    fn make(parent: &Path) -> Result<PassingDirectory> {
        let mut random = [0; 8];
        let read = File::open("/dev/urandom").and_then(|mut file| file.read_exact(&mut random));
        read.context("cannot read /dev/urandom")?;
        let path = parent.join(format!("{PREFIX}{:016x}", u64::from_be_bytes(random)));
        make_private_directory(&path).map_err(|error| {
            let said = format!("cannot make the directory {}: {error}", path.display());
            Remedied::error(said, "name a place for temporary files (TMPDIR), or --capture DIR")
        })?;
        let lock = locked(&path);
        if let Ok(own) = path.metadata() {
            remove_left(parent, own.uid());
        }
        Ok(PassingDirectory { path, owner: process::id(), _lock: lock })
    }
}

/// A lock on a directory, if nobody has it.
fn locked(directory: &Path) -> Option<File> {
    File::open(directory).ok().filter(|directory| directory.try_lock().is_ok())
}

/// Removes the directories of a user whose processes were all killed.
fn remove_left(parent: &Path, user: u32) {
    let is_name = |name: &str| {
        let random = name.strip_prefix(PREFIX);
        random.is_some_and(|it| it.len() == 16 && it.chars().all(|c| c.is_ascii_hexdigit()))
    };
    for entry in parent.read_dir().into_iter().flatten().flatten() {
        let (name, path) = (entry.file_name(), entry.path());
        // Of the entry itself, if it is a link.
        let Ok(about) = entry.metadata() else { continue };
        let age = about.modified().ok().and_then(|then| then.elapsed().ok());
        if name.to_str().is_some_and(is_name)
            && about.is_dir()
            && about.uid() == user
            && age.is_some_and(|age| age > NEW)
            && locked(&path).is_some()
        {
            let _ = remove_dir_all(path);
        }
    }
}

impl Drop for PassingDirectory {
    fn drop(&mut self) {
        // The other half of a shell has it, too.
        if process::id() == self.owner {
            let _ = remove_dir_all(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::create_dir;
    use std::time::SystemTime;

    use super::*;

    #[test]
    fn directories_whose_processes_were_killed_are_removed() {
        let home = tempfile::tempdir().unwrap();
        let age = |path: &Path| {
            let then = SystemTime::now() - 2 * NEW;
            File::open(path).unwrap().set_modified(then).unwrap();
        };
        let made = |name: &str| {
            let path = home.path().join(name);
            create_dir(&path).unwrap();
            File::create(path.join("client.pcapng")).unwrap();
            path
        };
        let left = made("tcplab-0123456789abcdef");
        let foreign = made("tcplab-my-own-notes0");
        let held = PassingDirectory::make(home.path()).unwrap();
        for path in [&left, &foreign, &held.path] {
            age(path);
        }
        let new = made("tcplab-fedcba9876543210");
        let next = PassingDirectory::make(home.path()).unwrap();
        let is_there = [&left, &foreign, &held.path, &new, &next.path].map(|path| path.exists());
        assert_eq!(is_there, [false, true, true, true, true]);
    }
}
