//! The sender as its packets show it: what it might have sent, and what made it send.
//!
//! What the sender waits for in the *gap* between two sendings follows from three things.
//!
//! - *Room*: where the receiver's window is full, that is what it waits for.
//! - *Proof*: a congestion window only shrinks when something was lost, marked, or a long time
//!   idle. So what was in flight at most since then, the window still allows. A sender that could
//!   send by both windows and lets an acknowledgement pass without doing so *declines*: it has
//!   nothing to send. Linux waits for more room than a single segment's before it cuts one of its
//!   large packets (`tcp_tso_should_defer`), but not if the last sending is a millisecond past.
//! - *Prompting*: kernels answer an acknowledgement within the moment. A sending that nothing
//!   prompted was made by an application or a timer, or by pacing.

mod waits;

use tcplab_units::{Instant, Offset, Rate, Span};

use super::autosize::{LEAST_CHUNK, autosize};
use super::away::Away;
use super::capacity::Capacity;
use super::departure::{Answer, Departure, USUAL_SEGMENT};
use super::gap::{Gap, Round};
use super::growth::Growth;
use super::ledger::{RoundOutcome, SpanKind, TimeLedger, confidence};
use super::pace::Pace;
use crate::fold::folded;
use crate::observers::event::{Event, SendEvent};
use crate::{Flow, Limit, Timer};

/// A kernel answers an acknowledgement in less: it sends from the interrupt that brought it.
const REACTS: Span = Span::from_micros(50);
/// Where times are written in milliseconds, a little later may look like this.
const COARSE: Span = Span::from_millis(1);
/// A process that waits for buffer space has written by then, or by a sixteenth of the RTT.
const WAKES: Span = Span::from_millis(1);
/// After this long without sending, Linux sends what little it may (`tcp_tso_should_defer`).
const DEFERS: Span = Span::from_millis(1);
/// What takes longer is a clock that was set, not a round trip.
const LONGEST: Span = Span::from_secs(3_600);
/// A receiver may delay the ACK of less than this many full segments (RFC 9293 section 3.8.6.3) or
/// send it with its answer: a round trip that carried less shows no queue.
const AT_ONCE: u64 = 2;
/// Windows reach at least this share of the path's rate if the path is what bounds them, per
/// cent: acknowledgement clocks jitter, and a round trip is never measured to the packet.
const BUSY: u64 = 85;

#[derive(Debug)]
pub(crate) struct Sender {
    /// A full segment, bytes of data, at most.
    offered: u64,
    /// A full segment now, 0 if unknown.
    full: u32,
    /// The largest packet seen: several segments where the kernel leaves cutting to the card.
    largest: u64,
    /// Times are of a millisecond or more.
    coarse: bool,
    /// From an ACK at the capture point to the reaction to it: zero at the sender.
    reaction: Span,
    una: u64,
    high: u64,
    /// Bytes that the receiver is known to have.
    delivered: u64,
    edge: Option<u64>,
    in_flight: u64,
    /// The most that was in flight since the congestion window last shrank.
    proven: u64,
    /// When it last became more, and how long that took.
    grew: (Instant, Span),
    /// Something was lost or marked: the congestion window may have become small.
    lost: bool,
    /// In fast recovery until this is acknowledged.
    recovery: Option<u64>,
    /// After a timer, until this is acknowledged: data in flight may be lost.
    unsure: Option<u64>,
    /// The timer was a probe's.
    probed: bool,
    /// The kernel's large packets: it may wait until it can send this much, bytes.
    chunk: u64,
    growth: Growth,
    smoothed: Span,
    least: Option<Span>,
    /// The latest packet, if it acknowledged something new.
    heard: Option<Instant>,
    gap: Gap,
    pace: Pace,
    paced_repeats: u8,
    round: Round,
    capacity: Capacity,
    away: Option<Box<Away>>,
    ledger: TimeLedger,
}
folded! {
    Sender {
        offered, full, largest, coarse, reaction, una, high, delivered, edge, in_flight, proven,
        grew, lost, recovery, unsure, probed, chunk, growth, smoothed, least, heard, gap, pace,
        paced_repeats, round, capacity, away, ledger
    }
}

