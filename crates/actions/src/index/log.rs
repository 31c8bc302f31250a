//! Writes an index while a capture is analysed.

use std::fmt;

use tcplab_trace::{FrameLog, LOG_LAG, Trace};

use super::cache::Growing;
use super::contents::{ContentsWriter, KEY, MOST_CHANGES};

/// The frames of which the beginning is known, and the connection not yet.
const PENDING: usize = 2 * LOG_LAG as usize;

/// An index that is written. It holds 400 kB, however long the capture is.
pub(super) struct IndexLog {
    /// None when it was given up.
    contents: Option<ContentsWriter<Growing>>,
    /// The latest frames by number: where each begins; none for fragments.
    begins: Vec<(u64, Option<u64>)>,
    latest: u64,
    copies_usual: Vec<(u64, bool)>,
    /// Whether the capture is what it was.
    is_current: Box<dyn Fn() -> bool + Send>,
}

impl IndexLog {
    pub(super) fn new(
        growing: Growing,
        key: &[u8; KEY],
        is_current: Box<dyn Fn() -> bool + Send>,
    ) -> IndexLog {
        IndexLog {
            contents: Some(ContentsWriter::new(growing, key)),
            begins: vec![(0, None); PENDING],
            latest: 0,
            copies_usual: Vec::new(),
            is_current,
        }
    }

    fn write(&mut self, add: impl FnOnce(&mut ContentsWriter<Growing>) -> Option<()>) {
        if self.contents.as_mut().is_some_and(|contents| add(contents).is_none()) {
            self.contents = None;
        }
    }

    #[inline]
    fn of(&mut self, frame: u64) -> &mut (u64, Option<u64>) {
        &mut self.begins[frame as usize % PENDING]
    }
}

impl fmt::Debug for IndexLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IndexLog").field("contents", &self.contents).finish_non_exhaustive()
    }
}

impl FrameLog for IndexLog {
    fn begins(&mut self, frame: u64, position: u64) {
        self.latest = frame;
        *self.of(frame) = (frame, Some(position));
    }

    fn is_fragment(&mut self) {
        self.of(self.latest).1 = None;
    }

    fn copies_are_usual(&mut self, frame: u64, usual: bool) {
        if self.copies_usual.len() == MOST_CHANGES {
            return self.gives_up();
        }
        self.copies_usual.push((frame, usual));
    }

    fn reuses(&mut self, connection: usize, earlier: usize) {
        self.write(|contents| contents.reuses(connection as u64, earlier as u64));
    }

    fn owns(&mut self, connection: usize, frame: u64) {
        let (known, begins) = *self.of(frame);
        self.write(|contents| match begins {
            Some(at) if known == frame => contents.frame(frame, at, connection as u64),
            None if known == frame => contents.left_out(connection as u64),
            _ => None,
        });
    }

    fn leaves_out(&mut self, connection: usize) {
        self.write(|contents| contents.left_out(connection as u64));
    }

    fn gives_up(&mut self) {
        self.contents = None;
    }

    fn finish(self: Box<Self>, trace: &Trace, _: usize) {
        let IndexLog { contents, copies_usual, is_current, .. } = *self;
        let growing = contents.and_then(|contents| contents.end(trace, &copies_usual));
        if let Some(growing) = growing.filter(|_| is_current()) {
            growing.keep();
        }
    }
}
