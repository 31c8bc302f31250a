//! A file to lock.

use std::fs::File;
use std::io;
use std::path::Path;

use rustix::fs::{Mode, OFlags, open};

/// Opens the file for [`File::try_lock`], made if it is missing.
///
/// # Errors
/// If it cannot be opened or made, and if it is a symbolic link: what that leads to is left alone
/// (`O_NOFOLLOW`, open(2)).
pub fn open_lock_file(path: &Path) -> io::Result<File> {
    let flags = OFlags::CREATE | OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mode = Mode::from_raw_mode(0o666);
    Ok(open(path, flags | OFlags::NONBLOCK, mode)?.into())
}