impl Sender {
    /// `sent` is the first packet with data.
    pub(crate) fn new(sent: &SendEvent<'_>, offered: u64, reaction: Span) -> Sender {
        let confidence = confidence(reaction, sent.packet.coarse);
        let (at, start) = (sent.packet.at, sent.range.start.as_u64());
        Sender {
            offered,
            full: 0,
            largest: 0,
            coarse: sent.packet.coarse,
            reaction,
            una: start,
            high: start,
            delivered: start,
            edge: sent.window_edge.map(Offset::as_u64),
            in_flight: 0,
            proven: 0,
            grew: (at, Span::ZERO),
            lost: false,
            recovery: None,
            unsure: None,
            probed: false,
            chunk: 0,
            growth: Growth::new(),
            smoothed: reaction.min(LONGEST),
            least: None,
            heard: None,
            gap: Gap { from: at, room: u64::MAX, ..Gap::default() },
            pace: Pace::default(),
            paced_repeats: 0,
            round: Round { from: at, mark: start + sent.payload, arrived: 0, least: None },
            capacity: Capacity::default(),
            away: None,
            ledger: TimeLedger::begin(at, sent.packet.frame, confidence),
        }
    }

    pub(crate) fn capacity(&self) -> Option<Rate> {
        self.capacity.rate()
    }

    /// The capture point is as far from the sender as this.
    pub(crate) fn is_found(&mut self, reaction: Span) {
        self.reaction = reaction;
        self.smoothed = reaction.min(LONGEST);
        (self.least, self.round.least) = (None, None);
        self.ledger.trust(confidence(reaction, self.coarse));
    }

    /// Times are of a millisecond or more, as may show only after some frames.
    #[cold]
    pub(crate) fn is_timed_coarsely(&mut self) {
        if !self.coarse {
            self.coarse = true;
            self.capacity = Capacity::default();
            self.ledger.trust(confidence(self.reaction, true));
        }
    }

    /// Away from the sender: a packet towards it bears this timestamp.
    pub(crate) fn is_asked(&mut self, value: u32, at: Instant) {
        self.away.get_or_insert_default().asks(value, at);
    }

    /// Away from the sender: how long a reaction waits on its way here.
    pub(crate) fn queue(&self) -> Span {
        self.away.as_ref().map_or(Span::ZERO, |away| away.queue())
    }

    /// `full`: the size of a full segment, if known.
    #[inline(always)]
    pub(crate) fn sent(&mut self, sent: &Departure, full: Option<u64>, events: &mut Vec<Event>) {
        self.full = full.map_or(0, |full| full as u32);
        let quiet = sent.at.since(self.gap.from);
        let mut burst = sent.payload;
        if self.gap.heard.is_none() && quiet <= REACTS + self.blur() && sent.timer.is_none() {
            self.ledger.account(SpanKind::Clocked, sent.at, sent.frame);
            burst += self.gap.burst;
        } else {
            self.close_gap(*sent, events);
        }
        if self.una >= self.high {
            let mark = sent.end.max(self.high);
            let round = Round { from: sent.at, mark, arrived: 0, least: None };
            self.round = round;
            self.restart_after_idle(quiet);
        }
        self.high = self.high.max(sent.end);
        self.largest = self.largest.max(sent.payload);
        if sent.fast && self.recovery.is_none() {
            self.recovery = Some(self.high);
            self.lost = true;
            self.shrunk(false);
        }
        if sent.timer == Some(Timer::Retransmission) {
            self.recovery = None;
            self.unsure = Some(self.high);
            self.lost = true;
            self.shrunk(true);
        }
        if sent.timer == Some(Timer::Probe) && sent.repeat {
            // If it repairs a loss, the window shrinks in the round trip after its
            // acknowledgement (RFC 8985 section 7.4.2, `tcp_process_tlp_ack`).
            self.unsure = Some(self.high);
            self.probed = true;
            self.lost = true;
            self.shrunk(false);
        }
        self.in_flight = sent.in_flight.unwrap_or(self.high.saturating_sub(self.una));
        if self.recovery.or(self.unsure).is_none() {
            self.prove(sent.at);
        }
        if !self.reaction.is_zero() {
            self.measure_arrival(*sent);
        }
        let room = self.room();
        self.gap = Gap { from: sent.at, in_flight: self.in_flight, room, ..Gap::default() };
        self.gap.burst = burst;
        self.gap.recovering = self.recovery.is_some();
        if !sent.repeat && self.is_small(sent.payload) {
            self.gap.small = sent.payload.min(self.agreed_segment()) as u32;
        }
        self.gap.available = self.available();
        self.gap.declined = self.gap.available >= self.chunk();
    }

