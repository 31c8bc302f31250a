//! Segments that one capture holds more than once: of several interfaces, or of mirrored ports.

use std::collections::{BTreeSet, VecDeque};

use super::piece::{Key, WireSegment};
use crate::packet::{AT_ONCE, SOONEST};

/// The most segments remembered.
const MOST: usize = 1 << 12;

/// The segments of one direction that a capture held last.
#[derive(Debug, Default)]
pub(crate) struct Copies {
    recent: VecDeque<Original>,
    /// The number of the first of them.
    first: u64,
    numbers: BTreeSet<(Key, u64)>,
}

#[derive(Debug)]
struct Original {
    key: Key,
    id: Option<u16>,
    at: i64,
    copied: bool,
}

impl Copies {
    /// Whether a segment is a copy of an earlier one; remembers it otherwise.
    pub(crate) fn has(&mut self, piece: &WireSegment) -> bool {
        let soon = AT_ONCE.as_nanos() as i64;
        while let Some(oldest) = self.recent.front()
            && (piece.at - oldest.at > soon || self.recent.len() >= MOST)
        {
            self.numbers.remove(&(oldest.key, self.first));
            self.recent.pop_front();
            self.first += 1;
        }
        let alike = self.numbers.range((piece.key, 0)..=(piece.key, u64::MAX));
        let place = |number: u64| (number - self.first) as usize;
        let original =
            alike.map(|&(_, number)| place(number)).find(|&at| self.recent[at].is_of(piece));
        if let Some(at) = original {
            self.recent[at].copied = true;
            return true;
        }
        self.numbers.insert((piece.key, self.first + self.recent.len() as u64));
        let WireSegment { key, id, at, .. } = *piece;
        self.recent.push_back(Original { key, id, at, copied: false });
        false
    }
}

impl Original {
    fn is_of(&self, piece: &WireSegment) -> bool {
        let later = piece.at - self.at;
        match (self.id.filter(|id| *id != 0), piece.id.filter(|id| *id != 0)) {
            (Some(one), Some(other)) => one == other,
            // Equal ACKs may follow one another: every second one is a copy.
            _ => later <= SOONEST.as_nanos() as i64 && (piece.key.takes_room() || !self.copied),
        }
    }
}
