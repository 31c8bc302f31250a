//! The table of connections, by endpoints.
//!
//! Packets come in bursts: a small cache of recent endpoints nearly always hits, a tree answers the
//! rest, also when a crafted capture collides in the cache. What had no packet for some time is
//! [folded](Places) until it has one.
//!
//! Eviction works like the clock algorithm: a hand skips connections active since its last pass and
//! evicts the first idle one, of those folded first. A flood of single packets evicts itself,
//! without an ordered list.

use std::collections::VecDeque;

use super::entry::{Entry, Placed, Tell};
use super::places::{Found, Places};
use super::state::ConnectionState;
use crate::bounds::idle_frames;
use crate::packet::Ends;

/// Cache entries, a power of two.
const CACHED: usize = 1 << 8;
/// However busy many connections are, those without a packet in as many frames are folded.
const LONGEST_PATIENCE: u64 = 1 << 17;
/// Each folded entry takes this part of what patience is more than the least.
const SHORTENED: u64 = 1 << 10;

/// All connections, by endpoints.
#[derive(Debug)]
pub(crate) struct Table {
    entries: Vec<Entry>,
    places: Places,
    /// Indices into `entries` by hash; the entry decides whether it matches.
    cache: Vec<u32>,
    /// The last index found: packets come in trains.
    latest: usize,
    /// Free indices.
    free: Vec<usize>,
    /// The eviction hands: for closed connections and for open ones.
    hands: [usize; 2],
    waiting: VecDeque<Waiting>,
    tickets: u64,
    /// The latest frame.
    frame: u64,
    /// Without a packet for as many frames, an entry is folded.
    patience: u64,
    /// The bytes counted for `entries`.
    counted: usize,
}

/// An entry that is folded when it had no packet for some time.
#[derive(Debug)]
struct Waiting {
    /// A frame of its, not the last if it had one since.
    frame: u64,
    at: usize,
    ticket: u64,
}

impl Default for Table {
    fn default() -> Table {
        Table {
            entries: Vec::new(),
            places: Places::default(),
            cache: vec![0; CACHED],
            latest: 0,
            free: Vec::new(),
            hands: [0; 2],
            waiting: VecDeque::new(),
            tickets: 0,
            frame: 0,
            patience: idle_frames(),
            counted: 0,
        }
    }
}

impl Table {
    /// The index of the connection between `ends`.
    #[inline]
    pub(crate) fn find(&mut self, ends: &Ends) -> Option<usize> {
        if self.entries.get(self.latest).is_some_and(|entry| entry.ends == *ends) {
            return Some(self.latest);
        }
        self.find_elsewhere(ends)
    }

    #[inline(never)]
    fn find_elsewhere(&mut self, ends: &Ends) -> Option<usize> {
        let cached = &mut self.cache[ends.hash() % CACHED];
        if self.entries.get(*cached as usize).is_none_or(|entry| entry.ends != *ends) {
            let free = self.free.last().copied().unwrap_or(self.entries.len());
            match self.places.find(ends, free as u32)? {
                Found::Table(at) => *cached = at,
                Found::Unfolded(entry) => {
                    self.unfolded_after(self.frame.saturating_sub(entry.last_frame()));
                    return Some(self.put(entry));
                }
            }
        }
        self.latest = *cached as usize;
        Some(self.latest)
    }

    /// Adds a connection between two endpoints that have none here; returns its index.
    pub(crate) fn add(&mut self, entry: Entry) -> usize {
        let ends = entry.ends;
        let at = self.put(entry);
        self.places.insert(&ends, at as u32);
        at
    }

    /// Puts an entry at the next free index.
    fn put(&mut self, entry: Entry) -> usize {
        let at = self.free.pop().unwrap_or(self.entries.len());
        self.cache[entry.ends.hash() % CACHED] = at as u32;
        match self.entries.get_mut(at) {
            Some(free) => *free = entry,
            None => self.entries.push(entry),
        }
        self.await_rest(at, self.entries[at].last_frame());
        self.latest = at;
        at
    }

    /// Folds the entries without a packet in the last frames before this one.
    #[inline]
    pub(crate) fn fold_idle(&mut self, frame: u64) {
        self.frame = frame;
        let idle = (frame + 1).saturating_sub(self.patience);
        while self.waiting.front().is_some_and(|first| first.frame < idle) {
            self.fold_oldest(idle, frame);
        }
    }

