//! What else the sender does.

use std::mem::take;

use tcplab_units::{Bytes, Instant, Offset, Span};
use tcplab_wire::TcpFlags;

use super::event::{AckEvent, SendEvent};
use crate::fold::folded;
use crate::packet::Packet;
use crate::{Flow, Occurrences, Range, SegmentKind, SenderMarks};

/// An ACK later than the quickest by so many round trips was delayed (RFC 9293 section 3.8.6.3: up
/// to 500 ms), if that is not less than it takes a busy host to answer; or by this time.
const ROUND_TRIPS: u64 = 4;
const LEAST_DELAY: Span = Span::from_millis(3);
const DELAYED: Span = Span::from_millis(20);
/// What waited for an acknowledgement follows it within this time.
const AT_ONCE: Span = Span::from_millis(1);
/// Away from the sender its reaction is known to this fraction.
const PARTS: u64 = 16;

/// What one direction's sender does.
#[derive(Debug, Default)]
pub(crate) struct Marks {
    push: u64,
    urgent: Occurrences,
    keep_alives: Occurrences,
    small_in_flight: u64,
    nagle_waits: Occurrences,
    nagle_waited: Span,
    /// The largest packet, bytes of data, that was not more than one segment.
    largest: u64,
    super_packets: u64,
    last_sent: Option<Instant>,
    /// The other end's latest data since.
    other_spoke: Option<Instant>,
    /// When they had all been acknowledged.
    other_heard: Option<Instant>,
    /// The time from own data to the last of the other end's before own ones again, or to its ACK.
    listened: Span,
    answers_with_ack: u64,
    /// When an acknowledgement without data, itself delayed, left nothing unacknowledged; and the
    /// right edge of the window before it.
    freed: Option<(Instant, Option<Offset>)>,
    /// The right edge of the window.
    edge: Option<Offset>,
    /// The sender's reaction time to an ACK, as seen at the capture point.
    reaction: Span,
    /// The smallest age at which data were acknowledged.
    least_age: Option<Span>,
    by_size: ArrivalBySize,
}
folded! {
    Marks {
        push, urgent, keep_alives, small_in_flight, nagle_waits, nagle_waited, largest,
        super_packets, last_sent, other_spoke, other_heard, listened, answers_with_ack, freed,
        edge, reaction, least_age, by_size
    }
}

/// Whether full segments arrive, and smaller ones sent behind them.
#[derive(Debug, Default)]
struct ArrivalBySize {
    /// The first full one.
    full: Option<Range>,
    full_arrived: bool,
    /// The end of the last smaller one behind it, until it arrived.
    small: Option<Offset>,
}
folded! { ArrivalBySize { full, full_arrived, small } }

impl ArrivalBySize {
    #[inline(always)]
    fn on_send(&mut self, range: Range, is_full: bool) {
        if self.full_arrived {
            return;
        }
        if is_full {
            self.full.get_or_insert(range);
        } else if self.full.is_some() {
            self.small = Some(range.end);
        }
    }

    #[inline(always)]
    fn on_ack(&mut self, ack: Offset, sack: &[Range]) {
        if let Some(full) = self.full.filter(|_| !self.full_arrived) {
            self.full_arrived =
                ack >= full.end || sack.iter().any(|block| block.len() >= full.len());
            let has = |end| sack.iter().any(|block| block.start < end && end <= block.end);
            self.small = self.small.filter(|&end| !has(end));
        }
    }

    fn only_small(&self) -> bool {
        self.full.is_some() && !self.full_arrived && self.small.is_none()
    }
}

/// Whether the receive window, whose right edge was here before the last ACK, did not hold it back,
/// and does not cut it short.
fn had_room(sent: &SendEvent<'_>, edge: Option<Offset>) -> bool {
    edge.is_none_or(|edge| sent.range.end <= edge) && sent.window_edge != Some(sent.range.end)
}

impl Marks {
    pub(crate) fn opened(&mut self, reaction: Span) {
        self.reaction = reaction;
    }

