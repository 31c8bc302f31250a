//! Times in which a transfer stood still, and why: the taxonomy of TAPO (Zhou et al.,
//! "Demystifying and Mitigating TCP Stalls at the Server Side").
//!
//! Some causes show at once, by the packet that ends the stall. Why a timer had to run out shows
//! only when the loss is repaired: a D-SACK then shows that nothing was lost, the retransmissions
//! show whether anything arrived, and what the sender sends next shows whether it had data left. A
//! few stalls wait for that, and are reported in order.

mod timeout;

use std::collections::VecDeque;

use tcplab_units::{Bytes, Instant, Offset, Span};

use crate::fold::folded;
use crate::observers::event::{AckEvent, Event, SendEvent, Way};
use crate::packet::Packet;
use crate::{Flow, SegmentKind, Stall, StallCause, StallSum};
use timeout::{Before, Repair};

/// Shorter pauses are the scheduling of processes and the delayed acknowledgements of Linux's
/// quick mode, on paths so short that two RTTs mean nothing.
const SHORTEST: Span = Span::from_millis(10);
/// The least distance of Linux's retransmission timeout above the RTT (`tcp_rto_min`).
const LEAST_VARIANCE: Span = Span::from_millis(200);
/// Before any round trip is known: RFC 6298 section 2.1.
const FIRST_TIMEOUT: Span = Span::from_secs(1);
/// The longest that a receiver may delay an ACK (RFC 9293 section 3.8.6.3, MUST-40).
const LONGEST_DELAY: Span = Span::from_millis(500);
/// By this much its timer may be late: a tick of the slowest clocks in use.
const TICK: Span = Span::from_millis(10);
/// No receiver delays the ACK of more than two segments (RFC 9293 section 3.8.6.3).
const AT_ONCE: u64 = 2 * 1_460;
/// A round trip takes longer than the least one by this part now and then.
const UNSTEADY: u64 = 4;
/// What takes longer is a clock that was set, not a round trip.
const LONGEST: Span = Span::from_secs(3_600);
/// No first timeout takes longer. Linux: a second before there is a sample (`TCP_TIMEOUT_INIT`), or
/// three (`TCP_TIMEOUT_FALLBACK`).
pub(crate) const LONGEST_FIRST_TIMEOUT: Span = Span::from_secs(10);
/// As many stalls wait for their causes.
const MOST_WAITING: usize = 8;

#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent observations, not a state")]
pub(crate) struct Stalls {
    /// The latest packet of either direction.
    last: Option<(Instant, u64)>,
    /// A longer gap is a stall; none before the first RTT sample.
    limit: Option<Span>,
    smoothed: Option<Span>,
    variation: Span,
    /// What of the round trip lies between the capture point and the sender: the least, by the
    /// handshake or timestamps and by ACKs.
    reaction: Span,
    /// Bytes in flight after the latest packet.
    in_flight: u64,
    una: Offset,
    /// The largest segment, bytes of data.
    full: u64,
    /// The latest segment was smaller: the application had written no more.
    small: bool,
    began: bool,
    /// This end is the server, the handshake is over, and neither end has sent data.
    accepted: bool,
    /// This end is the client, the server's SYN has come, and neither end has sent data.
    connected: bool,
    /// Bytes of data that the other end has sent since this one did.
    asked: u64,
    /// The last ACK, if it left no more in flight than the receiver may acknowledge later.
    taken_in: Option<(Instant, u64)>,
    /// The same of the other direction: what this one was asked had arrived.
    all_asked: Option<(Instant, u64)>,
    /// ACKs without data were captured.
    bare: bool,
    /// The receiver's window is closed.
    closed: bool,
    /// The unused rest after the latest packet, where the scale is known.
    room: Option<u64>,
    /// The smallest round trip from the capture point to the receiver.
    least: Option<Span>,
    /// Duplicate ACKs since the cumulative ACK advanced.
    duplicates: u64,
    /// The latest ACK carried SACK blocks.
    sacked: bool,
    /// The oldest byte when it was last retransmitted.
    head_resent: Option<Offset>,
    /// Allocated with the first.
    found: Option<Box<Found>>,
}
folded! {
    Stalls {
        last, limit, smoothed, variation, reaction, in_flight, una, full, small, began,
        accepted, connected, asked, taken_in, all_asked, bare, closed, room, least, duplicates,
        sacked, head_resent, found
    }
}

