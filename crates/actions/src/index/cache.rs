//! Where indexes are kept, and of which file each is.

use std::env;
use std::fs::{self, File, Metadata};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, SystemTime};

use blake3::Hasher;
use tcplab_recording::{make_private_directories, private_file};

use super::contents::KEY;

/// All indexes together, bytes: four of the largest.
const MOST_BYTES: u64 = 512 << 20;
/// The most indexes: their names are listed each time that one is written.
const MOST_FILES: usize = 256;
/// A capture that was changed later than this before it is read may be changed again without
/// another time: file systems count up to 2 s at once (FAT; git's index has the same problem,
/// `Documentation/technical/racy-git.txt`).
const SETTLED: Duration = Duration::from_secs(2);
/// What is unfinished for so long was left by a process that was killed, where processes cannot be
/// asked for.
const ABANDONED: Duration = Duration::from_secs(24 * 60 * 60);
/// What names of unfinished indexes end with.
const PART: &str = "part";

/// Which file, in which state, an index is of; and which program made it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Identity {
    /// Of the file's path: the index of its new state replaces that of the old one.
    name: String,
    key: [u8; KEY],
    size: u64,
    modified: SystemTime,
}

impl Identity {
    /// Of a file that exists.
    pub(super) fn of(file: &Path) -> Option<Identity> {
        let path = file.canonicalize().ok()?;
        let about = fs::metadata(&path).ok().filter(Metadata::is_file)?;
        // Another build of the same version may analyse differently.
        let program = fs::metadata(env::current_exe().ok()?).ok()?;
        let mut key = Hasher::new();
        key.update(env!("CARGO_PKG_VERSION").as_bytes());
        for about in [&about, &program] {
            key.update(&owner::state(about));
        }
        key.update(path.as_os_str().as_encoded_bytes());
        let name = blake3::hash(path.as_os_str().as_encoded_bytes()).to_hex()[..32].to_owned();
        let (size, modified) = (about.len(), about.modified().ok()?);
        Some(Identity { name, key: *key.finalize().as_bytes(), size, modified })
    }

    pub(super) fn key(&self) -> &[u8; KEY] {
        &self.key
    }
    pub(super) fn size(&self) -> u64 {
        self.size
    }
    /// Whether a change from now on changes the file's time.
    pub(super) fn is_settled(&self) -> bool {
        self.modified.elapsed().is_ok_and(|since| since > SETTLED)
    }
}

/// A directory of indexes that only its owner can read.
#[derive(Debug)]
pub(super) struct Cache {
    directory: PathBuf,
}

impl Cache {
    pub(super) fn at(directory: PathBuf) -> Cache {
        Cache { directory }
    }

    /// The index of a file, and its length.
    pub(super) fn open(&self, of: &Identity) -> Option<(File, u64)> {
        let path = self.path(of).filter(|path| is_private_file(path))?;
        let file = File::open(path).ok()?;
        let len = file.metadata().ok()?.len();
        // Those used last are kept; without that time, those written last.
        let _ = file.set_modified(SystemTime::now());
        Some((file, len))
    }

    /// A new index of a file, which takes its place when it is [kept](Growing::keep).
    pub(super) fn create(&self, of: &Identity) -> Option<Growing> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        make_private_directories(&self.directory).ok()?;
        let whole = self.path(of)?;
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let part = whole.with_extension(format!("{}-{count}.{PART}", process::id()));
        let file = private_file().write(true).create_new(true).open(&part).ok()?;
        Some(Growing { file, part, whole, directory: self.directory.clone() })
    }

    pub(super) fn remove(&self, of: &Identity) {
        if let Some(path) = self.path(of) {
            let _ = fs::remove_file(path);
        }
    }

    /// The place of an index; none if others can read or write there.
    fn path(&self, of: &Identity) -> Option<PathBuf> {
        let about = fs::symlink_metadata(&self.directory).ok()?;
        let is_own = about.is_dir() && owner::is_private(&about);
        is_own.then(|| self.directory.join(&of.name))
    }
}

fn is_private_file(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|about| about.is_file() && owner::is_private(&about))
}

#[cfg(unix)]
mod owner {
    use std::fs::Metadata;
    use std::os::unix::fs::{MetadataExt, PermissionsExt};

    /// Whether nobody but its owner can read or write it.
    pub(super) fn is_private(about: &Metadata) -> bool {
        matches!(about.permissions().mode() & 0o077, 0)
    }

    /// What changes with a file. Nobody can set the time of the last change of status.
    pub(super) fn state(about: &Metadata) -> Vec<u8> {
        let sizes = [about.size(), about.ino(), about.dev()].map(u64::to_le_bytes);
        let times = [about.mtime(), about.mtime_nsec(), about.ctime(), about.ctime_nsec()];
        [sizes.as_flattened(), times.map(i64::to_le_bytes).as_flattened()].concat()
    }
}

