//! Indexes of captures: with one, a single connection is analysed without reading the rest.
//!
//! An index names the frames of each connection and where they lie in the file, and keeps what the
//! output says of the whole capture. It is written to the user's cache while a whole capture is
//! read, and used as long as the file and the program are the same. Without a cache, or with an
//! index that is damaged or of something else, everything is read: nothing here is an error.

mod bytes;
mod cache;
mod contents;
mod log;

use std::fs::File;
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow};
use tcplab_capture::{Interface, Reader};
use tcplab_kernels::user_cache;
use tcplab_trace::{FrameLog, Sink, Trace, replay};

use crate::name;
use cache::{Cache, Identity};
pub use contents::{Known, Lookup, check_index};
use log::IndexLog;

/// Smaller captures have no index, bytes: to read all of them takes about 30 ms.
const LEAST: u64 = 4 << 20;

/// The index of a capture, whether it was written yet or not.
#[derive(Debug)]
pub struct CaptureIndex {
    capture: PathBuf,
    identity: Identity,
    cache: Cache,
}

impl CaptureIndex {
    /// For a file that can have one: it is large enough, and the user has a cache.
    pub fn of(capture: &Path) -> Option<CaptureIndex> {
        CaptureIndex::below(&user_cache()?, capture, LEAST)
    }

    /// The same in this cache and from this size on.
    fn below(caches: &Path, capture: &Path, least: u64) -> Option<CaptureIndex> {
        let identity = Identity::of(capture).filter(|it| it.size() >= least)?;
        let cache = Cache::at(caches.join("captures"));
        Some(CaptureIndex { capture: capture.to_owned(), identity, cache })
    }

    /// What is known of the connection with this number.
    pub fn find(&self, connection: usize) -> Lookup {
        let file = self.cache.open(&self.identity);
        let found = file.and_then(|file| contents::find(file, self.identity.key(), connection));
        found.unwrap_or(Lookup::NoIndex)
    }

    /// Analyses a connection that [is known](Self::find), by its frames alone: the trace without
    /// connections, the sink, and the places of capture.
    ///
    /// # Errors
    /// If the capture cannot be read, or has changed.
    pub fn read<S: Sink>(&self, known: Known, sink: S) -> Result<(Trace, S, Vec<Interface>)> {
        let mut reader = Reader::<File>::open(&self.capture)?;
        let replayed = replay(&mut reader, &known.connection, sink);
        if !self.is_current() {
            return Err(anyhow!("{} changed while it was read", name(&self.capture)));
        }
        let (sink, interfaces) = replayed.map_err(|error| {
            self.cache.remove(&self.identity);
            anyhow!("{}: {error}: it is removed, so try again", name(&self.capture))
        })?;
        Ok((known.trace, sink, interfaces))
    }

    /// What writes the index while all of the capture is read, if it can be written.
    pub fn log(&self) -> Option<Box<dyn FrameLog>> {
        // This reader takes no compressed file, in which one cannot jump.
        if !self.identity.is_settled() || Reader::<File>::open(&self.capture).is_err() {
            return None;
        }
        let growing = self.cache.create(&self.identity)?;
        let (capture, identity) = (self.capture.clone(), self.identity.clone());
        let is_current = move || Identity::of(&capture).as_ref() == Some(&identity);
        Some(Box::new(IndexLog::new(growing, self.identity.key(), Box::new(is_current))))
    }

    fn is_current(&self) -> bool {
        Identity::of(&self.capture).as_ref() == Some(&self.identity)
    }
}

#[cfg(test)]
mod tests;
