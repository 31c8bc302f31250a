//! What the observers of a direction are told of each packet.
//!
//! The scoreboard and the sender model decide what a packet is; observers derive figures from that,
//! each in a file of its own, and know nothing of one another.

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

pub(crate) use event::{AckEffect, AckEvent, Ages, Event, SendEvent};

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
    /// The handshake showed how long after an acknowledgement's passing the capture point its
    /// sender's reaction passes: next to nothing beside the sender, a round trip beside the
    /// receiver.
    pub(crate) fn opened(&mut self, reaction: Span) {
        self.limits.opened(reaction);
        self.stalls.opened(reaction);
    }
    /// A packet of the direction.
    #[inline(never)]
    pub(crate) fn on_send(&mut self, sent: &SendEvent<'_>) {
        self.on_send_plain(sent);
    }
    /// The same, compiled for the little that the caller does not know: of a packet whose data are
    /// new, most questions are answered before they are asked. To stay so, observers lend `sent` to
    /// nothing that is not compiled into them; what is rare is given a copy.
    #[inline(always)]
    pub(crate) fn on_send_plain(&mut self, sent: &SendEvent<'_>) {
        // A copy, the network's or the capture point's, was not sent.
        if matches!(sent.kind, SegmentKind::NetworkDuplicate | SegmentKind::CaptureDuplicate) {
            return;
        }
        self.full_size.on_send(sent);
        let full = self.full_size.bytes();
        self.round_trips.on_send(sent);
        self.windows.on_send(sent, full);
        self.acking.on_send(sent);
        self.marks.on_send(sent, full);
        self.limits.on_send(sent, &mut self.events);
        self.stalls.on_send(sent, &mut self.events);
        self.transfer.on_send(sent);
        self.series.on_send(sent);
    }
    /// A packet of the opposite direction.
    #[inline(never)]
    pub(crate) fn on_ack(&mut self, heard: &AckEvent<'_>) {
        self.on_ack_plain(heard);
    }
    /// The same, compiled for the little that the caller does not know.
    #[inline(always)]
    pub(crate) fn on_ack_plain(&mut self, heard: &AckEvent<'_>) {
        self.full_size.on_ack(heard);
        let full = self.full_size.bytes();
        self.round_trips.on_ack(heard);
        self.windows.on_ack(heard, full);
        self.acking.on_ack(heard, full);
        self.marks.on_ack(heard);
        self.limits.on_ack(heard, &mut self.events);
        self.stalls.on_ack(heard, &mut self.events);
        self.transfer.on_ack(heard);
        self.series.on_ack(heard);
    }
    /// Whether an acknowledgement that repeats the one before it, of a direction that has sent no
    /// data, with this window, tells them nothing but that its packet passed.
    #[inline]
    pub(crate) fn ignore_repeated_ack(&self, ack: Offset, window: Option<Bytes>) -> bool {
        self.limits.is_idle() && self.stalls.is_idle() && self.windows.stand(ack, window)
    }
    /// Such an acknowledgement, in a packet with data, while nothing was under way: the same as
    /// [`Observers::heard`].
    #[inline]
    pub(crate) fn on_repeated_ack(&mut self, packet: &Packet) {
        self.windows.on_repeated_ack(packet);
        self.acking.on_repeated_ack();
        self.marks.on_repeated_ack();
        self.stalls.on_repeated_ack();
    }
    /// What came out, when no more packets come. Where the capture point stood is in `flow`
    /// already.
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