/// Without permission bits, a file has the access list of the user's cache, where it is made.
#[cfg(not(unix))]
mod owner {
    use std::fs::Metadata;
    use std::time::SystemTime;

    pub(super) fn is_private(_: &Metadata) -> bool {
        true
    }

    /// What changes with a file: its size and times.
    pub(super) fn state(about: &Metadata) -> Vec<u8> {
        let since = |time: SystemTime| {
            time.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_nanos())
        };
        let times = [about.modified(), about.created()].map(|time| time.map_or(0, since));
        let times = times.into_iter().flat_map(u128::to_le_bytes);
        about.len().to_le_bytes().into_iter().chain(times).collect()
    }
}

/// An index that is not complete; dropped before it is kept, it is removed.
#[derive(Debug)]
pub(super) struct Growing {
    file: File,
    part: PathBuf,
    whole: PathBuf,
    directory: PathBuf,
}

impl Growing {
    /// Puts it into its place, and removes the oldest beyond what the cache may have.
    pub(super) fn keep(self) {
        if fs::rename(&self.part, &self.whole).is_ok() {
            bound(&self.directory, (MOST_FILES, MOST_BYTES));
        }
    }
}

impl Write for Growing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for Growing {
    fn drop(&mut self) {
        // It has another name once it is kept.
        let _ = fs::remove_file(&self.part);
    }
}

/// Removes the oldest indexes beyond so many files and bytes, and what was abandoned.
fn bound(directory: &Path, (most_files, most_bytes): (usize, u64)) {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut files: Vec<(SystemTime, u64, PathBuf)> = entries
        .filter_map(|entry| {
            let about = entry.metadata().ok().filter(Metadata::is_file)?;
            Some((about.modified().ok()?, about.len(), entry.path()))
        })
        .collect();
    files.sort();
    let (mut count, mut bytes) = (0, 0);
    for (time, len, path) in files.into_iter().rev() {
        if path.extension().is_some_and(|it| it == PART) {
            if is_abandoned(&path, time) {
                let _ = fs::remove_file(path);
            }
            continue;
        }
        (count, bytes) = (count + 1, bytes + len);
        if count > most_files || bytes > most_bytes {
            let _ = fs::remove_file(path);
        }
    }
}

/// Whether the process that writes this is gone. If that is wrong, it has no index in the end.
fn is_abandoned(part: &Path, time: SystemTime) -> bool {
    let processes = Path::new("/proc");
    let name = part.file_stem().map(|it| it.to_string_lossy().into_owned()).unwrap_or_default();
    let process = name.rsplit_once('.').and_then(|(_, it)| it.split('-').next());
    let is_gone = process.is_some_and(|it| !processes.join(it).exists());
    (is_gone && processes.join("self").exists())
        || time.elapsed().is_ok_and(|since| since > ABANDONED)
}

#[cfg(test)]
mod tests {
    use std::fs::FileTimes;

    use super::*;

    #[test]
    fn oldest_beyond_bounds_and_abandoned_are_removed() {
        let home = tempfile::tempdir().unwrap();
        let place = |name: &str| home.path().join(name);
        let write = |name: &str, len: usize, age: u64| {
            let file = File::create(place(name)).unwrap();
            (&file).write_all(&vec![0; len]).unwrap();
            let time = SystemTime::now() - Duration::from_secs(age);
            file.set_times(FileTimes::new().set_modified(time)).unwrap();
        };
        let own = format!("a.{}-0.part", process::id());
        for (name, len, age) in [
            ("newest", 10, 1),
            ("new", 20, 2),
            ("large", 70, 3),
            ("old", 10, 4),
            (own.as_str(), 1_000, 5),
            // No process has this number (proc(5), `pid_max`).
            ("a.999999999-0.part", 10, 5),
            ("b.part", 10, 100_000),
        ] {
            write(name, len, age);
        }
        let left = |bounds| {
            bound(home.path(), bounds);
            let entries = fs::read_dir(home.path()).unwrap();
            let mut names: Vec<_> = entries.map(|it| it.unwrap().file_name()).collect();
            names.sort();
            names
        };
        assert_eq!(left((4, 110)), [own.as_str(), "large", "new", "newest", "old"]);
        assert_eq!(left((3, 110)), [own.as_str(), "large", "new", "newest"]);
        assert_eq!(left((3, 99)), [own.as_str(), "new", "newest"]);
        assert_eq!(left((1, 99)), [own.as_str(), "newest"]);
    }
}
