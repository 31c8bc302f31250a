//! A sender with endless data and one bottleneck: just enough to see what a window does.
//!
//! It is no TCP: every segment is acknowledged by itself and distinguished from its retransmission,
//! a loss is certain once three segments sent later have arrived, and in recovery cwnd comes down
//! at once. So a window can be reckoned by hand.

use std::collections::{BTreeSet, VecDeque};
use std::fmt::Write as _;

use tcplab_units::{Bytes, Instant, Rate, Span};

use crate::congestion::{AckSample, CongestionControl, Event, RateSample, State, Window, by_name};

/// Data bytes of a segment.
pub(super) const MSS: u32 = 1_000;
/// How long nothing comes until the timer runs out.
const TIMEOUT: Span = Span::from_secs(1);
/// Segments that have to arrive after a lost one.
const REORDERING: u64 = 3;

/// A bottleneck with a queue that drops at its tail, and the way there and back.
#[derive(Debug, Clone, Copy)]
pub(super) struct Path {
    /// What a segment takes at the bottleneck.
    pub(super) service: Span,
    /// The round trip without that.
    pub(super) delay: Span,
    /// The most segments at the bottleneck.
    pub(super) queue: u64,
}

impl Path {
    /// Round trips of `delay`, whatever the window.
    pub(super) fn endless(delay: Span) -> Path {
        Path { service: Span::from_nanos(1), delay, queue: u64::MAX }
    }

    /// A segment each `service`, with room for `queue`.
    pub(super) fn bottleneck(service: Span, delay: Span, queue: u64) -> Path {
        Path { service, delay, queue }
    }

    /// Segments that fill the path without a queue.
    pub(super) fn product(&self) -> f64 {
        1.0 + self.delay.as_secs_f64() / self.service.as_secs_f64()
    }
}

/// A round trip: from the sending of a window to its last acknowledgement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) round: usize,
    pub(super) time: Instant,
    pub(super) cwnd: u32,
    pub(super) ssthresh: u32,
    pub(super) rtt: Span,
    /// Segments at the bottleneck.
    pub(super) queue: u64,
    pub(super) in_flight: u32,
    pub(super) state: State,
    pub(super) delivered: u64,
}

#[derive(Debug, Clone, Copy)]
struct Sent {
    /// Transmissions before it.
    index: u64,
    segment: u64,
    is_repeated: bool,
    at: Instant,
    /// When that was sent which was delivered last before it.
    flight_start: Instant,
    delivered: u64,
    delivered_at: Instant,
    app_limited: bool,
}

/// The sender and its path.
#[derive(Debug)]
pub(super) struct Driver {
    pub(super) control: Box<dyn CongestionControl>,
    pub(super) window: Window,
    pub(super) now: Instant,
    pub(super) rows: Vec<Row>,
    pub(super) path: Path,
    /// Whether the application has nothing to send at present.
    pub(super) is_idle: bool,
    /// Transmissions that are lost, whatever the queue.
    drops: BTreeSet<u64>,
    interruption: Option<(Instant, Instant)>,
    sent: u64,
    free_at: Instant,
    arriving: VecDeque<(Instant, Sent)>,
    dropped: VecDeque<Sent>,
    to_repeat: VecDeque<u64>,
    missing: BTreeSet<u64>,
    highest: u64,
    next: u64,
    recovery_end: u64,
    /// The transmissions before it belong to the present round.
    round_end: u64,
    last_rtt: Span,
    first_sent: Instant,
    delivered_at: Instant,
    has_own_control: bool,
}

impl Driver {
    /// The control called `name` with a window of ten segments.
    pub(super) fn new(name: &str, path: Path) -> Driver {
        Driver::with(by_name(name).expect("a control"), path, |_| {})
    }

