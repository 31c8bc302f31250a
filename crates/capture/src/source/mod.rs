//! Where a capture's bytes come from: a file or standard input, compressed or not.

mod ahead;
mod zstd;

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use flate2::read::MultiGzDecoder;

use crate::{ReadError, Reader};
use ahead::Ahead;
use zstd::Zstd;

/// So many first bytes identify a compression.
const MAGIC: usize = 4;
/// How much of a compressed file is asked for at once.
const CHUNK: usize = 128 << 10;

/// Opens the capture at `path`, whatever its name and format, as it is or compressed with gzip or
/// zstd, by its first bytes. `-` is standard input.
///
/// # Errors
/// If it cannot be read, or is not a capture.
///
/// ```no_run
/// # fn main() -> Result<(), tcplab_capture::ReadError> {
/// let mut reader = tcplab_capture::open("web.pcap.zst")?;
/// while let Some(record) = reader.next_record()? {
///     assert!(record.captured.len() <= record.original_len as usize);
/// }
/// # Ok(()) }
/// ```
pub fn open(path: impl AsRef<Path>) -> Result<Reader<Source>, ReadError> {
    open_until(path, Arc::new(AtomicBool::new(false)))
}

/// The same; where `stop` is set, reading soon ends with an error.
///
/// # Errors
/// As for [`open`].
pub fn open_until(
    path: impl AsRef<Path>,
    stop: Arc<AtomicBool>,
) -> Result<Reader<Source>, ReadError> {
    let path = path.as_ref();
    let source = Source::open(path)
        .map_err(|source| ReadError::Open { path: path.to_path_buf(), source })?;
    Reader::new(Source { stop, ..source })
}

/// The bytes of a capture, decompressed in a thread of its own.
#[derive(Debug)]
pub struct Source {
    bytes: Bytes,
    size: Option<u64>,
    taken: Arc<AtomicU64>,
    /// Set by who has heard enough.
    stop: Arc<AtomicBool>,
}

#[derive(Debug)]
enum Bytes {
    Plain(Counted),
    Compressed(Ahead),
}

impl Source {
    /// Opens a file, or standard input where `path` is `-`.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn open(path: &Path) -> io::Result<Source> {
        if path.as_os_str() == "-" {
            return Source::new(Box::new(io::stdin()), None);
        }
        let file = File::open(path)?;
        let about = file.metadata()?;
        // The length of a pipe or a device says nothing.
        let size = about.is_file().then_some(about.len());
        Source::new(Box::new(file), size)
    }

    /// Reads from any `stream` of `size` bytes, if that is known.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn new(mut stream: Box<dyn Read + Send>, size: Option<u64>) -> io::Result<Source> {
        let (mut magic, mut len) = ([0; MAGIC], 0);
        while len < MAGIC {
            match stream.read(&mut magic[len..]) {
                Ok(0) => break,
                Ok(more) => len += more,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        let taken = Arc::new(AtomicU64::new(0));
        let counted = Counted { magic, ahead: 0, len, stream, taken: Arc::clone(&taken) };
        let bytes = match &magic[..len] {
            // RFC 1952 section 2.3.1.
            [0x1f, 0x8b, ..] => {
                let buffered = BufReader::with_capacity(CHUNK, counted);
                Bytes::Compressed(Ahead::of(MultiGzDecoder::new(buffered)))
            }
            // RFC 8878 sections 3.1.1 and 3.1.2: a frame, or one to be skipped before it.
            [0x28, 0xb5, 0x2f, 0xfd] | [0x50..=0x5f, 0x2a, 0x4d, 0x18] => {
                let buffered = BufReader::with_capacity(CHUNK, counted);
                Bytes::Compressed(Ahead::of(Zstd::new(buffered)))
            }
            _ => Bytes::Plain(counted),
        };
        Ok(Source { bytes, size, taken, stop: Arc::default() })
    }

    /// How many bytes the file has, as it lies on the disk; none where that is not known.
    pub fn size(&self) -> Option<u64> {
        self.size
    }
    /// How many of them were taken so far, to be watched while somebody reads.
    pub fn taken(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.taken)
    }
}

impl Read for Source {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(io::Error::other("stopped"));
        }
        match &mut self.bytes {
            Bytes::Plain(file) => file.read(buffer),
            Bytes::Compressed(stream) => stream.read(buffer),
        }
    }
}

/// A stream whose first bytes were looked at, and which counts what is taken of it.
struct Counted {
    magic: [u8; MAGIC],
    /// The first of `magic` that nobody has taken.
    ahead: usize,
    len: usize,
    stream: Box<dyn Read + Send>,
    taken: Arc<AtomicU64>,
}

impl std::fmt::Debug for Counted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Counted").field("taken", &self.taken).finish_non_exhaustive()
    }
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let len = if self.ahead < self.len {
            let len = (&self.magic[self.ahead..self.len]).read(buffer)?;
            self.ahead += len;
            len
        } else {
            self.stream.read(buffer)?
        };
        self.taken.fetch_add(len as u64, Ordering::Relaxed);
        Ok(len)
    }
}
