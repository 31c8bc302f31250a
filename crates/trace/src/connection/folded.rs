//! Connections without packets for some time, folded into few bytes each.

use super::entry::Entry;
use crate::fold::{Fold, Folder};
use crate::packet::{Ends, Tree};

/// The bytes that a connection takes beside its own: a share of the tree's node, and what an
/// allocation adds.
const BESIDE: usize = 80;

/// Folded entries by their ends: with an open connection, and without.
#[derive(Debug, Default)]
pub(crate) struct FoldedEntries {
    open: Tree<Box<[u8]>>,
    closed: Tree<Box<[u8]>>,
    folder: Folder,
    bytes: usize,
    /// The last ones that eviction looked at.
    hands: [Option<Ends>; 2],
}

/// The first byte of a folded entry: it had packets since eviction last looked at it.
const ACTIVE: u8 = 1;
/// Another connection was put aside for it.
const ASIDE: u8 = 2;
/// Its connection is not finished.
const UNFINISHED: u8 = 4;

impl FoldedEntries {
    pub(crate) fn len(&self) -> usize {
        self.open.len() + self.closed.len()
    }
    /// The bytes that all take, nearly.
    pub(crate) fn memory(&self) -> usize {
        self.bytes
    }

    pub(crate) fn insert(&mut self, entry: &Entry) {
        let marks = [
            (entry.is_active(), ACTIVE),
            (entry.has_aside(), ASIDE),
            (entry.is_unfinished(), UNFINISHED),
        ];
        let marks = marks.into_iter().filter(|(is_so, _)| *is_so).map(|(_, mark)| mark);
        self.folder.byte(marks.fold(0, |all, mark| all | mark));
        entry.fold(&mut self.folder);
        let folded = self.folder.finish();
        self.bytes += folded.len() + BESIDE;
        self.of(entry.is_open()).insert(&entry.ends, folded);
    }

    /// The entry between these ends, unfolded.
    pub(crate) fn take(&mut self, ends: &Ends) -> Option<Entry> {
        let folded = self.open.remove(ends).or_else(|| self.closed.remove(ends))?;
        self.bytes -= folded.len() + BESIDE;
        Some(unfolded(*ends, &folded))
    }

    /// Removes one that had no packet since the last look at it: with an open connection, or
    /// without one.
    pub(crate) fn evict(&mut self, open: bool) -> Option<Entry> {
        loop {
            let hand = self.hands[usize::from(open)];
            let ends = self.of(open).behind(hand)?;
            self.hands[usize::from(open)] = Some(ends);
            match self.of(open).find(&ends)?.first_mut() {
                Some(marks) if *marks & ACTIVE > 0 => *marks &= !ACTIVE,
                _ => return self.take(&ends),
            }
        }
    }

    /// The ends of entries that put another connection aside.
    pub(crate) fn with_aside(&self) -> Vec<Ends> {
        self.all().filter(|(_, folded)| folded[0] & ASIDE > 0).map(|(ends, _)| ends).collect()
    }
    /// The entries with an unfinished connection: its number, and their ends.
    pub(crate) fn unfinished(&self) -> impl Iterator<Item = (u32, Ends)> {
        let unfinished = self.all().filter(|(_, folded)| folded[0] & UNFINISHED > 0);
        unfinished.map(|(ends, folded)| (Entry::number_of(&folded[1..]), ends))
    }

    fn all(&self) -> impl Iterator<Item = (Ends, &Box<[u8]>)> {
        self.open.iter().chain(self.closed.iter())
    }
    fn of(&mut self, open: bool) -> &mut Tree<Box<[u8]>> {
        if open { &mut self.open } else { &mut self.closed }
    }
}

fn unfolded(ends: Ends, folded: &[u8]) -> Entry {
    Entry::unfolded(ends, folded[0] & ACTIVE > 0, &folded[1..])
}
