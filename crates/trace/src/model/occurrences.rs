//! How often something was seen, and where to look for it.

use tcplab_units::Instant;

/// How often something was seen, when first, and in which frames.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Occurrences {
    /// How often.
    pub count: u64,
    /// When first.
    pub first: Option<Instant>,
    /// The first [`Occurrences::NAMED`] frames, counted from 1.
    pub frames: Vec<u64>,
}

impl Occurrences {
    /// As many frames are named.
    pub const NAMED: usize = 10;

    /// One more.
    pub fn add(&mut self, at: Instant, frame: u64) {
        self.count += 1;
        self.first.get_or_insert(at);
        if self.frames.len() < Occurrences::NAMED {
            self.frames.push(frame);
        }
    }
    /// Whether there was none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }
}