    #[inline(always)]
    pub(crate) fn heard(&mut self, answer: &Answer, events: &mut Vec<Event>) {
        let arrived = answer.delivered.saturating_sub(self.delivered);
        self.delivered = self.delivered.max(answer.delivered);
        if self.reaction.is_zero() {
            self.measure(answer.at, arrived, answer.sample);
            if answer.ack >= self.high {
                // Nothing waits before the narrowest link any more.
                self.capacity.break_off();
            }
        }
        let (reacts, _) = self.patience();
        if self.gap.heard.is_some_and(|last| answer.at.since(last) > reacts) {
            self.decline();
        }
        let was_closed = self.edge.is_some_and(|edge| edge <= self.una);
        if answer.ack >= self.una {
            self.una = answer.ack;
            self.edge = answer.edge;
        }
        self.in_flight = answer.in_flight.unwrap_or(self.high.saturating_sub(self.una));
        let (available, opened) = (self.available(), self.room() >= self.full_segment());
        let gap = &mut self.gap;
        if opened {
            gap.opened.get_or_insert((answer.at, answer.frame));
        }
        if was_closed && self.edge.is_some_and(|edge| edge > self.una) {
            gap.reopened = Some((answer.at, answer.frame));
        }
        gap.available = available;
        gap.heard = Some(answer.at);
        gap.heard_frame = answer.frame;
        gap.with_data = answer.with_data;
        if self.una >= self.high {
            gap.drained.get_or_insert((answer.at, answer.frame));
        }
        self.leave_recovery();
        self.ledger.acked(answer.fresh);
        self.round.arrived += arrived;
        if answer.fresh > 0 && self.una >= self.round.mark {
            self.close_round(answer.at, events);
        }
    }

    fn leave_recovery(&mut self) {
        let passed = |point: Option<u64>| point.is_some_and(|point| self.una >= point);
        if passed(self.recovery) {
            self.recovery = None;
            self.proven = 0;
        }
        if passed(self.unsure) {
            let more = std::mem::take(&mut self.probed) && self.una < self.high;
            self.unsure = more.then_some(self.high);
            self.proven = 0;
        }
    }

    /// `last`: the last acknowledgement of new data as it passed the capture point, and its frame.
    pub(crate) fn finish(
        &mut self,
        last: Option<(Instant, u64)>,
        flow: &mut Flow,
        events: &mut Vec<Event>,
    ) {
        let gap = self.gap;
        let kind = if self.recovery.is_some() {
            SpanKind::Clocked
        } else if gap.room < self.full_segment() && gap.opened.is_none() {
            SpanKind::Sure(Limit::ReceiveWindow)
        } else {
            SpanKind::Lull
        };
        if let Some((at, frame)) = last.filter(|&(at, _)| at > self.ledger.until()) {
            self.ledger.wait(kind, at, frame, self.long(), events);
        }
        // The last round trip is not over, so it shows no rate.
        let mut outcome = self.outcome(0);
        if self.growth.is_by_leaps() {
            outcome.clocked = Limit::SlowStart;
        }
        self.ledger.finish(outcome, flow, events);
    }