    /// Folds the entry that waited longest, if its last frame is before `idle`; else it goes on
    /// waiting. What lingers stays: the analyser knows its place.
    #[inline(never)]
    fn fold_oldest(&mut self, idle: u64, frame: u64) -> bool {
        let Some(Waiting { at, ticket, .. }) = self.waiting.pop_front() else { return false };
        let entry = &self.entries[at];
        let last = entry.last_frame();
        if entry.ends == Ends::NONE || entry.ticket != ticket {
            return false;
        }
        if entry.lingers() || last >= idle {
            self.await_rest(at, if last < idle { frame + 1 } else { last });
            return false;
        }
        let entry = self.take_at(at);
        self.places.fold(&entry);
        self.patience -= (self.patience - idle_frames()) / SHORTENED;
        true
    }

    /// An entry had a packet so many frames after its last: with some more patience, it had not
    /// been folded. Connections that do not move data do not lengthen it, and then it is shortened
    /// again.
    fn unfolded_after(&mut self, frames: u64) {
        if frames < LONGEST_PATIENCE / 2 {
            self.patience = self.patience.max(idle_frames().min(1) * 2 * frames);
        }
    }

    fn await_rest(&mut self, at: usize, frame: u64) {
        self.tickets += 1;
        self.entries[at].ticket = self.tickets;
        self.waiting.push_back(Waiting { frame, at, ticket: self.tickets });
    }

    /// Takes out an entry, whose place is to be set.
    fn take_at(&mut self, at: usize) -> Entry {
        let entry = std::mem::replace(&mut self.entries[at], Entry::free());
        self.free.push(at);
        self.counted -= entry.counted;
        entry
    }

    /// The number of pairs of endpoints.
    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }
    /// Evicts an idle pair of endpoints with an open connection (`open`) or without one. None if
    /// there is no such pair; `busy` is never evicted.
    pub(crate) fn forget(&mut self, open: bool, busy: Option<usize>) -> Option<Entry> {
        if let Some(entry) = self.places.evict(open) {
            return Some(entry);
        }
        let hand = &mut self.hands[usize::from(open)];
        // In the second round every entry is idle.
        for _ in 0..2 * self.entries.len() {
            let at = *hand % self.entries.len();
            *hand = at + 1;
            let entry = &mut self.entries[at];
            let fits = entry.ends != Ends::NONE && entry.is_open() == open && Some(at) != busy;
            if fits && entry.is_quiet() {
                let entry = self.take_at(at);
                self.places.remove(&entry.ends);
                return Some(entry);
            }
        }
        None
    }

    #[inline]
    pub(crate) fn at(&mut self, at: usize) -> &mut Entry {
        &mut self.entries[at]
    }

    /// Counts the bytes of the latest entry again; all bytes that connections take, nearly.
    pub(crate) fn count_memory(&mut self) -> usize {
        if let Some(entry) = self.entries.get_mut(self.latest).filter(|it| it.ends != Ends::NONE) {
            let before = std::mem::replace(&mut entry.counted, 0);
            entry.counted = entry.memory();
            self.counted = self.counted - before + entry.counted;
        }
        self.counted + self.places.folded_memory()
    }
    /// Folds an entry without a packet in this frame, the one that waited longest, if what is not
    /// folded takes more than `most` bytes; whether there was one.
    pub(crate) fn fold_early(&mut self, frame: u64, most: usize) -> bool {
        self.counted > most && (0..self.waiting.len()).any(|_| self.fold_oldest(frame, frame))
    }

    /// Folds everything; takes out what was put aside for a successor.
    pub(crate) fn fold_all(&mut self, tell: &mut Tell<'_>) -> Vec<Placed> {
        for entry in self.entries.iter().filter(|entry| entry.ends != Ends::NONE) {
            self.places.fold(entry);
        }
        self.entries = Vec::new();
        let pairs = self.places.with_aside();
        let pairs = pairs.iter().filter_map(|ends| self.places.take(ends));
        pairs.flat_map(|entry| entry.into_live(tell)).flatten().collect()
    }
    /// The unfinished connections when [all are folded](Self::fold_all): number and ends.
    pub(crate) fn unfinished(&self) -> impl Iterator<Item = (u32, Ends)> {
        self.places.unfinished()
    }
    /// Takes the folded connection between two ends.
    pub(crate) fn take(
        &mut self,
        ends: &Ends,
        tell: &mut Tell<'_>,
    ) -> Option<Box<ConnectionState>> {
        let [_, latest] = self.places.take(ends)?.into_live(tell);
        latest.map(|(_, state)| state)
    }
}