    /// `control` with a window that `set` changed before the start.
    pub(super) fn with(
        mut control: Box<dyn CongestionControl>,
        path: Path,
        set: impl FnOnce(&mut Window),
    ) -> Driver {
        let mut window = Window::new(MSS, 10);
        window.flight.is_cwnd_limited = true;
        // The handshake measured the RTT.
        let rtt = path.delay + path.service;
        window.rtt.srtt = Some(rtt);
        window.rtt.min_rtt = Some(rtt);
        window.pacing.is_on = control.is_paced();
        set(&mut window);
        let now = Instant::ZERO + rtt;
        control.init(now, &mut window);
        let round_end = u64::from(window.cwnd);
        Driver {
            control,
            window,
            now,
            rows: Vec::new(),
            path,
            is_idle: false,
            drops: BTreeSet::new(),
            interruption: None,
            sent: 0,
            free_at: now,
            arriving: VecDeque::new(),
            dropped: VecDeque::new(),
            to_repeat: VecDeque::new(),
            missing: BTreeSet::new(),
            highest: 0,
            next: 0,
            recovery_end: 0,
            round_end,
            last_rtt: rtt,
            first_sent: now,
            delivered_at: now,
            has_own_control: false,
        }
    }

    /// `control` in avoidance with a window of `cwnd` segments.
    pub(super) fn avoiding(
        control: impl CongestionControl + 'static,
        path: Path,
        cwnd: u32,
    ) -> Driver {
        Driver::with(Box::new(control), path, |window| {
            window.cwnd = cwnd;
            window.ssthresh = cwnd;
        })
    }

    /// The next transmission is lost.
    pub(super) fn drop_next(&mut self) {
        self.drops.insert(self.sent);
    }

    /// All that is sent from now on for `lasting` is lost.
    pub(super) fn interrupt(&mut self, lasting: Span) {
        self.interruption = Some((self.now, self.now + lasting));
    }

    /// Until `rounds` more are over.
    pub(super) fn run_rounds(&mut self, rounds: usize) -> &[Row] {
        let first = self.rows.len();
        while self.rows.len() < first + rounds {
            self.step();
        }
        &self.rows[first..]
    }

    /// Until `time`, or a little later.
    pub(super) fn run_until(&mut self, time: Instant) {
        while self.now < time {
            self.step();
        }
    }

    /// For `span`, or a little longer.
    pub(super) fn run_for(&mut self, span: Span) {
        self.run_until(self.now + span);
    }

    /// Says nothing for `span` after the last acknowledgement.
    pub(super) fn idle(&mut self, span: Span) {
        self.is_idle = true;
        while !self.arriving.is_empty() {
            self.step();
        }
        self.window.delivery.app_limited = Some(self.window.delivery.delivered);
        self.now += span;
        self.is_idle = false;
    }

    /// Segments at the bottleneck.
    pub(super) fn queue(&self) -> u64 {
        self.free_at.since(self.now).as_nanos().div_ceil(self.path.service.as_nanos())
    }

    /// A segment leaves, or an acknowledgement comes, or the timer runs out.
    fn step(&mut self) {
        let leaves = self.leaves_at();
        let arrives = self.arriving.front().map(|(time, _)| *time);
        match (arrives, leaves) {
            (Some(arrives), Some(leaves)) if leaves < arrives => self.send(leaves),
            (None, Some(leaves)) => self.send(leaves),
            (Some(arrives), _) => self.hear(arrives),
            (None, None) => self.time_out(),
        }
    }

    fn leaves_at(&self) -> Option<Instant> {
        let may = self.window.flight.in_flight < self.window.cwnd;
        let departure =
            if self.control.is_paced() { self.window.pacing.departure } else { self.now };
        (may && !self.is_idle).then(|| departure.max(self.now))
    }

    fn send(&mut self, now: Instant) {
        self.now = now;
        if self.window.flight.packets_out == 0 {
            self.control.event(now, &mut self.window, Event::TransmitStart);
            self.first_sent = now;
            self.delivered_at = now;
        }
        let repeated = self.to_repeat.pop_front();
        let segment = repeated.unwrap_or(self.next);
        let sent = Sent {
            index: self.sent,
            segment,
            is_repeated: repeated.is_some(),
            at: now,
            flight_start: self.first_sent,
            delivered: self.window.delivery.delivered,
            delivered_at: self.delivered_at,
            app_limited: self.window.delivery.app_limited.is_some(),
        };
        self.sent += 1;
        self.next = self.next.max(segment + 1);
        self.window.flight.in_flight += 1;
        self.window.last_sent = now;
        self.note_outstanding();
        if let Some(rate) = self.window.pacing.rate.filter(|_| self.control.is_paced()) {
            let nanos = u64::from(MSS) * 8 * 1_000_000_000 / rate.bits_per_second().max(1);
            self.window.pacing.departure =
                self.window.pacing.departure.max(now) + Span::from_nanos(nanos);
        }
        self.pass(sent);
    }