    /// A full segment as far as seen. What never reached a quarter of a usual one were messages.
    fn full_segment(&self) -> u64 {
        let usual = self.offered.min(USUAL_SEGMENT);
        if self.largest < usual / 4 { usual } else { self.offered.min(self.largest).max(1) }
    }
    /// As the ends agreed, or the path allowed.
    fn agreed_segment(&self) -> u64 {
        let (full, usual) = (u64::from(self.full), self.offered.min(USUAL_SEGMENT));
        if full < usual / 4 { usual } else { full }
    }
    /// Whether the last segment in a packet is smaller than a full one. Where none reached three
    /// quarters of one, all were messages: the path's MTU and options take less away.
    fn is_small(&self, payload: u64) -> bool {
        let full = self.agreed_segment();
        let full = if self.largest < full / 4 * 3 { full } else { full.min(self.largest) };
        payload != full && !payload.is_multiple_of(full)
    }
    /// What the receiver's window still has room for; no bound where its scale is not known.
    fn room(&self) -> u64 {
        self.edge.map_or(u64::MAX, |edge| edge.saturating_sub(self.high))
    }
    /// What both windows surely allow.
    fn available(&self) -> u64 {
        self.room().min(self.proven.saturating_sub(self.in_flight))
    }
    fn chunk(&self) -> u64 {
        self.chunk.max(LEAST_CHUNK * self.full_segment()).max(self.largest)
    }
    /// The sender let the latest acknowledgement pass without sending.
    fn decline(&mut self) {
        let gap = &self.gap;
        let late = gap.heard.is_some_and(|heard| heard.since(gap.from) > DEFERS + self.blur());
        let enough = if late { self.full_segment() } else { self.chunk() };
        self.gap.declined |= self.gap.available >= enough;
    }
    /// The congestion window allows what is in flight.
    fn prove(&mut self, at: Instant) {
        if self.in_flight <= self.proven {
            return;
        }
        let took = if self.proven > 0 { at.since(self.grew.0) } else { Span::ZERO };
        self.grew = (at, took);
        self.proven = self.in_flight;
    }
    /// The limit while the receive window is full. A congestion window that just grew to it counts
    /// first (`tcp_write_xmit` tests it first), until it grew once more.
    fn kept_by_window(&self, from: Instant) -> SpanKind {
        let (grew, took) = self.grew;
        let met = self.in_flight + self.full_segment() > self.proven;
        if met && from.since(grew) < took {
            SpanKind::Clocked
        } else {
            SpanKind::Sure(Limit::ReceiveWindow)
        }
    }
    /// A wait of two RTTs counts by itself.
    fn long(&self) -> Span {
        (self.smoothed + self.queue()) * 2
    }
    fn shrunk(&mut self, timeout: bool) {
        self.proven = 0;
        self.growth.restart(timeout);
    }
    /// RFC 5681 section 4.1: after an idle RTO the window restarts.
    fn restart_after_idle(&mut self, quiet: Span) {
        if quiet > Span::from_millis(200) + self.smoothed {
            self.shrunk(true);
        }
    }

    /// At the sender: what an ACK of so many bytes and its RTT show of the path.
    #[inline(always)]
    fn measure(&mut self, at: Instant, arrived: u64, sample: Option<Span>) {
        // After an ACK of nothing the next may cover what arrived long before.
        let last = std::mem::replace(&mut self.heard, (arrived > 0).then_some(at));
        let Some(sample) = sample.filter(|&sample| sample < LONGEST) else {
            self.capacity.break_off();
            return;
        };
        let least = self.least.map_or(sample, |least| least.min(sample));
        self.least = Some(least);
        self.round.least = Some(self.round.least.map_or(sample, |r| r.min(sample)));
        self.smoothed =
            if self.smoothed.is_zero() { sample } else { (self.smoothed * 7 + sample) / 8 };
        // The narrowest link was busy between two packets if the second waited that long.
        match last.map(|last| at.since(last).min(LONGEST)) {
            Some(passed) if (sample - least) * 4 >= passed * 3 && arrived > 0 => {
                self.capacity.extend(arrived, passed.as_nanos(), self.offered, self.coarse);
            }
            _ => self.capacity.break_off(),
        }
    }

