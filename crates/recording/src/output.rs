//! The files of a recording while they are written.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
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

/// What is written at once, bytes: the buffers of all files of a recording stay in the processor's
/// second cache.
const BUFFER: usize = 64 << 10;

/// A file being written, whose errors name it.
#[derive(Debug)]
pub(crate) struct Output {
    path: PathBuf,
    file: BufWriter<File>,
}

impl Output {
    pub(crate) fn create(directory: &Path, name: &str) -> Result<Output, RecordingError> {
        let path = directory.join(name);
        match private_file().write(true).create_new(true).open(&path) {
            Ok(file) => Ok(Output { file: BufWriter::with_capacity(BUFFER, file), path }),
            Err(source) => Err(RecordingError::File { verb: "make", path, source }),
        }
    }

    pub(crate) fn put(&mut self, bytes: &[u8]) -> Result<(), RecordingError> {
        self.file.write_all(bytes).map_err(|source| self.cannot_write(source))
    }

    /// Flushes what was put to the file, without waiting for the disk.
    pub(crate) fn flush(&mut self) -> Result<(), RecordingError> {
        self.file.flush().map_err(|source| self.cannot_write(source))
    }

    /// Closes the file, without waiting for the disk.
    pub(crate) fn close(mut self) -> Result<(), RecordingError> {
        self.file.flush().map_err(|source| self.cannot_write(source))
    }

    /// Flushes the file to the disk and closes it.
    pub(crate) fn sync(mut self) -> Result<(), RecordingError> {
        let synced = self.file.flush().and_then(|()| self.file.get_ref().sync_data());
        synced.map_err(|source| self.cannot_write(source))
    }

    pub(crate) fn cannot_write(&self, source: io::Error) -> RecordingError {
        RecordingError::File { verb: "write", path: self.path.clone(), source }
    }
}

/// For writers of other formats, such as pcapng.
impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
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
