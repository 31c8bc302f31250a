//! What happened since the sender last sent, and in the round trip under way.

use tcplab_units::{Instant, Span};

use crate::fold::folded;

/// What happened since the last sending.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Gap {
    pub(crate) from: Instant,
    /// In flight when it began.
    pub(crate) in_flight: u64,
    /// What the receiver's window had room for then.
    pub(crate) room: u64,
    /// It began in fast recovery.
    pub(crate) recovering: bool,
    /// The bytes of the segment before it, at most a full one's, if it did not fill one; else 0.
    pub(crate) small: u32,
    /// Bytes sent together before it.
    pub(crate) burst: u64,
    /// The sender could have sent and did not.
    pub(crate) declined: bool,
    /// The latest acknowledgement, its frame, and what could be sent after it.
    pub(crate) heard: Option<Instant>,
    pub(crate) heard_frame: u64,
    pub(crate) available: u64,
    pub(crate) with_data: bool,
    /// When the receiver's window had room for a segment, and by which frame.
    pub(crate) opened: Option<(Instant, u64)>,
    /// When a zero window opened, and by which frame.
    pub(crate) reopened: Option<(Instant, u64)>,
    /// When everything was acknowledged, and by which frame.
    pub(crate) drained: Option<(Instant, u64)>,
}
folded! {
    Gap {
        from, in_flight, room, recovering, small, burst, declined, heard, heard_frame,
        available, with_data, opened, reopened, drained
    }
}

impl Gap {
    /// When everything was acknowledged and the window had room: what the sender waited for from
    /// then on was data.
    pub(crate) fn free(&self) -> Option<(Instant, u64)> {
        Some(self.drained?.max(self.opened?))
    }
}

/// A round trip: until what was sent before it began is acknowledged.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Round {
    pub(crate) from: Instant,
    pub(crate) mark: u64,
    /// Bytes that arrived meanwhile.
    pub(crate) arrived: u64,
    pub(crate) least: Option<Span>,
}
folded! { Round { from, mark, arrived, least } }
