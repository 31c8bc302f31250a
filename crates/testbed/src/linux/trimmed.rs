//! A recording of which only the latest part is kept: room on the disk is bounded.

use std::fs::{File, read_dir};
use std::io;
use std::path::Path;

use rustix::fs::{FallocateFlags, fallocate};

/// The latest bytes of each file that stay: some hundred thousand packets.
const KEPT: u64 = 64 << 20;
/// Released at once.
const STEP: u64 = 16 << 20;

/// Files that grow, whose beginnings are given back to the disk.
pub(crate) struct Trimmed(Vec<Growing>);

struct Growing {
    file: File,
    /// So far.
    released: u64,
}

impl Trimmed {
    /// The files in a directory.
    ///
    /// # Errors
    /// When the file system cannot take back the beginning of a file.
    pub(crate) fn of(directory: &Path) -> io::Result<Trimmed> {
        let files = read_dir(directory)?.map(|entry| {
            let file = File::options().write(true).open(entry?.path())?;
            release(&file, 1)?;
            Ok(Growing { file, released: 0 })
        });
        files.collect::<io::Result<_>>().map(Trimmed)
    }

    /// Gives back what is not kept. Without an error, as the check was without one; where it comes
    /// to one all the same, the files stay as they are.
    pub(crate) fn trim(&mut self) {
        for Growing { file, released } in &mut self.0 {
            let length = file.metadata().map_or(0, |it| it.len());
            let until = length.saturating_sub(KEPT);
            if until >= *released + STEP && release(file, until).is_ok() {
                *released = until;
            }
        }
    }
}

/// The bytes before this place read as zeros from now on, and take no room.
fn release(file: &File, until: u64) -> io::Result<()> {
    Ok(fallocate(file, FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE, 0, until)?)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt;

    use super::*;

    #[test]
    fn beginning_of_a_growing_file_takes_no_room() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("file");
        let mut file = File::create(&path).unwrap();
        let mut trimmed = Trimmed::of(home.path()).unwrap();
        let piece = vec![1; 1 << 20];
        let megabytes = (2 * (KEPT + STEP)) >> 20;
        for _ in 0..megabytes {
            io::Write::write_all(&mut file, &piece).unwrap();
            trimmed.trim();
        }
        let now = file.metadata().unwrap();
        assert_eq!(now.len(), megabytes << 20);
        assert!(now.blocks() * 512 <= KEPT + STEP + (1 << 20), "{}", now.blocks() * 512);
    }
}