/// The stalls of a direction.
#[derive(Debug, Default)]
struct Found {
    /// Those whose causes are not known yet, and later ones.
    waiting: VecDeque<(Stall, Option<Box<Repair>>)>,
    sums: Vec<StallSum>,
    /// How long it took to send the first data after the handshake, if nothing asked for them.
    greeting: Option<Span>,
}
folded! { Found { waiting, sums, greeting } }

impl Stalls {
    #[inline]
    fn limit(&self) -> Span {
        self.limit.unwrap_or(FIRST_TIMEOUT)
    }
    pub(crate) fn opened(&mut self, reaction: Span) {
        let before = std::mem::replace(&mut self.reaction, reaction.min(LONGEST));
        if let Some(smoothed) = self.smoothed {
            self.smooth((smoothed.saturating_sub(before) + self.reaction).min(LONGEST));
        }
    }

    /// What the other direction knows of the question that this one answers, and of the way to its
    /// sender.
    #[inline(always)]
    pub(crate) fn learn(&mut self, other: &Stalls) {
        if self.asked > 0 {
            self.all_asked = other.taken_in;
        }
        if let Some(least) = other.least.filter(|&least| least < self.reaction) {
            self.opened(least);
        }
    }

    /// How far the sender is.
    pub(crate) fn way(&self) -> Way {
        let round_trip = self.least.unwrap_or_default() + self.reaction;
        Way { distance: self.reaction, round_trip }
    }

    /// When this direction's data were acknowledged but for what may be acknowledged later.
    #[inline(always)]
    pub(crate) fn taken_in(&self) -> Option<Instant> {
        self.taken_in.map(|(at, _)| at)
    }

    /// Whether no data were sent yet.
    pub(crate) fn is_idle(&self) -> bool {
        !self.began
    }
    /// A packet with data, before any were sent: a question. Its window is open.
    #[inline]
    pub(crate) fn on_repeated_ack(&mut self, packet: &Packet) {
        self.closed = false;
        self.asked_by(packet);
    }
    /// Before data were sent: this asks for them.
    #[inline]
    fn asked_by(&mut self, packet: &Packet) {
        self.asked += u64::from(packet.payload);
        if self.asked > 0 {
            self.last = Some((packet.at, packet.frame));
            self.in_flight = 0;
        }
    }

    #[inline(always)]
    pub(crate) fn on_send(&mut self, sent: &SendEvent<'_>, events: &mut Vec<Event>) {
        let at = sent.packet.at;
        if self.is_waiting() {
            self.follow_repair(*sent, events);
        }
        let answers = self.in_flight == 0 && (self.asked > 0 || self.accepted);
        if let Some((from, _)) = self.last
            && (self.began || sent.has_data() && (self.asked > 0 || answers || self.connected))
            && at.since(from) > if answers { SHORTEST } else { self.limit() }
            && !self.is_idle_close(sent)
        {
            self.ended_by(*sent, events);
        }
        if sent.kind.is_retransmission() && sent.range.start <= sent.una {
            self.head_resent = Some(sent.una);
        }
        self.accepted |= sent.packet.syn() && sent.packet.ack.is_some();
        if sent.has_data() {
            (self.began, self.accepted, self.connected) = (true, false, false);
            (self.asked, self.taken_in) = (0, None);
            self.full = self.full.max(sent.payload);
            self.small = sent.payload < self.full;
        }
        self.room = sent
            .window_edge
            .map(|edge| edge.as_u64().saturating_sub(sent.high.max(sent.range.end).as_u64()));
        self.last = Some((at, sent.packet.frame));
        self.in_flight = sent.in_flight;
    }

