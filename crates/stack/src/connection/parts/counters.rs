//! What a connection counts.

use tcplab_units::Instant;

use super::limits::Limits;
use crate::Segment;

/// Counters that no other part has.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) segments_out: u64,
    pub(crate) segments_in: u64,
    pub(crate) data_segments_in: u64,
    pub(crate) bytes_acked: u64,
    pub(crate) bytes_received: u64,
    /// The largest window that the peer ever offered (`max_window`).
    pub(crate) largest_window: u64,
    /// Segments that an acknowledgement with ECE delivered.
    pub(crate) delivered_ce: u64,
    pub(crate) last_ack: Instant,
    pub(crate) last_sent: Instant,
    pub(crate) limits: Limits,
}

impl Counters {
    pub(crate) fn segment_arrived(&mut self, segment: &Segment) {
        self.segments_in += 1;
        self.data_segments_in += u64::from(!segment.is_empty());
    }
}
