//! What is to be remarked on a capture.

use std::collections::BTreeMap;

use crate::Note;

/// How many frames are named for one kind of remark.
const NAMED: u64 = 10;

/// Remarks on the capture; of each kind the first few frames and how many there are.
#[derive(Debug, Default)]
pub(crate) struct Remarks {
    pub(crate) whole: Vec<Note>,
    kinds: BTreeMap<String, (Vec<u64>, u64)>,
}

impl Remarks {
    /// A remark on this frame.
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

    /// All, in the order of their kinds.
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
