//! One direction, being compiled.

use super::plan::Note;
use crate::{Direction, PathError, PathSpec};

/// One direction, being compiled.
pub(super) struct Job<'a> {
    pub(super) path: &'a PathSpec,
    pub(super) direction: Direction,
    pub(super) refused: Vec<PathError>,
    pub(super) notes: Vec<Note>,
}

impl Job<'_> {
    pub(super) fn refuse(&mut self, key: &str, what: impl Into<String>) {
        let key = self.path.written(self.direction, key);
        self.refused.push(PathError { key, what: what.into() });
    }

    pub(super) fn note(&mut self, key: &str, what: impl Into<String>) {
        let key = self.path.written(self.direction, key);
        self.notes.push(Note { key, what: what.into() });
    }
}
