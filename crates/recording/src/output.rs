//! The files of a recording while they are written.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;
use tcplab_quantities::Document;

use crate::RecordingError;

/// Makes a directory, and those above it, that only its owner may look into; one that exists stays
/// as it is.
///
/// # Errors
/// As mkdir(2).
pub fn make_private_directories(path: &Path) -> io::Result<()> {
    owner::directory().recursive(true).create(path)
}

/// Makes a directory that only its owner may look into.
///
/// # Errors
/// As mkdir(2); where there is something of this name, too.
pub fn make_private_directory(path: &Path) -> io::Result<()> {
    owner::directory().create(path)
}

/// How a file is opened that only its owner may read, if it is made.
pub fn private_file() -> OpenOptions {
    owner::file()
}

/// Captures hold what was sent: they belong to their owner alone. `chmod -R go+rX` shares them.
#[cfg(unix)]
mod owner {
    use std::fs::{DirBuilder, File, OpenOptions};
    use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};

    pub(super) fn file() -> OpenOptions {
        let mut options = File::options();
        options.mode(0o600);
        options
    }

    pub(super) fn directory() -> DirBuilder {
        let mut builder = DirBuilder::new();
        builder.mode(0o700);
        builder
    }
}

/// Without permission bits, a file has the access list of the directory that it is made in.
#[cfg(not(unix))]
mod owner {
    use std::fs::{DirBuilder, File, OpenOptions};

    pub(super) fn file() -> OpenOptions {
        File::options()
    }

    pub(super) fn directory() -> DirBuilder {
        DirBuilder::new()
    }
}

/// A file is written in pieces that end at multiples of this, bytes: a piece that ends elsewhere
/// costs the kernel half as much again, since it comes twice to one page. The buffers of all files
/// of a recording stay in the processor's second cache.
const PIECE: usize = 64 << 10;

/// A file being written, whose errors name it.
#[derive(Debug)]
pub(crate) struct Output {
    path: PathBuf,
    file: File,
    /// What is still to be written.
    buffer: Vec<u8>,
    /// At how many bytes it is.
    full: usize,
}

impl Output {
    pub(crate) fn create(directory: &Path, name: &str) -> Result<Output, RecordingError> {
        let path = directory.join(name);
        match private_file().write(true).create_new(true).open(&path) {
            Ok(file) => Ok(Output { path, file, buffer: Vec::with_capacity(PIECE), full: PIECE }),
            Err(source) => Err(RecordingError::File { verb: "make", path, source }),
        }
    }

    pub(crate) fn put(&mut self, bytes: &[u8]) -> Result<(), RecordingError> {
        self.write_all(bytes).map_err(|source| self.cannot_write(source))
    }

    /// Flushes what was put to the file, without waiting for the disk.
    pub(crate) fn flush(&mut self) -> Result<(), RecordingError> {
        self.write_out().map_err(|source| self.cannot_write(source))
    }

    /// Closes the file, without waiting for the disk.
    pub(crate) fn close(mut self) -> Result<(), RecordingError> {
        self.flush()
    }

    /// Flushes the file to the disk and closes it.
    pub(crate) fn sync(mut self) -> Result<(), RecordingError> {
        let synced = self.write_out().and_then(|()| self.file.sync_data());
        synced.map_err(|source| self.cannot_write(source))
    }

    fn write_out(&mut self) -> io::Result<()> {
        self.file.write_all(&self.buffer)?;
        let left = self.full - self.buffer.len();
        self.full = if left == 0 { PIECE } else { left };
        self.buffer.clear();
        Ok(())
    }

    pub(crate) fn cannot_write(&self, source: io::Error) -> RecordingError {
        RecordingError::File { verb: "write", path: self.path.clone(), source }
    }
}

/// What a trial leaves that fails is kept.
impl Drop for Output {
    fn drop(&mut self) {
        let _ = self.write_out();
    }
}

/// For writers of other formats, such as pcapng.
impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let (now, later) = bytes.split_at(bytes.len().min(self.full - self.buffer.len()));
        self.buffer.extend_from_slice(now);
        if self.buffer.len() == self.full {
            self.write_out()?;
        }
        Ok(bytes.len() - later.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        self.write_out()
    }
}

/// Writes a small JSON file.
pub(crate) fn write_json(
    directory: &Path,
    name: &str,
    document: &Document,
    value: &impl Serialize,
) -> Result<(), RecordingError> {
    let mut output = Output::create(directory, name)?;
    let mut text =
        serde_json::to_vec_pretty(&document.of(value)).expect("plain data has a JSON form");
    text.push(b'\n');
    output.put(&text)?;
    output.sync()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn file_is_written_in_pieces_that_end_at_multiples_and_is_whole_when_dropped() {
        let directory = tempfile::tempdir().unwrap();
        let mut output = Output::create(directory.path(), "file").unwrap();
        let written = || fs::read(directory.path().join("file")).unwrap();
        let all: Vec<u8> = (0..3 * PIECE + 7).map(|at| (at % 251) as u8).collect();
        let (first, rest) = all.split_at(PIECE / 2 + 1);
        output.put(first).unwrap();
        assert!(written().is_empty());
        output.flush().unwrap();
        assert_eq!(written(), first);
        let mut put = first.len();
        for row in rest.chunks(150) {
            output.put(row).unwrap();
            put += row.len();
            let full = put / PIECE * PIECE;
            assert!(written() == all[..full.max(first.len())], "{put} bytes");
        }
        drop(output);
        assert!(written() == all);
    }
}
