//! How often something was seen, and where to look for it.

use std::ops::{Deref, DerefMut};

use tcplab_units::Instant;

/// How often something was seen, when first, and in which frames. Most of what is counted so never
/// occurs in most connections: memory is allocated with the first.
#[derive(Debug, Clone, Default)]
pub struct Occurrences(Option<Box<Occurred>>);

/// What [`Occurrences`] are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Occurred {
    /// How often.
    pub count: u64,
    /// When first.
    pub first: Option<Instant>,
    /// The first [`Occurrences::NAMED`] frames, counted from 1.
    pub frames: Vec<u64>,
}

static NEVER: Occurred = Occurred { count: 0, first: None, frames: Vec::new() };

impl Occurrences {
    /// As many frames are named.
    pub const NAMED: usize = 10;

    /// One more.
    #[inline(never)]
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

impl From<Occurred> for Occurrences {
    fn from(occurred: Occurred) -> Occurrences {
        Occurrences(Some(Box::new(occurred)))
    }
}

impl Deref for Occurrences {
    type Target = Occurred;

    #[inline]
    fn deref(&self) -> &Occurred {
        self.0.as_deref().unwrap_or(&NEVER)
    }
}

impl DerefMut for Occurrences {
    fn deref_mut(&mut self) -> &mut Occurred {
        self.0.get_or_insert_default()
    }
}

impl PartialEq for Occurrences {
    fn eq(&self, other: &Occurrences) -> bool {
        **self == **other
    }
}

impl Eq for Occurrences {}
