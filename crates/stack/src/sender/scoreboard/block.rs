//! A range of positions.

/// The positions from `start` up to, and not including, `end`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Block {
    pub(crate) start: u64,
    pub(crate) end: u64,
}

impl Block {
    /// Whether `other` lies wholly in it.
    pub(crate) fn contains(self, other: Block) -> bool {
        self.start <= other.start && other.end <= self.end
    }
}
