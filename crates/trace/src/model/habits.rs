//! What the receiver advertised and how it acknowledged; what the sender marked.

use serde::Serialize;
use tcplab_units::{Bytes, Instant, Span};

use super::Occurrences;

/// The window that a receiver advertised, and what it did to the sender.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct WindowUse {
    /// Whether bytes are known: the scale was seen, or follows from what was sent.
    pub scale_known: bool,
    /// The first after the handshake: windows of SYNs and resets are left out here.
    pub first: Option<Bytes>,
    /// The smallest, zero windows included.
    pub min: Option<Bytes>,
    /// The largest.
    pub max: Option<Bytes>,
    /// The last.
    pub last: Option<Bytes>,
    /// Times the window closed: not the packets that say that it still is.
    pub zero_windows: Occurrences,
    /// For how long it was closed, together.
    pub zero_window_time: Span,
    /// The longest time it was closed.
    pub zero_window_max: Span,
    /// Segments with new data that filled the window so far that no full one fits any more.
    pub window_full: Occurrences,
    /// Acknowledgements that told of nothing but another window, which is not closed.
    pub updates: Occurrences,
    /// Windows opened that were still less than a full segment and less than half of the largest
    /// (RFC 9293 section 3.8.6.2.2: the silly window syndrome).
    pub silly_windows: Occurrences,
    /// The window's right edge moved back (RFC 9293 section 3.8.6: must not) by more than rounding
    /// to the scale explains.
    pub windows_shrunk: Occurrences,
    /// Zero-window probes (RFC 9293 section 3.8.6.1).
    pub probes: Occurrences,
}

/// How a receiver acknowledged.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct AckBehaviour {
    /// Packets without data that move the acknowledgement.
    pub acks: u64,
    /// Duplicate acknowledgements (RFC 5681 section 2).
    pub duplicates: u64,
    /// Of these, where SACK is in use, those that tell of nothing out of order or received twice,
    /// and that no retransmission or probe called for.
    pub unnecessary: u64,
    /// Acknowledgements of more than two full segments (stretch ACKs, RFC 2525 section 2.13), but
    /// for those that close a gap. Where acknowledgements were lost or merged before the capture
    /// point, what is left looks the same.
    pub stretch: Occurrences,
    /// The most bytes that one acknowledgement took in, but for those that close a gap.
    pub longest: Bytes,
    /// Acknowledgements of a single segment, held back for longer than 10 ms: at a receiver's
    /// capture point only, elsewhere nobody knows.
    pub delayed: Occurrences,
    /// The longest time that such a one was held back (RFC 9293 section 3.8.6.3: below 500 ms).
    pub delay_max: Span,
}

/// What else was seen of a sender.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct SenderMarks {
    /// Segments with PSH.
    pub push: u64,
    /// Segments with URG.
    pub urgent: Occurrences,
    /// Keep-alive probes (RFC 9293 section 3.8.4).
    pub keep_alives: Occurrences,
    /// Data segments smaller than a full one while earlier data were not acknowledged: what Nagle's
    /// algorithm forbids (RFC 9293 section 3.7.4).
    pub small_in_flight: u64,
    /// A small segment that waited for the acknowledgement of all before it, which itself was
    /// delayed: Nagle's algorithm against delayed acknowledgements.
    pub nagle_waits: Occurrences,
    /// For how long they waited, together: since the segment before.
    pub nagle_wait_time: Span,
    /// The largest segment, bytes of data; large pieces of the kernel counted as their segments.
    /// Where no SYN was seen, a packet that is a multiple of a usual size is taken for such one.
    pub largest: Bytes,
    /// Times the largest segment in use became smaller for good: the path's MTU (RFC 1191, RFC
    /// 4821) or another route. At most 16, told after four segments of the smaller size that were
    /// not pushed.
    pub mss_changes: Vec<MssChange>,
    /// Segments marked "congestion experienced" (RFC 3168 section 5).
    pub ce_marks: Occurrences,
    /// Packets that the kernel left to be cut by the network card, or had merged: larger than the
    /// agreed segment.
    pub super_packets: u64,
}

/// Full segments became smaller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct MssChange {
    /// When the first smaller one was sent.
    pub at: Instant,
    /// Its frame.
    pub frame: u64,
    /// The size of full segments before, bytes of data.
    pub from: Bytes,
    /// And after.
    pub to: Bytes,
}