    #[inline(always)]
    pub(crate) fn on_ack(&mut self, heard: &AckEvent<'_>, events: &mut Vec<Event>) {
        let packet = heard.packet;
        let connects = packet.syn() && !self.began && !self.connected;
        self.connected |= connects;
        if !self.began && heard.effect.round_trip.is_none() && !connects {
            self.closed = packet.window == 0 && !packet.rst();
            self.asked_by(packet);
            return;
        }
        if let Some((from, _)) = self.last
            && self.began
            && packet.at.since(from) > self.limit()
            && let Some(cause) = self.why_heard(heard, packet.at.since(from))
        {
            self.stalled((cause, None), packet.at, packet.frame, events);
        }
        if self.is_waiting() {
            self.hear_of_repair(*heard, events);
        }
        if let Some(sample) = heard.effect.round_trip {
            self.sample(sample);
        }
        if heard.effect.advanced {
            self.duplicates = 0;
        }
        self.duplicates += u64::from(heard.duplicate);
        self.sacked = !heard.sack.is_empty();
        self.asked += u64::from(packet.payload);
        if heard.effect.advanced && heard.high.since(heard.ack).as_u64() <= AT_ONCE {
            self.taken_in = Some((packet.at, packet.frame));
        }
        self.bare |= packet.payload == 0;
        self.closed = packet.window == 0 && !packet.rst();
        self.room = left(heard);
        self.una = self.una.max(heard.ack);
        self.last = Some((packet.at, packet.frame));
        self.in_flight = heard.in_flight;
    }

    pub(crate) fn finish(&mut self, flow: &mut Flow, events: &mut Vec<Event>) {
        let Some(mut found) = self.found.take() else { return };
        flow.marks.greeting = found.greeting;
        while !found.waiting.is_empty() {
            found.settle_first(events);
        }
        flow.stall_sums = found.sums;
    }

    /// RFC 6298 section 2.3, and the threshold that follows from it.
    #[inline(always)]
    fn sample(&mut self, sample: Span) {
        self.least = Some(self.least.map_or(sample, |least| least.min(sample)));
        let sample = (sample.min(LONGEST) + self.reaction).min(LONGEST);
        let smoothed = match self.smoothed {
            None => {
                self.variation = sample / 2;
                sample
            }
            Some(old) => {
                let off = sample.saturating_sub(old) + old.saturating_sub(sample);
                self.variation = (self.variation * 3 + off) / 4;
                (old * 7 + sample) / 8
            }
        };
        self.smooth(smoothed);
    }
    #[inline]
    fn smooth(&mut self, smoothed: Span) {
        self.smoothed = Some(smoothed);
        let timeout = smoothed + (self.variation * 4).max(LEAST_VARIANCE);
        self.limit = Some(timeout.min(smoothed * 2).max(SHORTEST));
    }

    /// A FIN without data when nothing was asked and nothing is in flight: before it the
    /// application had nothing to send.
    #[inline]
    fn is_idle_close(&self, sent: &SendEvent<'_>) -> bool {
        let had_nothing = self.in_flight == 0 && self.asked == 0 && !self.closed;
        sent.packet.fin() && sent.payload == 0 && had_nothing
    }

    /// A stall is over, because this was sent.
    #[cold]
    fn ended_by(&mut self, sent: SendEvent<'_>, events: &mut Vec<Event>) {
        let (at, cause) = (sent.packet.at, self.why_sent(&sent));
        let is_long = if cause == StallCause::SenderIdle {
            self.is_from_sender(at)
        } else {
            self.last.is_some_and(|(from, _)| at.since(from) > self.limit())
        };
        if !is_long {
            return;
        }
        if let Some((opened, _)) = self.last.filter(|_| self.speaks_first()) {
            self.found.get_or_insert_default().greeting = Some(at.since(opened));
        }
        let is_open = cause == StallCause::Undetermined && sent.timer.is_some();
        let repair = is_open.then(|| {
            let before = Before {
                resent: sent.range.start <= sent.una && self.head_resent == Some(sent.una),
                duplicates: self.duplicates,
                sacked: self.sacked,
                reports: sent.may_dsack,
                ..Before::default()
            };
            let (in_flight, full) = (self.in_flight, self.full);
            Box::new(Repair::new(&sent, (in_flight, full, self.room), self.least, before))
        });
        self.stalled((cause, repair), sent.packet.at, sent.packet.frame, events);
    }

