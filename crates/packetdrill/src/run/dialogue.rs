//! What happened in a run, in the order in which it did.

use std::collections::BTreeMap;
use std::fmt;

use tcplab_units::Instant;

use crate::notation::written;
use crate::source::Position;

/// Something that happened in a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// When, from the start of the script.
    pub time: Instant,
    /// Its position in the script; `None` for a packet of the stack that no line expects.
    pub at: Option<Position>,
    /// In the script's notation: `> P. 1:1001(1000) ack 1 win 1050`, `write(4, ..., 1000) = 1000`.
    pub text: String,
    /// Why the stack sent it, in a word, if it is known.
    pub cause: Option<&'static str>,
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", written(self.time), self.text)?;
        self.cause.map_or(Ok(()), |cause| write!(f, "  // {cause}"))
    }
}

/// Lines in the order of their places: what is sent can be written only when the script has shown
/// how it counts, which may be later.
#[derive(Default)]
pub(super) struct Dialogue {
    lines: BTreeMap<u64, Line>,
    next: u64,
}

impl Dialogue {
    /// The next place.
    pub(super) fn place(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    pub(super) fn put(&mut self, place: u64, line: Line) {
        self.lines.insert(place, line);
    }

    /// The script's line `at` did this now.
    pub(super) fn did(&mut self, time: Instant, at: Position, text: String) {
        let place = self.place();
        self.put(place, Line { time, at: Some(at), text, cause: None });
    }

    pub(super) fn into_lines(self) -> Vec<Line> {
        self.lines.into_values().collect()
    }
}
