//! Notes on a capture.

use std::collections::BTreeMap;

use crate::Note;

/// The most frames named per note.
const NAMED: u64 = 10;

/// Notes on the capture; per text the first frames and the count.
#[derive(Debug, Default)]
pub(crate) struct Remarks {
    pub(crate) whole: Vec<Note>,
    kinds: BTreeMap<String, Frames>,
    /// Those of connections, which have a few texts only.
    known: BTreeMap<&'static str, Frames>,
}

/// The first frames that a note is about, in order, and how many there are.
#[derive(Debug, Default)]
struct Frames {
    first: Vec<u64>,
    count: u64,
}

impl Frames {
    /// Adds a frame, in any order.
    fn add(&mut self, frame: u64) {
        self.count += 1;
        let place = self.first.partition_point(|&first| first <= frame);
        if (place as u64) < NAMED {
            self.first.truncate(NAMED as usize - 1);
            self.first.insert(place, frame);
        }
    }
}

impl Remarks {
    #[inline(never)]
    pub(crate) fn add(&mut self, text: &str, frame: u64) {
        if let Some(frames) = self.kinds.get_mut(text) {
            frames.add(frame);
        } else if (self.kinds.len() as u64) < NAMED * NAMED {
            self.kinds.entry(text.to_owned()).or_default().add(frame);
        }
    }

    #[inline(never)]
    pub(crate) fn add_known(&mut self, text: &'static str, frame: u64) {
        self.known.entry(text).or_default().add(frame);
    }

    /// All notes, ordered by text.
    pub(crate) fn into_notes(self) -> Vec<Note> {
        let mut notes = self.whole;
        let known = self.known.into_iter().map(|(text, frames)| (text.to_owned(), frames));
        let kinds: BTreeMap<String, Frames> = self.kinds.into_iter().chain(known).collect();
        for (text, Frames { first, count }) in kinds {
            let more = count - first.len() as u64;
            notes
                .extend(first.iter().map(|&frame| Note { frame: Some(frame), text: text.clone() }));
            if more > 0 {
                notes.push(Note { frame: None, text: format!("{text}: {more} more frames") });
            }
        }
        notes
    }
}
