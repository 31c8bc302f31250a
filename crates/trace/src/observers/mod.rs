//! What the observers of a direction are told of each packet.
//!
//! The scoreboard and the judge decide what a packet is; observers derive figures from that, each
//! in a file of its own, and know nothing of one another.

mod acking;
mod event;
mod full_size;
mod limits;
mod marks;
mod occurrences;
mod round_trips;
mod stalls;
#[cfg(test)]
mod tests;
mod throughput;
mod transfer;
mod windows;

pub(crate) use event::{Ages, Event, Heard, Sent, Told};

use tcplab_units::{Bytes, Offset, Span};

use crate::packet::Packet;
use crate::{Flow, SegmentKind};
use acking::Acking;
use full_size::FullSize;
use limits::Limits;
use marks::Marks;
use round_trips::RoundTripTimes;
use stalls::Stalls;
use throughput::Throughput;
use transfer::TransferSums;
use windows::Windows;

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
        if matches!(sent.kind, SegmentKind::NetworkDuplicate | SegmentKind::CaptureDuplicate) {
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
