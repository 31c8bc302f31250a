//! A recording that goes with the command.

use std::env;
use std::fs::{File, remove_dir_all};
use std::io::Read;
use std::path::PathBuf;
use std::process;

use anyhow::{Context, Result};
use tcplab_recording::make_private_directory;
use tcplab_testbed::Moving;

use crate::remedied::Remedied;

/// What captures keep of a packet that nobody asked to keep: the headers of IP and TCP with all
/// options have at most 120 bytes.
pub(crate) const HEADERS: u32 = 128;

/// A private directory that is removed by the process that made it.
pub(crate) struct PassingDirectory {
    path: PathBuf,
    owner: u32,
}

impl PassingDirectory {
    /// A place for the headers of what is moved, where nothing is recorded yet.
    ///
    /// # Errors
    /// If there is no place for temporary files.
    pub(crate) fn of(moving: &mut Moving) -> Result<Option<PassingDirectory>> {
        if moving.capture.is_some() {
            return Ok(None);
        }
        let made = PassingDirectory::make()?;
        (moving.is_passing, moving.snaplen) = (true, Some(HEADERS));
        moving.capture = Some(made.path.clone());
        Ok(Some(made))
    }

    fn make() -> Result<PassingDirectory> {
        let mut random = [0; 8];
        let read = File::open("/dev/urandom").and_then(|mut file| file.read_exact(&mut random));
        read.context("cannot read /dev/urandom")?;
        let name = format!("tcplab-{:016x}", u64::from_be_bytes(random));
        let path = env::temp_dir().join(name);
        make_private_directory(&path).map_err(|error| {
            let said = format!("cannot make the directory {}: {error}", path.display());
            Remedied::error(said, "name a place for temporary files (TMPDIR), or --capture DIR")
        })?;
        Ok(PassingDirectory { path, owner: process::id() })
    }
}

impl Drop for PassingDirectory {
    fn drop(&mut self) {
        // The other half of a shell has it, too.
        if process::id() == self.owner {
            let _ = remove_dir_all(&self.path);
        }
    }
}
