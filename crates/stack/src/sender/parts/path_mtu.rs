//! What a sender knows of the packet sizes that the path takes.

/// Segment sizes, data bytes.
#[derive(Debug, Default)]
pub(crate) struct PathMtu {
    /// A full segment by MSS and path MTU.
    pub(crate) known: u32,
    /// The most since a black hole is suspected.
    pub(crate) suspected: Option<u32>,
    /// A full segment by both, before the peer's window limits it.
    pub(crate) full: u32,
    /// Everything below is retransmitted because it was too large, and for no other reason.
    pub(crate) cut_to: u64,
}

impl PathMtu {
    pub(crate) fn new(mss: u32) -> PathMtu {
        PathMtu { known: mss, full: mss, ..PathMtu::default() }
    }

    /// A full segment follows from what is known and what is suspected.
    pub(crate) fn resize(&mut self) {
        self.full = self.known.min(self.suspected.unwrap_or(u32::MAX));
    }
}
