//! The file systems of a guest: the host's files, and its own in memory.

use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::{fs, io};

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

/// The directories whose files are a guest's own.
const OWN: [&str; 3] = ["/tmp", "/run", "/dev/shm"];

/// What programs expect in `/dev`, beside its devices.
const LINKS: [(&str, &str); 4] = [
    ("/dev/fd", "/proc/self/fd"),
    ("/dev/stdin", "/proc/self/fd/0"),
    ("/dev/stdout", "/proc/self/fd/1"),
    ("/dev/stderr", "/proc/self/fd/2"),
];

/// Makes what programs expect, after [`mount_all`]. The `directory` that they start in stays that
/// of the machine outside, also where this guest has files of its own.
pub(super) fn prepare_for_programs(directory: &Path) -> Result<(), TrialError> {
    for (link, target) in LINKS {
        // Another version of the kernel may have it.
        let _ = symlink(target, link);
    }
    let pseudoterminals = "/dev/pts";
    let _ = fs::create_dir(pseudoterminals);
    let options = Some(c"ptmxmode=0666,mode=0620");
    // Few programs need one.
    let _ = mount("devpts", pseudoterminals, "devpts", MountFlags::NOSUID, options);
    match directory.to_str() {
        _ if !OWN.iter().any(|own| directory.starts_with(own)) => Ok(()),
        Some(place) => mount_outside(directory, place),
        None => {
            let message = format!("the current directory is not UTF-8: {}", directory.display());
            Err(TrialError::reported(message, "start in another directory"))
        }
    }
}

/// Mounts a directory of the machine outside at `place`, which is made.
pub(super) fn mount_outside(directory: &Path, place: &str) -> Result<(), TrialError> {
    let failed = |error: io::Error| TrialError::setup(format!("mount {place}"))(error);
    fs::create_dir_all(place).map_err(failed)?;
    let outside = CString::new(directory.as_os_str().as_bytes());
    let outside = outside.map_err(|error| failed(error.into()))?;
    let mounted = mount("none", place, "hostfs", MountFlags::NOSUID, Some(outside.as_c_str()));
    mounted.map_err(|errno| failed(errno.into()))
}

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