    /// Neither end has sent data since the handshake.
    fn speaks_first(&self) -> bool {
        (self.accepted || self.connected) && self.asked == 0
    }

    /// Whether the sender took long to answer, which ended now, or to speak first. The way there
    /// and back is no part of that, nor is the time that a long question takes on the narrowest
    /// link: the ACK says when it had arrived. Without one, only what no ACK is delayed by is sure.
    fn is_from_sender(&mut self, now: Instant) -> bool {
        let Some((heard, frame)) = self.last else { return false };
        let away = self.reaction > SHORTEST;
        let acknowledged = self.all_asked.filter(|&(at, _)| away && self.asked > 0 && at > heard);
        let arrived = acknowledged.unwrap_or((heard + self.reaction, frame));
        self.last = Some(arrived);
        let mut limit = SHORTEST.max(self.reaction / UNSTEADY);
        if away && acknowledged.is_none() && self.asked > AT_ONCE {
            limit += LONGEST_DELAY;
        }
        if self.connected && self.reaction.is_zero() {
            // The last ACK of the handshake may have come with the data, as late as it may be
            // without another SYN of the server.
            limit = FIRST_TIMEOUT;
        }
        now.since(arrived.0) > limit
    }

    /// Why nothing moved until this was sent.
    fn why_sent(&self, sent: &SendEvent<'_>) -> StallCause {
        let away = self.reaction > SHORTEST;
        let waited = self.last.map_or(Span::ZERO, |(from, _)| sent.packet.at.since(from));
        if self.closed || sent.kind == SegmentKind::WindowProbe {
            return StallCause::ZeroWindow;
        }
        if sent.timer.is_some() {
            return StallCause::Undetermined;
        }
        if self.waits_for_window() && self.room.is_some_and(|room| sent.payload >= room) {
            // The whole rest, by the override timer of RFC 9293 section 3.8.6.2.1.
            return StallCause::ReceiveWindow;
        }
        match sent.kind {
            SegmentKind::New | SegmentKind::KeepAlive if self.in_flight == 0 => {
                if self.asked > 0 || self.speaks_first() {
                    StallCause::SenderIdle
                } else if away
                    && !self.small
                    && waited <= LONGEST_FIRST_TIMEOUT
                    && sent.kind == SegmentKind::New
                {
                    // Beside the receiver a lost window and its retransmission look the same. A
                    // keep-alive is sent with nothing outstanding (RFC 9293 section 3.8.4).
                    StallCause::Undetermined
                } else {
                    StallCause::SenderSlow
                }
            }
            SegmentKind::New => StallCause::SenderSlow,
            // Without any captured answer no timer is known.
            SegmentKind::UnexplainedRetransmission if self.smoothed.is_none() => {
                StallCause::Undetermined
            }
            SegmentKind::TimeoutRetransmission | SegmentKind::UnexplainedRetransmission => {
                StallCause::Timeout
            }
            SegmentKind::FillsGap => StallCause::Undetermined,
            _ => StallCause::PacketDelay,
        }
    }

    /// Why nothing moved until something came from the other side, with data or without.
    fn why_heard(&self, heard: &AckEvent<'_>, waited: Span) -> Option<StallCause> {
        let data = heard.packet.payload > 0;
        if self.closed {
            return Some(StallCause::ZeroWindow);
        }
        // RFC 9293 section 3.8.6.3: an ACK of less than two full segments may be delayed, until
        // the receiver has data to send with it.
        let longest = LONGEST_DELAY + TICK + self.least.unwrap_or_default();
        let is_delayed = self.in_flight < 2 * self.full && (data || waited <= longest);
        if self.in_flight > 0 && !is_delayed {
            // A capture without any ACK alone may lack the one that came in time.
            if data && !self.bare {
                let asked = self.asked > 0;
                return Some(if asked { StallCause::Undetermined } else { StallCause::NoRequest });
            }
            // What reports no data shows no delay of any: an end closed, gave up or repeated
            // itself.
            let news = heard.fresh > 0 || !heard.sack.is_empty() || heard.duplicate;
            return (news && !heard.packet.rst()).then_some(StallCause::PacketDelay);
        }
        let has_opened = left(heard).is_some_and(|left| left >= self.full);
        if self.waits_for_window() && has_opened && !self.small && !data {
            return Some(StallCause::ReceiveWindow);
        }
        // Both ends are done; what ends the pause is no part of a transfer unless it asks.
        (data && self.asked == 0).then_some(StallCause::NoRequest)
    }