    fn pass(&mut self, sent: Sent) {
        let is_cut = self.interruption.is_some_and(|(from, to)| from <= self.now && self.now < to);
        if is_cut || self.drops.remove(&sent.index) || self.queue() >= self.path.queue {
            self.missing.insert(sent.segment);
            self.dropped.push_back(sent);
            return;
        }
        self.free_at = self.free_at.max(self.now) + self.path.service;
        self.arriving.push_back((self.free_at + self.path.delay, sent));
    }

    fn note_outstanding(&mut self) {
        let una = self.missing.first().copied().unwrap_or(u64::MAX).min(self.highest);
        self.window.una = una * u64::from(MSS);
        self.window.nxt = self.next * u64::from(MSS);
        self.window.flight.packets_out = (self.next - una) as u32;
        self.window.flight.max_packets_out = self.window.flight.packets_out;
    }

    fn hear(&mut self, now: Instant) {
        self.now = now;
        let (_, sent) = self.arriving.pop_front().expect("something arrives");
        let prior_in_flight = self.window.flight.in_flight;
        let prior_una = self.window.una;
        self.window.flight.in_flight -= 1;
        self.window.delivery.delivered += 1;
        self.missing.remove(&sent.segment);
        self.highest = self.highest.max(sent.segment + 1);
        let rtt = (!sent.is_repeated).then(|| now.since(sent.at));
        if let Some(rtt) = rtt {
            self.last_rtt = rtt;
            self.window.rtt.srtt = self.window.rtt.srtt.map(|srtt| (srtt * 7 + rtt) / 8);
            self.window.rtt.min_rtt = self.window.rtt.min_rtt.map(|least| least.min(rtt));
        }
        let losses = self.hold_for_lost(sent.index);
        self.note_outstanding();
        let bytes = self.window.una - prior_una;
        let sample = AckSample {
            segments: 1,
            bytes,
            rtt,
            in_flight: prior_in_flight,
            plain: bytes > 0 && self.missing.is_empty(),
        };
        self.control.acked(now, &mut self.window, &sample);
        self.control.heard(now, &mut self.window, &sample);
        let rate = self.rate(sent, rtt, losses, prior_in_flight);
        self.change_state(losses);
        self.grow(&rate, bytes > 0);
        while self.leaves_at() == Some(now) {
            self.send(now);
        }
        if sent.index + 1 >= self.round_end {
            self.end_round();
        }
    }

    /// Gives how many.
    fn hold_for_lost(&mut self, arrived: u64) -> u32 {
        let mut losses = 0;
        while self.dropped.front().is_some_and(|lost| lost.index + REORDERING <= arrived) {
            let lost = self.dropped.pop_front().expect("looked at");
            self.to_repeat.push_back(lost.segment);
            losses += 1;
        }
        self.window.flight.in_flight -= losses;
        self.window.delivery.lost += u64::from(losses);
        losses
    }

    /// As `tcp_rate_skb_delivered` and `tcp_rate_gen`.
    fn rate(&mut self, sent: Sent, rtt: Option<Span>, losses: u32, in_flight: u32) -> RateSample {
        let app_limited = self.window.delivery.app_limited;
        self.window.delivery.app_limited =
            app_limited.filter(|mark| self.window.delivery.delivered <= *mark);
        self.first_sent = sent.at;
        self.delivered_at = self.now;
        let sending = sent.at.since(sent.flight_start);
        let interval = sending.max(self.now.since(sent.delivered_at));
        let is_valid = self.window.rtt.min_rtt.is_none_or(|least| interval >= least);
        RateSample {
            prior_delivered: sent.delivered,
            delivered: is_valid.then(|| self.window.delivery.delivered - sent.delivered),
            interval,
            rtt,
            losses,
            acked_sacked: 1,
            prior_in_flight: in_flight,
            app_limited: sent.app_limited,
            is_ack_delayed: false,
        }
    }

