//! Text that waits for what stands before it: in a file, beyond some megabytes.

use std::collections::BTreeMap;
use std::env;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::Serialize;

use crate::output::{PRIVATE, new_file};
use crate::unfinished::Unfinished;

/// The most bytes that stay in memory.
const MOST: usize = 16 << 20;
/// Bytes read from the file at once.
const CHUNK: usize = 1 << 16;

/// Numbered pieces of text, in the order in which they came.
#[derive(Debug)]
pub(super) struct Spool {
    folder: PathBuf,
    /// Its name is removed already.
    file: Option<File>,
    /// The length of the file.
    written: u64,
    /// What follows it.
    buffer: Vec<u8>,
    parts: BTreeMap<u64, Range<u64>>,
    failed: Option<io::Error>,
}

impl Spool {
    /// For a document at this place: the file is beside it, else where temporary files are.
    pub(super) fn beside(place: &Path) -> Spool {
        let is_file = place.as_os_str() != "-" && (place.is_file() || !place.exists());
        let folder = place.parent().filter(|_| is_file);
        let folder = folder.map_or_else(env::temp_dir, Path::to_owned);
        Spool {
            folder,
            file: None,
            written: 0,
            buffer: Vec::new(),
            parts: BTreeMap::new(),
            failed: None,
        }
    }

    /// Adds a value as JSON; an error shows itself when all are [copied](Spool::copy).
    pub(super) fn add(&mut self, number: u64, value: &impl Serialize) {
        self.add_by(number, |spool| Ok(serde_json::to_writer(spool, value)?));
    }

    /// As [`add`](Spool::add), a text as it is.
    pub(super) fn add_text(&mut self, number: u64, text: &str) {
        self.add_by(number, |spool| spool.write_all(text.as_bytes()));
    }

    fn add_by(&mut self, number: u64, write: impl FnOnce(&mut Spool) -> io::Result<()>) {
        if self.failed.is_some() {
            return;
        }
        let from = self.len();
        match write(self) {
            Ok(()) => drop(self.parts.insert(number, from..self.len())),
            Err(error) => self.failed = Some(error),
        }
    }

    /// How many there are, with the one that could not be added.
    pub(super) fn count(&self) -> usize {
        self.parts.len() + usize::from(self.failed.is_some())
    }

    /// Writes all by their numbers, with `between` in between.
    ///
    /// # Errors
    /// If one could not be added, or be written now.
    pub(super) fn copy(self, out: &mut impl Write, between: &str) -> Result<()> {
        let Spool { folder, file, written, buffer, parts, failed } = self;
        let cannot = || format!("cannot keep the answer in a file of {}", shown(&folder));
        if let Some(error) = failed {
            return Err(error).with_context(cannot);
        }
        let mut chunk = vec![0; CHUNK];
        for (place, part) in parts.into_values().enumerate() {
            if place > 0 {
                out.write_all(between.as_bytes())?;
            }
            let mut at = part.start;
            while let Some(mut file) = file.as_ref().filter(|_| at < written.min(part.end)) {
                let long = (written.min(part.end) - at).min(CHUNK as u64);
                let chunk = &mut chunk[..long as usize];
                file.seek(SeekFrom::Start(at)).with_context(cannot)?;
                file.read_exact(chunk).with_context(cannot)?;
                out.write_all(chunk)?;
                at += long;
            }
            let of = |place: u64| place.saturating_sub(written) as usize;
            out.write_all(&buffer[of(at)..of(part.end)])?;
        }
        Ok(())
    }

    fn len(&self) -> u64 {
        self.written + self.buffer.len() as u64
    }

    fn make_room(&mut self) -> io::Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            none => {
                let name = format!(".tcplab.{}.spool", std::process::id());
                let (named, file) = Unfinished::file(self.folder.join(name), |path| {
                    new_file(PRIVATE).read(true).write(true).create_new(true).open(path)
                })?;
                drop(named);
                none.insert(file)
            }
        };
        file.write_all(&self.buffer)?;
        self.written += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }
}

impl Write for Spool {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.buffer.len() + bytes.len() > MOST {
            self.make_room()?;
        }
        self.buffer.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn shown(folder: &Path) -> String {
    if folder.as_os_str().is_empty() { "this folder".into() } else { folder.display().to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_in_order_from_file_and_memory() {
        let folder = tempfile::tempdir().unwrap();
        let mut spool = Spool::beside(&folder.path().join("all.json"));
        // Together more than is kept in memory; one stands in both.
        let long = |number: u64| number.to_string().repeat(3 << 20);
        let order = [3, 0, 7, 1, 9, 2, 8];
        for number in order {
            spool.add(number, &long(number));
        }
        assert!(spool.file.is_some());
        assert_eq!(folder.path().read_dir().unwrap().count(), 0);
        let mut out = Vec::new();
        spool.copy(&mut out, ",").unwrap();
        let all: Vec<String> =
            serde_json::from_str(&format!("[{}]", String::from_utf8(out).unwrap())).unwrap();
        assert!(all == [0, 1, 2, 3, 7, 8, 9].map(long));
    }

    #[test]
    fn folder_that_is_not_there_is_named() {
        let mut spool = Spool::beside(Path::new("/nowhere/all.json"));
        spool.add(0, &"x".repeat(MOST + 1));
        spool.add(1, &"y".repeat(MOST + 1));
        let error = spool.copy(&mut Vec::new(), "").unwrap_err();
        assert!(format!("{error:#}").contains("in a file of /nowhere: No such file"), "{error:#}");
    }
}