    /// Everything is acknowledged, and the window has room for less than a segment.
    fn waits_for_window(&self) -> bool {
        self.in_flight == 0 && self.room.is_some_and(|room| room < self.full)
    }

    #[cold]
    fn follow_repair(&mut self, sent: SendEvent<'_>, events: &mut Vec<Event>) {
        let limit = self.limit();
        let Some(found) = &mut self.found else { return };
        for repair in found.waiting.iter_mut().filter_map(|(_, repair)| repair.as_mut()) {
            repair.sent(&sent, limit);
        }
        found.settle(sent.packet.at, limit, events);
    }

    #[cold]
    fn hear_of_repair(&mut self, heard: AckEvent<'_>, events: &mut Vec<Event>) {
        let limit = self.limit();
        let Some(found) = &mut self.found else { return };
        for repair in found.waiting.iter_mut().filter_map(|(_, repair)| repair.as_mut()) {
            repair.heard(&heard);
        }
        found.settle(heard.packet.at, limit, events);
    }

    #[cold]
    fn stalled(
        &mut self,
        (cause, repair): (StallCause, Option<Box<Repair>>),
        at: Instant,
        frame: u64,
        events: &mut Vec<Event>,
    ) {
        let Some((from, first)) = self.last else { return };
        let in_flight = Bytes::new(self.in_flight);
        let stall = Stall { from, until: at, frames: (first, frame), cause, in_flight };
        let limit = self.limit();
        let found = self.found.get_or_insert_default();
        found.waiting.push_back((stall, repair));
        if found.waiting.len() > MOST_WAITING {
            found.settle_first(events);
        }
        found.settle(at, limit, events);
    }
    #[inline(always)]
    fn is_waiting(&self) -> bool {
        self.found.as_ref().is_some_and(|found| !found.waiting.is_empty())
    }
}

/// The rest of the window that an acknowledgement offers, where the scale is known.
#[inline(always)]
fn left(heard: &AckEvent<'_>) -> Option<u64> {
    let window = heard.window?;
    Some((heard.ack.as_u64() + window.as_u64()).saturating_sub(heard.high.as_u64()))
}

impl Found {
    /// Reports the first stalls, as far as their causes are final.
    fn settle(&mut self, at: Instant, limit: Span, events: &mut Vec<Event>) {
        while let Some((_, repair)) = self.waiting.front()
            && repair.as_ref().is_none_or(|repair| repair.is_certain(at, limit))
        {
            self.settle_first(events);
        }
    }

    /// The cause of the first is known as far as it ever will be.
    fn settle_first(&mut self, events: &mut Vec<Event>) {
        let Some((mut stall, repair)) = self.waiting.pop_front() else { return };
        stall.cause = repair.map_or(stall.cause, |repair| repair.cause());
        let time = stall.until.since(stall.from);
        if let Some(sum) = self.sums.iter_mut().find(|sum| sum.cause == stall.cause) {
            sum.count += 1;
            sum.time = Span::from_nanos(sum.time.as_nanos().saturating_add(time.as_nanos()));
            if time > sum.longest.until.since(sum.longest.from) {
                sum.longest = stall;
            }
        } else {
            self.sums.push(StallSum { cause: stall.cause, count: 1, time, longest: stall });
            self.sums.sort_by_key(|sum| sum.cause);
        }
        events.push(Event::Stall(stall));
    }
}
