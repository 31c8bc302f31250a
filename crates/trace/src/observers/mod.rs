//! Observers: each derives one kind of figures from the packets of a direction.
//!
//! The scoreboard and the classifier decide what a packet is; observers do not know one another.

mod acking;
mod ecn;
mod event;
mod full_size;
mod limits;
mod marks;
mod round_trips;
mod stalls;
#[cfg(test)]
mod tests;
mod throughput;
mod timestamp_faults;
mod transfer;
mod turns;
mod windows;

pub(crate) use event::{AckEffect, AckEvent, Ages, Event, SendEvent};
pub(crate) use stalls::LONGEST_FIRST_TIMEOUT;

use tcplab_units::{Bytes, Instant, Offset, Span};

use crate::fold::folded;
use crate::packet::Packet;
use crate::{Flow, MergedReport, TooBigReport};
use acking::Acking;
use ecn::EcnMarks;
use full_size::FullSize;
use limits::Limits;
use marks::Marks;
use round_trips::RoundTripTimes;
use stalls::Stalls;
use throughput::Throughput;
use timestamp_faults::TimestampOrders;
use transfer::TransferSums;
use turns::Turns;
use windows::Windows;

#[derive(Debug, Default)]
pub(crate) struct Observers {
    full_size: FullSize,
    round_trips: RoundTripTimes,
    windows: Windows,
    acking: Acking,
    marks: Marks,
    ecn: EcnMarks,
    turns: Turns,
    limits: Limits,
    stalls: Stalls,
    transfer: TransferSums,
    series: Throughput,
    timestamps: TimestampOrders,
    pub(crate) events: Vec<Event>,
}
folded! {
    Observers {
        full_size, round_trips, windows, acking, marks, ecn, turns, limits, stalls, transfer,
        series, timestamps, events
    }
}

impl Observers {
    /// The sender's reaction time: near zero at the sender, an RTT elsewhere (`is_away`). By the
    /// handshake; or, again and again, by timestamps.
    pub(crate) fn opened(&mut self, reaction: Span, is_away: bool) {
        self.stalls.opened(reaction);
        let reaction = if is_away { reaction } else { Span::ZERO };
        self.limits.opened(reaction, &mut self.events);
        self.marks.opened(reaction);
        self.ecn.opened(reaction);
    }
    /// Bytes of data in a full segment; `None` while unknown.
    pub(crate) fn full_size(&self) -> Option<u64> {
        self.full_size.bytes()
    }
    #[inline(never)]
    pub(crate) fn on_send(&mut self, sent: &SendEvent<'_>) {
        self.on_send_plain(sent);
    }
    /// [`Observers::on_send`] inlined: for new data most branches are known at compile time.
    /// Observers must not lend `sent` to functions that are not inlined; rare cases get a copy.
    #[inline(always)]
    pub(crate) fn on_send_plain(&mut self, sent: &SendEvent<'_>) {
        // A duplicate was not sent.
        if sent.kind.is_copy() {
            return;
        }
        self.full_size.on_send(sent);
        let full = self.full_size.bytes();
        self.round_trips.on_send(sent);
        self.windows.on_send(sent, full);
        self.acking.on_send(sent);
        self.marks.on_send(sent, full);
        self.ecn.on_send(sent);
        self.turns.on_send(sent, || self.stalls.way());
        self.limits.on_send(sent, full, &mut self.events);
        self.stalls.on_send(sent, &mut self.events);
        self.transfer.on_send(sent);
        self.series.on_send(sent);
        self.timestamps.on_send(sent);
    }
    /// ICMP reported outstanding data as too big for the path.
    pub(crate) fn on_too_big(&mut self, report: TooBigReport) {
        self.full_size.on_too_big(report);
    }
    /// ICMP reported a packet as too big that the path made of outstanding segments.
    pub(crate) fn on_merged(&mut self, report: MergedReport) {
        self.full_size.on_merged(report);
    }
    /// A packet of the direction without sequence space bears a congestion mark.
    pub(crate) fn on_marked_ack(&mut self, packet: &Packet) {
        self.ecn.on_marked_ack(packet);
    }
    /// The other end echoes a mark, where classic ECN was agreed.
    pub(crate) fn on_echo(&mut self, packet: &Packet) {
        self.ecn.on_echo(packet);
    }
    /// The other end reports so many more marks, where Accurate ECN was agreed.
    pub(crate) fn on_report(&mut self, packet: &Packet, marks: u64) {
        self.ecn.on_report(packet, marks);
    }
    /// A SYN of the opposite direction, which may acknowledge nothing: what its sender receives.
    #[cold]
    pub(crate) fn on_peer_syn(&mut self, syn: &Packet) {
        self.full_size.on_peer_syn(syn);
        self.limits.on_peer_syn(syn);
    }
    /// An end gave up.
    pub(crate) fn on_reset(&mut self, at: Instant) {
        self.windows.on_reset(at);
    }
    #[inline(never)]
    pub(crate) fn on_ack(&mut self, heard: &AckEvent<'_>) {
        self.on_ack_plain(heard);
    }
    /// [`Observers::on_ack`] inlined.
    #[inline(always)]
    pub(crate) fn on_ack_plain(&mut self, heard: &AckEvent<'_>) {
        let full = self.full_size.bytes();
        self.round_trips.on_ack(heard);
        self.windows.on_ack(heard, full);
        self.acking.on_ack(heard, full);
        self.marks.on_ack(heard);
        self.ecn.on_ack(heard);
        if !heard.unread {
            self.limits.on_ack(heard, &mut self.events);
            self.stalls.on_ack(heard, &mut self.events);
        }
        self.transfer.on_ack(heard);
        self.series.on_ack(heard);
        self.timestamps.on_ack(heard);
    }
    /// Whether a repeated ACK of a direction without data, with this window, has no effect.
    #[inline]
    pub(crate) fn ignore_repeated_ack(&self, ack: Offset, window: Option<Bytes>) -> bool {
        self.limits.is_idle() && self.stalls.is_idle() && self.windows.stand(ack, window)
    }
    /// Such an ACK in a packet with data, while nothing is in flight.
    #[inline]
    pub(crate) fn on_repeated_ack(&mut self, packet: &Packet) {
        self.on_still_ack(packet);
        self.acking.on_repeated_ack();
        self.marks.on_data(packet);
    }
    /// Such an ACK once more.
    #[inline]
    pub(crate) fn on_still_ack(&mut self, packet: &Packet) {
        self.windows.on_repeated_ack(packet);
        self.stalls.on_repeated_ack(packet);
    }
    /// Before a packet with data: what the other direction knows of what was asked.
    #[inline(always)]
    pub(crate) fn learn(&mut self, other: &Observers) {
        self.stalls.learn(&other.stalls);
        self.marks.learn(other.stalls.taken_in());
        self.turns.learn(&other.turns);
    }
    /// Writes the results. `flow` already has the capture point; `path_rtt`: of the whole path.
    pub(crate) fn finish(&mut self, flow: &mut Flow, path_rtt: Option<Span>) {
        self.round_trips.finish(flow);
        self.windows.finish(flow);
        self.acking.finish(flow);
        self.marks.finish(flow);
        self.ecn.finish(flow);
        self.turns.finish(flow);
        flow.marks.mss_changes = self.full_size.changes();
        flow.marks.too_big = self.full_size.too_big();
        flow.marks.merged = self.full_size.merged();
        self.limits.finish(flow, &mut self.events);
        self.stalls.finish(flow, &mut self.events);
        self.transfer.finish(flow, self.limits.capacity(), path_rtt);
        self.series.finish(flow);
        self.timestamps.finish(flow);
    }
}
