//! How much reordering is expected.

use crate::config;

/// Reordering seen so far.
#[derive(Debug)]
pub(crate) struct Reordering {
    /// Segments by which one is expected to be displaced (`tp->reordering`).
    pub(crate) segments: u32,
    /// How often segments were reordered.
    pub(crate) events: u64,
    /// The duplicate threshold at the start, segments.
    least: u32,
    /// The most that is learnt, segments.
    most: u32,
}

impl Reordering {
    pub(super) fn new(config: &config::Recovery) -> Reordering {
        let (least, most) = (config.dupthresh, config.most_reordering);
        Reordering { segments: least, events: 0, least, most }
    }

    /// A segment was displaced by this many.
    pub(crate) fn learn(&mut self, segments: u32) {
        self.segments = segments.min(self.most);
    }

    /// Too much was expected: many duplicate ACKs came before a timeout.
    pub(crate) fn reset(&mut self) {
        self.segments = self.segments.min(self.least);
    }

    /// Whether reordering is common on this path.
    pub(crate) fn is_common(&self) -> bool {
        self.segments > self.least
    }
}
