//! Where the memory of a guest is made: a file without a name, which it also executes.

use std::env;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, StatVfsMountFlags, access, statvfs};

/// Tried in this order, behind `$TMPDIR`.
const PLACES: [&str; 3] = ["/dev/shm", "/tmp", "/var/tmp"];

/// The first directory that takes `bytes` of it.
///
/// # Errors
/// What is wrong with each.
pub(crate) fn memory_place(bytes: u64) -> Result<PathBuf, String> {
    let own = env::var_os("TMPDIR").filter(|place| !place.is_empty()).map(PathBuf::from);
    let mut wrong = Vec::new();
    for place in own.into_iter().chain(PLACES.map(PathBuf::from)) {
        match objection(&place, bytes) {
            None => return Ok(place),
            Some(why) => wrong.push(format!("{} {why}", place.display())),
        }
    }
    Err(wrong.join(", "))
}

/// Why a directory does not take it, if it does not.
fn objection(place: &Path, bytes: u64) -> Option<String> {
    if access(place, Access::WRITE_OK | Access::EXEC_OK).is_err() || !place.is_dir() {
        return Some("cannot be written to".into());
    }
    let Ok(found) = statvfs(place) else { return Some("cannot be looked at".into()) };
    if found.f_flag.contains(StatVfsMountFlags::NOEXEC) {
        return Some("allows no programs (noexec)".into());
    }
    let free = found.f_bavail.saturating_mul(found.f_frsize);
    (free < bytes).then(|| format!("has {} MiB free", free >> 20))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_with_a_place_is_said() {
        let place = tempfile::tempdir().unwrap();
        assert_eq!(objection(place.path(), 1), None);
        let full = objection(place.path(), u64::MAX).unwrap();
        assert!(full.starts_with("has ") && full.ends_with(" MiB free"), "{full}");
        let missing = place.path().join("missing");
        assert_eq!(objection(&missing, 1).unwrap(), "cannot be written to");
    }
}
