//! What a limit of memory makes unknown.

use tcplab_units::Bytes;

use crate::Note;

/// Connections that a limit of memory ended before the capture did.
#[derive(Debug, Default)]
pub(super) struct EndedEarly {
    /// Open ones.
    pub(super) open: u64,
    /// Closed ones of which late packets are no longer recognised.
    pub(super) closed: u64,
    pub(super) limit: Bytes,
}

impl EndedEarly {
    /// What is not known because of that.
    pub(super) fn note(&self) -> Option<Note> {
        let EndedEarly { open, closed, limit } = self;
        let text = format!(
            "the limit of {limit} of memory ended {open} open connections early and forgot \
             {closed} closed ones, the longest idle first: their later packets count as new \
             connections, and what they continue (round trips, losses, close) is unknown"
        );
        (open + closed > 0).then_some(Note { frame: None, text })
    }
}
