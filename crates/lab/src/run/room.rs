//! Whether the disk has the room that a run takes.

use std::path::Path;

use tcplab_testbed::free_room;
use tcplab_units::{Bytes, rounded};

/// A warning if the disk of this directory, which need not be there yet, has less free than is
/// needed. None where the system does not tell.
pub(super) fn lack_of_room(needed: Bytes, directory: &Path) -> Option<String> {
    let existing = directory.ancestors().find(|place| place.exists());
    lack(needed, free_room(existing.unwrap_or(Path::new(".")))?)
}

fn lack(needed: Bytes, free: Bytes) -> Option<String> {
    (free < needed).then(|| {
        format!(
            "the run takes about {needed}, and the disk has {} free: make room, run fewer trials, \
             or keep fewer packets (`[recording] keep`)",
            rounded::bytes(free)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_that_the_disk_does_not_have_is_warned_of() {
        let [small, large] = [6_000_000, 220_000_000].map(Bytes::new);
        assert_eq!(lack(small, large), None);
        assert_eq!(lack(small, small), None);
        let said = lack(large, small).unwrap();
        assert!(said.starts_with("the run takes about 220 MB, and the disk has 6.00 MB"), "{said}");
    }

    /// Its directories are made when it begins.
    #[cfg(target_os = "linux")]
    #[test]
    fn disk_is_that_of_the_nearest_directory_that_is_there() {
        let place = tempfile::tempdir().unwrap();
        for directory in [place.path().to_owned(), place.path().join("runs/mine"), "runs".into()] {
            assert_eq!(lack_of_room(Bytes::ZERO, &directory), None);
            let warned = lack_of_room(Bytes::new(u64::MAX), &directory);
            assert!(warned.is_some(), "{}", directory.display());
        }
    }
}