    /// At the receiver, data close together show the narrowest link's rate, and so do full segments
    /// at even intervals, several in each round trip: windows that leave a link idle come in
    /// bursts, each followed by a pause.
    #[inline(never)]
    fn measure_arrival(&mut self, sent: Departure) {
        let passed = sent.at.since(self.gap.from);
        let away = self.away.get_or_insert_default();
        let (last, echoed) = away.arrives(sent.echo, sent.at, passed);
        let apart = passed.max(last).saturating_sub(passed.min(last));
        let several = passed <= self.smoothed.max(away.round_trip()) / 4;
        if let Some(echoed) = echoed.filter(|&echoed| echoed < LONGEST) {
            away.exceeds(self.reaction, !several);
            if several {
                self.round.least = Some(self.round.least.map_or(echoed, |least| least.min(echoed)));
            }
        }
        let is_even = several && apart <= last / 8;
        let is_first = passed.is_zero() && last.is_zero();
        // An application's own pace shows between messages.
        let is_message = self.gap.small > 0 && self.is_small(sent.payload);
        if sent.repeat || is_first || is_message || passed > self.smoothed / 8 && !is_even {
            self.capacity.break_off();
        } else {
            self.capacity.extend(sent.payload, passed.as_nanos(), self.offered, self.coarse);
        }
    }

    /// How late a kernel's reaction can come, and a process's.
    fn patience(&self) -> (Span, Span) {
        if self.reaction.is_zero() {
            let wakes = WAKES.min(self.smoothed / 16).max(REACTS);
            (REACTS + self.blur(), wakes + self.blur())
        } else {
            let blurred = self.reaction / 8 + self.blur();
            (blurred, blurred)
        }
    }
    /// How much later something may seem to be than it was.
    fn blur(&self) -> Span {
        if self.coarse { COARSE } else { Span::ZERO }
    }

    #[cold]
    fn close_round(&mut self, at: Instant, events: &mut Vec<Event>) {
        let nanos = at.since(self.round.from).as_nanos();
        let rate = (self.round.arrived.saturating_mul(1_000_000_000)).checked_div(nanos);
        let rate = rate.unwrap_or(0);
        let outcome = self.outcome(rate);
        self.growth.add(rate);
        self.size_chunks();
        self.round = Round { from: at, mark: self.high + 1, arrived: 0, least: None };
        self.ledger.round(outcome, events);
    }

    fn size_chunks(&mut self) {
        let window = self.proven.max(self.in_flight);
        let (smoothed, least) = (self.smoothed, self.least.unwrap_or(self.smoothed));
        let bytes = autosize(window, self.growth.is_by_leaps(), smoothed, least);
        let full = self.full_segment();
        self.chunk = bytes / full * full;
    }

    fn outcome(&self, rate: u64) -> RoundOutcome {
        let capacity = self.capacity.bytes_per_second();
        // Away from the sender no round trip is shorter than its reaction.
        let least = self.least.unwrap_or(self.reaction);
        let queue = self.round.least.unwrap_or_default().saturating_sub(least);
        let stands =
            self.round.arrived >= AT_ONCE * self.offered && queue > WAKES * 2 && queue > least / 4;
        let at_capacity = stands || capacity.is_some_and(|c| rate.saturating_mul(100) >= c * BUSY);
        let clocked = if self.growth.goes_on(rate) {
            Limit::SlowStart
        } else if at_capacity {
            Limit::Path
        } else if self.growth.rises(rate) && !self.reaction.is_zero() {
            // Here no window is seen that would not grow in recovery.
            Limit::SlowStart
        } else {
            Limit::Congestion
        };
        let rises = self.growth.rises(rate);
        RoundOutcome { clocked, at_capacity, rises, pacing: self.smoothed / 2 }
    }
}
