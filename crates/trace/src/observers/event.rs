//! Events that observers receive per packet, and those they emit before the connection ends.

use tcplab_units::{Bytes, Offset, Span};

use crate::fold::{Fold, Folder, Unfolder};
use crate::packet::Packet;
use crate::{LimitPeriod, Proof, Range, SegmentKind, Stall, Timer};

/// A packet with sequence space of the observed direction: data, SYN or FIN.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts")]
pub(crate) struct SendEvent<'a> {
    pub(crate) packet: &'a Packet,
    pub(crate) range: Range,
    pub(crate) payload: u64,
    pub(crate) kind: SegmentKind,
    pub(crate) timer: Option<Timer>,
    pub(crate) proof: Proof,
    /// The highest byte before this packet.
    pub(crate) high: Offset,
    /// Everything before this is acknowledged.
    pub(crate) una: Offset,
    /// Bytes in flight, this packet included.
    pub(crate) in_flight: u64,
    /// ACKs captured before this timer's retransmission revealed the loss.
    pub(crate) was_revealed: bool,
    /// SACK is not known to be off: the receiver reports what arrives twice (RFC 2883).
    pub(crate) may_dsack: bool,
    /// Everything that the sender sent so far was captured.
    pub(crate) whole: bool,
    /// It says that the sender reduced its window on a mark: CWR, where classic ECN was agreed.
    pub(crate) reduced: bool,
    /// The right edge of the last advertised window; none if its scale is unknown.
    pub(crate) window_edge: Option<Offset>,
}

impl SendEvent<'_> {
    /// Whether it carries data of the application. The byte of a keep-alive is garbage, or old
    /// (RFC 9293 section 3.8.4).
    #[inline(always)]
    pub(crate) fn has_data(&self) -> bool {
        self.payload > 0 && self.kind != SegmentKind::KeepAlive
    }
}

/// A packet of the opposite direction, as an ACK of the observed one.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts")]
pub(crate) struct AckEvent<'a> {
    pub(crate) packet: &'a Packet,
    /// Everything before this was received.
    pub(crate) ack: Offset,
    /// The cumulative ACK before this packet.
    pub(crate) before: Offset,
    /// Bytes of data newly acknowledged, without SYN and FIN.
    pub(crate) fresh: u64,
    /// The advertised window, scaled; none if the scale is unknown.
    pub(crate) window: Option<Bytes>,
    pub(crate) sack: &'a [Range],
    pub(crate) dsack: Option<Range>,
    pub(crate) effect: AckEffect,
    pub(crate) duplicate: bool,
    /// The sender takes no ACK from the packet: a copy, or a probe below the window.
    pub(crate) unread: bool,
    /// The packet duplicates an earlier one.
    pub(crate) copied: bool,
    /// Its SACK blocks name data that were never sent; they are left out.
    pub(crate) unsent: bool,
    pub(crate) high: Offset,
    /// Bytes in flight after this packet.
    pub(crate) in_flight: u64,
}

/// How far the sender of a direction is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Way {
    /// The least round trip between it and the capture point.
    pub(crate) distance: Span,
    /// That of the whole path.
    pub(crate) round_trip: Span,
}

/// A result that is final before the connection ends.
#[derive(Debug)]
pub(crate) enum Event {
    Stall(Stall),
    Limit(LimitPeriod),
}

impl Fold for Event {
    fn fold(&self, to: &mut Folder) {
        match self {
            Event::Stall(stall) => (false, *stall).fold(to),
            Event::Limit(period) => (true, *period).fold(to),
        }
    }
    fn unfold(from: &mut Unfolder<'_>) -> Event {
        if bool::unfold(from) {
            Event::Limit(Fold::unfold(from))
        } else {
            Event::Stall(Fold::unfold(from))
        }
    }
    fn heap(&self) -> usize {
        0
    }
}

/// The effect of an ACK on the scoreboard.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct AckEffect {
    pub(crate) advanced: bool,
    /// SACK blocks reported new data.
    pub(crate) sacked: bool,
    /// The order of the earliest transmission that it newly SACKs.
    pub(crate) earliest_sacked: Option<u64>,
    /// An RTT sample that satisfies Karn's rule.
    pub(crate) round_trip: Option<Span>,
    /// The ages of data newly acknowledged and sent only once, also of partial segments.
    pub(crate) acked_ages: Option<Ages>,
    /// The ages of data newly SACKed and sent only once.
    pub(crate) sacked_ages: Option<Ages>,
    /// The age of the only one of several transmissions with the echoed timestamp.
    pub(crate) echoed_age: Option<Span>,
}

/// The ages of the first and the last of several transmissions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ages {
    pub(crate) first: Span,
    pub(crate) last: Span,
}

impl Ages {
    pub(crate) fn of_one(age: Span) -> Ages {
        Ages { first: age, last: age }
    }
    /// The range of both.
    pub(crate) fn with(self, other: Ages) -> Ages {
        Ages { first: self.first.max(other.first), last: self.last.min(other.last) }
    }
}
