//! The file systems of a guest: the host's files, and its own in memory.

use std::fs;

use rustix::io::Errno;
use rustix::mount::{MountFlags, mount};

use crate::TrialError;

/// Kind and place of each, and its options.
const ALL: [(&str, &str, Option<&std::ffi::CStr>); 6] = [
    ("proc", "/proc", None),
    ("sysfs", "/sys", None),
    ("devtmpfs", "/dev", None),
    ("tmpfs", "/dev/shm", Some(c"size=32m")),
    ("tmpfs", "/tmp", Some(c"size=64m")),
    ("tmpfs", "/run", Some(c"size=16m")),
];

/// Mounts them all, over what the host has there.
pub(super) fn mount_all() -> Result<(), TrialError> {
    for (kind, place, options) in ALL {
        if place == "/dev/shm" {
            let _ = fs::create_dir(place);
        }
        match mount(kind, place, kind, MountFlags::NOSUID, options) {
            // The kernel has mounted it itself (`CONFIG_DEVTMPFS_MOUNT`).
            Ok(()) | Err(Errno::BUSY) => {}
            Err(errno) => {
                return Err(TrialError::setup(format!("mount {kind} on {place}"))(errno.into()));
            }
        }
    }
    Ok(())
}
