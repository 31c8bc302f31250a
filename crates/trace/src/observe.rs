//! What the observers of a direction are told of each packet.
//!
//! The scoreboard and the judge decide what a packet is; observers derive figures from that, each
//! in a file of its own, and know nothing of one another.

use tcplab_units::{Bytes, Offset, Span};

use crate::full_size::FullSize;
use crate::habits::{Acking, Marks};
use crate::limits::Limits;
use crate::packet::Packet;
use crate::round_trips::RoundTripTimes;
use crate::scoreboard::Told;
use crate::series::Throughput;
use crate::stalls::Stalls;
use crate::transfer::TransferSums;
use crate::windows::Windows;
use crate::{Flow, LimitPeriod, Proof, Range, SegmentKind, Stall, Timer};

/// A packet that takes room in the sequence of the observed direction: data, SYN or FIN.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sent<'a> {
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
pub(crate) struct Heard<'a> {
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
    pub(crate) told: Told,
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

/// Everything that is derived from the packets of one direction.
#[derive(Debug, Default)]
pub(crate) struct Observers {
    full_size: FullSize,
    round_trips: RoundTripTimes,
    pub(crate) windows: Windows,
    acking: Acking,
    marks: Marks,
    limits: Limits,
    stalls: Stalls,
    transfer: TransferSums,
    series: Throughput,
    /// What was found and not handed over yet.
    pub(crate) events: Vec<Event>,
}

impl Observers {
    /// The handshake showed how long after an acknowledgement's passing the tap its sender's
    /// reaction passes: next to nothing beside the sender, a round trip beside the receiver.
    pub(crate) fn opened(&mut self, reaction: Span) {
        self.limits.opened(reaction);
        self.stalls.opened(reaction);
    }
    /// A packet of the direction.
    #[inline(never)]
    pub(crate) fn sent(&mut self, sent: &Sent<'_>) {
        self.sent_plainly(sent);
    }
    /// The same, compiled for the little that the caller does not know: of a packet whose data are
    /// new, most questions are answered before they are asked. To stay so, observers lend `sent` to
    /// nothing that is not compiled into them; what is rare is given a copy.
    #[inline(always)]
    pub(crate) fn sent_plainly(&mut self, sent: &Sent<'_>) {
        // A copy, the network's or the tap's, was not sent.
        if matches!(sent.kind, SegmentKind::NetworkDuplicate | SegmentKind::TapDuplicate) {
            return;
        }
        self.full_size.sent(sent);
        let full = self.full_size.bytes();
        self.round_trips.sent(sent);
        self.windows.sent(sent, full);
        self.acking.sent(sent);
        self.marks.sent(sent, full);
        self.limits.sent(sent, &mut self.events);
        self.stalls.sent(sent, &mut self.events);
        self.transfer.sent(sent);
        self.series.sent(sent);
    }
    /// A packet of the opposite direction.
    #[inline(never)]
    pub(crate) fn heard(&mut self, heard: &Heard<'_>) {
        self.heard_plainly(heard);
    }
    /// The same, compiled for the little that the caller does not know.
    #[inline(always)]
    pub(crate) fn heard_plainly(&mut self, heard: &Heard<'_>) {
        self.full_size.heard(heard);
        let full = self.full_size.bytes();
        self.round_trips.heard(heard);
        self.windows.heard(heard, full);
        self.acking.heard(heard, full);
        self.marks.heard(heard);
        self.limits.heard(heard, &mut self.events);
        self.stalls.heard(heard, &mut self.events);
        self.transfer.heard(heard);
        self.series.heard(heard);
    }
    /// Whether an acknowledgement that repeats the one before it, of a direction that has sent no
    /// data, with this window, tells them nothing but that its packet passed.
    #[inline]
    pub(crate) fn know_it_all(&self, ack: Offset, window: Option<Bytes>) -> bool {
        self.limits.is_idle() && self.stalls.is_idle() && self.windows.stand(ack, window)
    }
    /// Such an acknowledgement, in a packet with data, while nothing was under way: the same as
    /// [`Observers::heard`].
    #[inline]
    pub(crate) fn heard_again(&mut self, packet: &Packet) {
        self.windows.heard_again(packet);
        self.acking.heard_again();
        self.marks.heard_again();
        self.stalls.heard_again();
    }
    /// What came out, when no more packets come. Where the tap stood is in `flow` already.
    pub(crate) fn finish(&mut self, flow: &mut Flow) {
        self.round_trips.finish(flow);
        self.windows.finish(flow);
        self.acking.finish(flow);
        self.marks.finish(flow);
        flow.marks.mss_changes = self.full_size.changes();
        self.limits.finish(flow, &mut self.events);
        self.stalls.finish(flow, &mut self.events);
        self.transfer.finish(flow, self.limits.capacity());
        self.series.finish(flow);
    }
}