    fn change_state(&mut self, losses: u32) {
        match self.window.state {
            State::Open if losses > 0 => {
                self.window.prior_cwnd = self.window.cwnd;
                self.recovery_end = self.window.nxt;
                self.window.ssthresh = self.control.ssthresh(self.now, &mut self.window);
                self.enter(State::Recovery);
                if self.control.name() == "tahoe" {
                    self.go_back();
                }
                if !self.has_own_control {
                    self.window.cwnd = self.window.ssthresh;
                }
            }
            State::Recovery if self.window.una >= self.recovery_end => {
                if !self.has_own_control {
                    self.window.cwnd = self.window.ssthresh;
                }
                self.control.event(self.now, &mut self.window, Event::ReductionComplete);
                self.enter(State::Open);
            }
            State::Loss if self.window.una >= self.recovery_end => self.enter(State::Open),
            _ => {}
        }
    }

    /// Without selective acknowledgements nothing is known of what was sent: it is retransmitted.
    fn go_back(&mut self) {
        self.window.flight.in_flight -= self.dropped.len() as u32;
        self.window.delivery.lost += self.dropped.len() as u64;
        self.to_repeat.extend(self.dropped.drain(..).map(|lost| lost.segment));
    }

    fn grow(&mut self, rate: &RateSample, advanced: bool) {
        self.has_own_control = self.control.control(self.now, &mut self.window, rate);
        if self.has_own_control {
            return;
        }
        if advanced && self.window.state != State::Recovery {
            self.control.avoid(self.now, &mut self.window, 1);
        }
        // As `tcp_update_pacing_rate`, whether or not anything is paced.
        let percent = if self.window.cwnd < self.window.ssthresh / 2 { 200 } else { 120 };
        let segments = u64::from(self.window.cwnd.max(self.window.flight.packets_out));
        let bytes = Bytes::new(u64::from(MSS) * segments * percent / 100);
        self.window.pacing.rate = self.window.rtt.srtt.and_then(|srtt| Rate::of(bytes, srtt));
    }

    fn enter(&mut self, state: State) {
        self.control.enter(self.now, &mut self.window, state);
        self.window.state = state;
    }

    fn time_out(&mut self) {
        assert!(!self.dropped.is_empty(), "nothing is in flight and nothing may leave");
        self.now = self.window.last_sent + TIMEOUT;
        if self.window.state != State::Loss {
            self.window.prior_cwnd = self.window.cwnd;
            self.window.ssthresh = self.control.ssthresh(self.now, &mut self.window);
        }
        self.recovery_end = self.window.nxt;
        self.control.event(self.now, &mut self.window, Event::Timeout);
        self.go_back();
        self.window.cwnd = 1;
        self.enter(State::Loss);
    }

    fn end_round(&mut self) {
        self.round_end = self.sent;
        self.rows.push(Row {
            round: self.rows.len() + 1,
            time: self.now,
            cwnd: self.window.cwnd,
            ssthresh: self.window.ssthresh,
            rtt: self.last_rtt,
            queue: self.queue(),
            in_flight: self.window.flight.in_flight,
            state: self.window.state,
            delivered: self.window.delivery.delivered,
        });
    }
}

/// The rows as text, one mark of a bar for each `unit` segments of cwnd.
pub(super) fn table(rows: &[Row], unit: u32) -> String {
    let mut text = format!(
        "{:>5} {:>9} {:>5} {:>8} {:>7} {:>5}\n",
        "round", "time ms", "cwnd", "ssthresh", "rtt ms", "queue"
    );
    for row in rows {
        let ssthresh = match row.ssthresh {
            crate::congestion::NO_THRESHOLD => "-".to_string(),
            known => known.to_string(),
        };
        let state = match row.state {
            State::Open => "",
            State::Disorder => " disorder",
            State::Cwr => " cwr",
            State::Recovery => " recovery",
            State::Loss => " loss",
        };
        let bar = "#".repeat((row.cwnd / unit) as usize);
        writeln!(
            text,
            "{:>5} {:>9.1} {:>5} {ssthresh:>8} {:>7.1} {:>5} {bar}{state}",
            row.round,
            row.time.as_secs_f64() * 1e3,
            row.cwnd,
            row.rtt.as_millis_f64(),
            row.queue,
        )
        .expect("a string takes it");
    }
    text
}
