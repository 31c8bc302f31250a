//! What observers are told of each packet, and what they tell before the connection is over.

use tcplab_units::{Bytes, Offset, Span};

use crate::packet::Packet;
use crate::{LimitPeriod, Proof, Range, SegmentKind, Stall, Timer};

/// A packet that takes room in the sequence of the observed direction: data, SYN or FIN.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SendEvent<'a> {
    pub(crate) packet: &'a Packet,
    pub(crate) range: Range,
    /// Bytes of data.
    pub(crate) payload: u64,
    pub(crate) kind: SegmentKind,
    pub(crate) timer: Option<Timer>,
    pub(crate) proof: Proof,
    /// The end of the highest byte seen before this packet.
    pub(crate) high: Offset,
    /// Everything before this is acknowledged.
    pub(crate) una: Offset,
    /// Bytes sent and neither acknowledged nor SACKed, this packet included.
    pub(crate) in_flight: u64,
    /// The edge of the window that the receiver advertised last: the first byte that may not be
    /// sent; none where the scale is not known.
    pub(crate) window_edge: Option<Offset>,
}

/// A packet of the other direction, as an acknowledgement of the observed one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AckEvent<'a> {
    pub(crate) packet: &'a Packet,
    /// Everything before this was received.
    pub(crate) ack: Offset,
    /// What was acknowledged before this packet.
    pub(crate) before: Offset,
    /// Bytes of data that it newly acknowledges: without SYN and FIN.
    pub(crate) fresh: u64,
    /// The advertised window, scaled; none where the scale is not known.
    pub(crate) window: Option<Bytes>,
    pub(crate) sack: &'a [Range],
    pub(crate) dsack: Option<Range>,
    pub(crate) effect: AckEffect,
    pub(crate) duplicate: bool,
    /// The end of the highest byte seen.
    pub(crate) high: Offset,
    /// Bytes sent and neither acknowledged nor SACKed, after this packet.
    pub(crate) in_flight: u64,
}

/// What an observer is certain of before the connection is over.
#[derive(Debug)]
pub(crate) enum Event {
    Stall(Stall),
    Limit(LimitPeriod),
}

/// What an acknowledgement told.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct AckEffect {
    /// The cumulative acknowledgement moved.
    pub(crate) advanced: bool,
    /// SACK blocks told something new.
    pub(crate) sacked: bool,
    /// The order of the earliest transmission that it shows, by SACK, to have arrived.
    pub(crate) earliest_sacked: Option<u64>,
    /// A round trip time that no retransmission blurs (Karn's rule).
    pub(crate) round_trip: Option<Span>,
    /// How old the data were that it newly takes in, cumulatively: of those sent only once, a
    /// transmission taken in by part included.
    pub(crate) acked_ages: Option<Ages>,
    /// And that it newly SACKs: of those sent only once.
    pub(crate) sacked_ages: Option<Ages>,
    /// How old the transmission at the left edge was whose timestamp it echoes, where something was
    /// sent several times and only one of those at the left edge bore that timestamp.
    pub(crate) echoed_age: Option<Span>,
}

/// How long before an acknowledgement the first and the last of several transmissions passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ages {
    pub(crate) first: Span,
    pub(crate) last: Span,
}

impl Ages {
    pub(crate) fn of_one(age: Span) -> Ages {
        Ages { first: age, last: age }
    }
    /// Those of all transmissions in both.
    pub(crate) fn with(self, other: Ages) -> Ages {
        Ages { first: self.first.max(other.first), last: self.last.min(other.last) }
    }
}