    /// A packet of the direction; `full` is the size of a full segment.
    #[inline(always)]
    pub(crate) fn on_send(&mut self, sent: &SendEvent<'_>, full: Option<u64>) {
        let packet = sent.packet;
        let (at, frame) = (packet.at, packet.frame);
        self.push += u64::from(packet.flags.contains(TcpFlags::PSH));
        if packet.flags.contains(TcpFlags::URG) {
            self.urgent.add(at, frame);
        }
        if sent.kind == SegmentKind::KeepAlive {
            self.keep_alives.add(at, frame);
            return;
        }
        if sent.payload == 0 {
            return;
        }
        let freed = self.freed.take();
        let last_sent = self.last_sent.replace(at).unwrap_or(at);
        let waited = at.since(last_sent);
        if let Some(other_spoke) = self.other_spoke.take() {
            let heard = self.other_heard.filter(|&heard| heard > other_spoke);
            self.listened += heard.unwrap_or(other_spoke).since(last_sent);
            self.answers_with_ack += u64::from(heard.is_none());
        }
        let Some(full) = full else { return };
        self.largest = self.largest.max(sent.payload.min(full));
        self.by_size.on_send(sent.range, sent.payload >= full);
        if sent.payload == full {
            return;
        }
        self.super_packets += u64::from(sent.payload > full);
        // The last piece of a packet still to be cut, too, is small or full.
        if sent.kind != SegmentKind::New || sent.payload.is_multiple_of(full) {
            return;
        }
        if sent.in_flight > sent.payload + u64::from(packet.fin()) {
            self.small_in_flight += 1;
        } else if sent.payload < full
            && freed
                .is_some_and(|(freed, edge)| self.reacts(at.since(freed)) && had_room(sent, edge))
        {
            self.nagle_waits.add(at, frame);
            self.nagle_waited += waited;
        }
    }

    #[inline(always)]
    pub(crate) fn on_ack(&mut self, heard: &AckEvent<'_>) {
        if heard.packet.payload > 0 {
            self.on_data(heard.packet);
        }
        self.by_size.on_ack(heard.ack, heard.sack);
        let edge = heard.window.map(|window| heard.ack + window);
        let edge = std::mem::replace(&mut self.edge, edge);
        let Some(ages) = heard.effect.acked_ages else { return };
        let least = self.least_age.map_or(ages.last, |least| least.min(ages.last));
        self.least_age = Some(least);
        let round_trips = (least + self.reaction) * ROUND_TRIPS;
        let delayed = ages.last > least + round_trips.clamp(LEAST_DELAY, DELAYED);
        let all = heard.ack == heard.high && heard.packet.is_bare();
        self.freed = (delayed && all).then_some((heard.packet.at, edge));
    }

    /// Whether what follows an acknowledgement by this much was waiting for it.
    fn reacts(&self, waited: Span) -> bool {
        let blurred = self.reaction / PARTS;
        waited + blurred >= self.reaction && waited <= self.reaction + blurred.max(AT_ONCE)
    }

    /// What the other direction knows of the question that this one answers: when all was
    /// acknowledged.
    #[inline(always)]
    pub(crate) fn learn(&mut self, heard: Option<Instant>) {
        if self.other_spoke.is_some() {
            self.other_heard = heard;
        }
    }

    /// Data of the other end: what follows may be the answer to them.
    pub(crate) fn on_data(&mut self, packet: &Packet) {
        self.freed = None;
        self.other_spoke = self.last_sent.map(|_| packet.at);
    }

    pub(crate) fn finish(&mut self, flow: &mut Flow) {
        flow.marks = SenderMarks {
            push: self.push,
            urgent: take(&mut self.urgent),
            keep_alives: take(&mut self.keep_alives),
            small_in_flight: self.small_in_flight,
            nagle_waits: take(&mut self.nagle_waits),
            nagle_wait_time: self.nagle_waited,
            listened: self.listened,
            answers_with_ack: self.answers_with_ack,
            largest: Bytes::new(self.largest),
            only_small_arrived: self.by_size.only_small(),
            super_packets: self.super_packets,
            ..SenderMarks::default()
        };
    }
}
