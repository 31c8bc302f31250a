//! Where connections are, by their ends: in the table, or folded into few bytes each.

use super::entry::Entry;
use crate::fold::{Fold, Folder};
use crate::packet::{Ends, Tree};

/// The bytes that a folded connection takes beside its own: a share of the tree's node, and what an
/// allocation adds.
const BESIDE: usize = 80;

/// Entries by their ends.
#[derive(Debug, Default)]
pub(super) struct Places {
    /// Entries in the table, and folded ones with an open connection.
    tracked: Tree<Place>,
    /// Folded entries without an open connection.
    closed: Tree<Box<[u8]>>,
    /// The number of entries in the table.
    in_table: usize,
    folder: Folder,
    /// The bytes of all folded ones.
    bytes: usize,
    /// The last ones that eviction looked at.
    hands: [Option<Ends>; 2],
}

#[derive(Debug)]
enum Place {
    Table(u32),
    Folded(Box<[u8]>),
}

/// An entry that was found.
pub(super) enum Found {
    /// At this index of the table.
    Table(u32),
    /// It was folded.
    Unfolded(Entry),
}

/// The first byte of a folded entry: it had packets since eviction last looked at it.
const ACTIVE: u8 = 1;
/// Another connection was put aside for it.
const ASIDE: u8 = 2;
/// Its connection is not finished.
const UNFINISHED: u8 = 4;

impl Places {
    pub(super) fn len(&self) -> usize {
        self.tracked.len() + self.closed.len()
    }
    /// The bytes that all folded entries take, nearly.
    pub(super) fn folded_memory(&self) -> usize {
        self.bytes
    }

    /// The entry between these ends; one that was folded is at this index of the table then.
    pub(super) fn find(&mut self, ends: &Ends, unfolded_to: u32) -> Option<Found> {
        let folded = match self.tracked.find(ends) {
            Some(Place::Table(at)) => return Some(Found::Table(*at)),
            Some(place) => match std::mem::replace(place, Place::Table(unfolded_to)) {
                Place::Folded(folded) => folded,
                Place::Table(_) => unreachable!("it is folded"),
            },
            None => {
                let folded = self.closed.remove(ends)?;
                self.tracked.insert(ends, Place::Table(unfolded_to));
                folded
            }
        };
        self.in_table += 1;
        Some(Found::Unfolded(self.unfold(*ends, &folded)))
    }

    /// The entry between these ends, which have none, is at this index of the table.
    pub(super) fn insert(&mut self, ends: &Ends, at: u32) {
        self.in_table += 1;
        self.tracked.insert(ends, Place::Table(at));
    }

    /// Removes an entry of the table.
    pub(super) fn remove(&mut self, ends: &Ends) {
        self.in_table -= 1;
        self.tracked.remove(ends);
    }

    /// Folds an entry of the table.
    pub(super) fn fold(&mut self, entry: &Entry) {
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
        self.in_table -= 1;
        if !entry.is_open() {
            self.tracked.remove(&entry.ends);
            self.closed.insert(&entry.ends, folded);
        } else if let Some(place) = self.tracked.find(&entry.ends) {
            *place = Place::Folded(folded);
        }
    }

    /// Takes out a folded entry.
    pub(super) fn take(&mut self, ends: &Ends) -> Option<Entry> {
        let folded = match self.tracked.remove(ends) {
            Some(Place::Folded(folded)) => folded,
            Some(Place::Table(_)) => unreachable!("it is folded"),
            None => self.closed.remove(ends)?,
        };
        Some(self.unfold(*ends, &folded))
    }

    /// Takes out a folded entry that had no packet since the last look at it: with an open
    /// connection, or without one.
    pub(super) fn evict(&mut self, open: bool) -> Option<Entry> {
        let hand = &mut self.hands[usize::from(open)];
        // Those in the table are few beside those folded, and a round passes by each once.
        *hand = Some(if open {
            if self.tracked.len() == self.in_table {
                return None;
            }
            self.tracked.behind(*hand, |place| match place {
                Place::Table(_) => false,
                Place::Folded(folded) => !was_active(folded),
            })?
        } else {
            self.closed.behind(*hand, |folded| !was_active(folded))?
        });
        hand.and_then(|ends| self.take(&ends))
    }

    /// The ends of folded entries that put another connection aside.
    pub(super) fn with_aside(&self) -> Vec<Ends> {
        self.folded().filter(|(_, folded)| folded[0] & ASIDE > 0).map(|(ends, _)| ends).collect()
    }
    /// The folded entries with an unfinished connection: its number, and their ends.
    pub(super) fn unfinished(&self) -> impl Iterator<Item = (u32, Ends)> {
        let unfinished = self.folded().filter(|(_, folded)| folded[0] & UNFINISHED > 0);
        unfinished.map(|(ends, folded)| (Entry::number_of(&folded[1..]), ends))
    }

    fn folded(&self) -> impl Iterator<Item = (Ends, &Box<[u8]>)> {
        let tracked = self.tracked.iter().filter_map(|(ends, place)| match place {
            Place::Table(_) => None,
            Place::Folded(folded) => Some((ends, folded)),
        });
        tracked.chain(self.closed.iter())
    }
    fn unfold(&mut self, ends: Ends, folded: &[u8]) -> Entry {
        self.bytes -= folded.len() + BESIDE;
        Entry::unfolded(ends, folded[0] & ACTIVE > 0, &folded[1..])
    }
}

/// Whether a folded entry had packets since the last call.
fn was_active(folded: &mut [u8]) -> bool {
    let was_active = folded[0] & ACTIVE > 0;
    folded[0] &= !ACTIVE;
    was_active
}
