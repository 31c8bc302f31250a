//! Files of zeros and pipes: where `sendfile` reads and `splice` writes.

use std::collections::{BTreeMap, BTreeSet};

use crate::subject::{Outcome, Refusal};

/// What the host has besides sockets.
#[derive(Default)]
pub(super) struct Files {
    /// The length of each file, bytes.
    lengths: BTreeMap<String, u64>,
    /// Open files: their length, and where they are read next.
    open: BTreeMap<i64, (u64, u64)>,
    /// Ends of pipes.
    pipes: BTreeSet<i64>,
}

impl Files {
    /// A file has so many bytes now.
    pub(super) fn put(&mut self, path: &str, len: u64) {
        self.lengths.insert(path.into(), len);
    }

    pub(super) fn open(&mut self, fd: i64, path: &str) -> Result<Outcome, Refusal> {
        let unknown = || Refusal("a file that the script did not make".into());
        let len = *self.lengths.get(path).ok_or_else(unknown)?;
        self.open.insert(fd, (len, 0));
        Ok(Outcome::value(fd))
    }

    /// Whether it is an end of a pipe.
    pub(super) fn is_pipe(&self, fd: i64) -> bool {
        self.pipes.contains(&fd)
    }

    pub(super) fn pipe(&mut self, ends: [i64; 2]) -> Outcome {
        self.pipes.extend(ends);
        Outcome { values: ends.to_vec(), ..Outcome::value(0) }
    }

    /// Whether there was such a descriptor.
    pub(super) fn close(&mut self, fd: i64) -> bool {
        self.open.remove(&fd).is_some() || self.pipes.remove(&fd)
    }

    /// How many of `len` bytes are there to be read.
    pub(super) fn read(&mut self, fd: i64, offset: Option<u64>, len: u32) -> Result<u32, Outcome> {
        let (size, position) = self.open.get_mut(&fd).ok_or_else(|| Outcome::error("EBADF"))?;
        let left = size.saturating_sub(offset.unwrap_or(*position));
        let count = u32::try_from(left).unwrap_or(u32::MAX).min(len);
        if offset.is_none() {
            *position += u64::from(count);
        }
        Ok(count)
    }
}
