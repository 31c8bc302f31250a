//! What programs of the user's print, passed on as it is.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;

/// Writes bytes of a program of the user's to standard output.
///
/// # Errors
/// If it fails: the pipe is closed, the disk is full.
pub(crate) fn pass_on_output(bytes: &[u8]) -> io::Result<()> {
    let mut output = io::stdout().lock();
    output.write_all(bytes)?;
    output.flush()
}

/// Writes bytes of a program of the user's to standard error.
///
/// # Errors
/// As [`pass_on_output`].
pub(crate) fn pass_on_error(bytes: &[u8]) -> io::Result<()> {
    io::stderr().lock().write_all(bytes)
}

/// Whether standard output and standard error are the same file.
pub(crate) fn has_one_output() -> bool {
    let file = |fd: &dyn AsFd| File::from(fd.as_fd().try_clone_to_owned().ok()?).metadata().ok();
    let (output, error) = (file(&io::stdout()), file(&io::stderr()));
    output.zip(error).is_some_and(|(output, error)| {
        [output.dev(), output.ino(), output.rdev()] == [error.dev(), error.ino(), error.rdev()]
    })
}
