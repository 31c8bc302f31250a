//! Files of the disk: a folder with all that is below it, or one file.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use rustix::fs::{FileType, Mode, OFlags, ResolveFlags, Stat};
use rustix::io::Errno;

use super::{Body, Files, Found, Missing};
use crate::calendar::Moment;

/// Files up to this size are kept in memory.
const SMALL: u64 = 64 << 10;
/// Files that are remembered; more than that, and all are forgotten.
const MOST_KNOWN: usize = 256;

/// A folder, or one file of it.
pub(crate) struct Disk {
    folder: OwnedFd,
    /// The only file that is shown, also as `/`.
    only: Option<String>,
    known: Mutex<BTreeMap<String, Known>>,
}

/// A file that was asked for before.
struct Known {
    found: Found,
    identity: Identity,
    /// It is looked at once a second whether it still is what it was.
    looked_at: u64,
}

/// What changes when a file is written or replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Identity {
    device: u64,
    inode: u64,
    length: u64,
    modified: (i64, u64),
}

impl Disk {
    /// Serves a folder, or a file.
    ///
    /// # Errors
    /// When it is missing, unreadable, or neither.
    pub(crate) fn open(path: &Path) -> io::Result<Disk> {
        let content = path.metadata()?;
        let known = Mutex::default();
        if content.is_dir() {
            return Ok(Disk { folder: File::open(path)?.into(), only: None, known });
        }
        if !content.is_file() {
            return Err(io::Error::other("it is neither a file nor a folder"));
        }
        File::open(path)?;
        let whole = path.canonicalize()?;
        let (Some(folder), Some(name)) = (whole.parent(), whole.file_name()) else {
            return Err(io::Error::other("it has no name"));
        };
        let name = name.to_str().ok_or_else(|| io::Error::other("its name is no text"))?;
        Ok(Disk { folder: File::open(folder)?.into(), only: Some(name.into()), known })
    }

    /// The name inside of the folder that a path means.
    fn name<'a>(&'a self, path: &'a str) -> Result<String, Missing> {
        let inside = path.trim_start_matches('/');
        match &self.only {
            Some(only) if inside.is_empty() || inside == only => Ok(only.clone()),
            Some(_) => Err(Missing::NotThere),
            None if inside.is_empty() || inside.ends_with('/') => Ok(format!("{inside}index.html")),
            None => Ok(inside.to_owned()),
        }
    }
}

impl Files for Disk {
    fn find(&self, path: &str, now: &Moment) -> Result<Found, Missing> {
        let name = self.name(path)?;
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let before = known.get_mut(&name);
        if let Some(before) = &before
            && before.looked_at == now.second()
        {
            return Ok(before.found.clone());
        }
        let (file, identity) = match open(self.folder.as_fd(), &name) {
            Ok(opened) => opened,
            Err(missing) => {
                known.remove(&name);
                return Err(missing);
            }
        };
        if let Some(before) = before
            && before.identity == identity
        {
            before.looked_at = now.second();
            return Ok(before.found.clone());
        }
        let found = read(file, &name, identity)?;
        if known.len() >= MOST_KNOWN {
            known.clear();
        }
        let new = Known { found: found.clone(), identity, looked_at: now.second() };
        known.insert(name, new);
        Ok(found)
    }
}

/// Opens a regular file below `folder`, wherever links lead: never outside of it.
fn open(folder: BorrowedFd<'_>, name: &str) -> Result<(OwnedFd, Identity), Missing> {
    // Opening a pipe must not block.
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    let within = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
    let file = rustix::fs::openat2(folder, name, flags, Mode::empty(), within).map_err(missing)?;
    let stat = rustix::fs::fstat(&file).map_err(missing)?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Err(Missing::NotThere);
    }
    Ok((file, Identity::of(&stat)))
}

fn missing(error: Errno) -> Missing {
    match error {
        Errno::ACCESS | Errno::PERM => Missing::Forbidden,
        Errno::MFILE | Errno::NFILE | Errno::NOMEM | Errno::INTR | Errno::AGAIN => Missing::Unable,
        _ => Missing::NotThere,
    }
}

/// A small file is read, a large one kept open.
fn read(file: OwnedFd, name: &str, identity: Identity) -> Result<Found, Missing> {
    let modified = u64::try_from(identity.modified.0).ok();
    if identity.length > SMALL {
        let body = Body::File(Arc::new(file), identity.length);
        return Ok(Found::new(name, body, modified));
    }
    let mut bytes = vec![0; identity.length as usize];
    let mut length = 0;
    while length < bytes.len() {
        match rustix::io::pread(&file, &mut bytes[length..], length as u64) {
            // It has become shorter since.
            Ok(0) => break,
            Ok(count) => length += count,
            Err(Errno::INTR) => {}
            Err(error) => return Err(missing(error)),
        }
    }
    bytes.truncate(length);
    Ok(Found::new(name, Body::Bytes(bytes.into()), modified))
}

impl Identity {
    fn of(stat: &Stat) -> Identity {
        #[allow(
            clippy::unnecessary_cast,
            clippy::useless_conversion,
            reason = "their types differ between architectures"
        )]
        Identity {
            device: stat.st_dev as u64,
            inode: stat.st_ino as u64,
            length: u64::try_from(stat.st_size).unwrap_or(0),
            modified: (stat.st_mtime as i64, stat.st_mtime_nsec as u64),
        }
    }
}
