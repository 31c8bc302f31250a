//! Notes on a capture.

use std::collections::BTreeMap;

use crate::Note;

/// The most frames named per note.
const NAMED: u64 = 10;

/// Notes on the capture; per text the first frames and the count.
#[derive(Debug, Default)]
pub(crate) struct Remarks {
    pub(crate) whole: Vec<Note>,
    kinds: BTreeMap<String, (Vec<u64>, u64)>,
}

impl Remarks {
    #[inline(never)]
    pub(crate) fn add(&mut self, text: &str, frame: u64) {
        if let Some((frames, count)) = self.kinds.get_mut(text) {
            *count += 1;
            if (frames.len() as u64) < NAMED {
                frames.push(frame);
            }
        } else if (self.kinds.len() as u64) < NAMED * NAMED {
            self.kinds.insert(text.to_owned(), (vec![frame], 1));
        }
    }

    /// All notes, ordered by text.
    pub(crate) fn into_notes(self) -> Vec<Note> {
        let mut notes = self.whole;
        for (text, (frames, count)) in self.kinds {
            let more = count - frames.len() as u64;
            notes.extend(
                frames.iter().map(|&frame| Note { frame: Some(frame), text: text.clone() }),
            );
            if more > 0 {
                notes.push(Note { frame: None, text: format!("{text}: {more} more frames") });
            }
        }
        notes
    }
}
