//! Who may read and write a file.

use std::fs::{File, Metadata, OpenOptions};

/// A file that, if it is made, has these access rights before the umask.
#[cfg(unix)]
pub(crate) fn new_file(mode: u32) -> OpenOptions {
    use std::os::unix::fs::OpenOptionsExt;
    let mut options = File::options();
    options.mode(mode);
    options
}

/// Without permission bits, a file has the access list of the directory that it is made in.
#[cfg(not(unix))]
pub(crate) fn new_file(_: u32) -> OpenOptions {
    File::options()
}

/// The access rights of a new file before the umask: of outputs, and of captures.
pub(super) const SHARED: u32 = 0o666;
pub(crate) const PRIVATE: u32 = 0o600;

/// The access rights of a file.
#[cfg(unix)]
pub(super) fn of(about: &Metadata) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    about.permissions().mode() & 0o777
}

#[cfg(not(unix))]
pub(super) fn of(_: &Metadata) -> u32 {
    SHARED
}
