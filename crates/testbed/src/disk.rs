//! The room on a disk.

use std::path::Path;

use tcplab_units::Bytes;

/// How much a program without privileges may still write to the disk of a directory; none where the
/// system does not tell.
#[cfg(target_os = "linux")]
pub fn free_room(place: &Path) -> Option<Bytes> {
    let found = rustix::fs::statvfs(place).ok()?;
    Some(Bytes::new(found.f_bavail.saturating_mul(found.f_frsize)))
}

#[cfg(not(target_os = "linux"))]
pub fn free_room(_place: &Path) -> Option<Bytes> {
    None
}
