//! The time ledger of a transfer: time by limit.
//!
//! Three levels: *spans* between two packets; *stretches* of a round trip or more, in which spans
//! of several kinds take turns; *periods*, neighbouring stretches of which most time has the same
//! limit. Each span is counted once, and none lies between two periods.

use tcplab_units::{Bytes, Instant, Span};

use crate::fold::folded;
use crate::observers::event::Event;
use crate::{Confidence, Flow, Limit, LimitPeriod, LimitShares};

/// A stretch is not shorter, so that the periods of a fast path stay readable.
const SHORTEST: Span = Span::from_millis(10);

/// A sender that went by the acknowledgements' clock for more than this part of the time it
/// starved, in the same round trip or the one before, had a full congestion window in it.
const FULL_BEFORE: u64 = 16;

/// No application that writes at a pace of its own raises its rate in as many round trips. A new
/// connection's first ones are short, and may seem to.
const PACED_RISES: u8 = 3;

/// The kind of a finished span.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SpanKind {
    /// It is certain.
    Sure(Limit),
    /// No data in flight and none to send.
    Idle,
    /// ACK-clocked: the sender transmitted on an ACK and had used its allowance before. The round
    /// trip shows whether the congestion window or the path set the rate.
    Clocked,
    /// It waited for an ACK although windows allowed more: full send buffer, or new data by chance.
    Starved,
    /// It waited for something else than an ACK: the application or, for short waits, pacing.
    Lull,
    /// Such waits, each in proportion to what was sent before it.
    Paced,
    /// Away from the sender: packets as close together as the narrowest link makes them. The sender
    /// may have sent them at once; then they belong to what it waited for next.
    Train,
}

/// The outcome of a round trip for its spans.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RoundOutcome {
    /// The limit behind the ACK clock.
    pub(crate) clocked: Limit,
    /// The path was as busy as it can be.
    pub(crate) at_capacity: bool,
    /// The rate was a quarter higher than ever before.
    pub(crate) rises: bool,
    /// Lulls below this are pacing, if the path was busy.
    pub(crate) pacing: Span,
}

impl RoundOutcome {
    /// A round trip that a long wait ended.
    const BROKEN_OFF: RoundOutcome = RoundOutcome {
        clocked: Limit::Congestion,
        at_capacity: false,
        rises: false,
        pacing: Span::ZERO,
    };
}

/// Everything written down so far.
#[derive(Debug)]
pub(crate) struct TimeLedger {
    /// All time before this is accounted for.
    until: Instant,
    /// The packet then.
    frame: u64,
    stretch: Stretch,
    /// In the round trip before, how long the sender went by the acknowledgements' clock.
    clocked: Span,
    /// The sender has a pacing timer: it kept a pace at the path's rate, in retransmissions, or
    /// while its rate rose from round trip to round trip.
    paces: bool,
    /// The rate rose in the last round trip; and in how many while the sender kept a pace.
    rose: bool,
    rises: u8,
    period: Option<LimitPeriod>,
    total: LimitShares,
    /// The receive windows that held the sender back: bytes times microseconds, and how many.
    window: (u64, u64),
}
folded! { TimeLedger { until, frame, stretch, clocked, paces, rose, rises, period, total, window } }

#[derive(Debug, Default)]
struct Stretch {
    shares: LimitShares,
    clocked: Span,
    starved: Span,
    lull: Span,
    longest_lull: Span,
    paced: Span,
    train: Span,
    from: Instant,
    frame: u64,
    acked: u64,
}
folded! {
    Stretch {
        shares, clocked, starved, lull, longest_lull, paced, train, from, frame, acked
    }
}

impl TimeLedger {
    /// The first span begins with this packet.
    pub(crate) fn begin(at: Instant, frame: u64, confidence: Confidence) -> TimeLedger {
        let total = LimitShares { confidence, ..LimitShares::default() };
        let stretch = Stretch { from: at, frame, shares: total, ..Stretch::default() };
        TimeLedger {
            until: at,
            frame,
            stretch,
            clocked: Span::ZERO,
            paces: false,
            rose: false,
            rises: 0,
            period: None,
            total,
            window: (0, 0),
        }
    }

    /// Until when all time is accounted for.
    pub(crate) fn until(&self) -> Instant {
        self.until
    }
    /// What is judged from here on is as sure as this.
    pub(crate) fn trust(&mut self, confidence: Confidence) {
        (self.total.confidence, self.stretch.shares.confidence) = (confidence, confidence);
    }
    /// The sender has a pacing timer.
    pub(crate) fn show_pacing(&mut self) {
        self.paces = true;
    }
    /// A receive window of so many bytes held the sender back from where the accounts end.
    pub(crate) fn kept_by_window(&mut self, bytes: u64, at: Instant) {
        let micros = at.since(self.until).as_micros();
        self.window.0 = self.window.0.saturating_add(bytes.saturating_mul(micros));
        self.window.1 += micros;
    }
    pub(crate) fn acked(&mut self, bytes: u64) {
        self.stretch.acked += bytes;
    }

    /// The time up to `at` was of this kind. Captures whose clock goes back add nothing.
    pub(crate) fn account(&mut self, kind: SpanKind, at: Instant, frame: u64) {
        let span = at.since(self.until);
        let stretch = &mut self.stretch;
        match kind {
            SpanKind::Sure(limit) => stretch.shares.spans[limit as usize] += span,
            SpanKind::Idle => {
                stretch.shares.spans[Limit::Application as usize] += span;
                stretch.shares.idle += span;
            }
            SpanKind::Clocked => stretch.clocked += span,
            SpanKind::Starved => stretch.starved += span,
            SpanKind::Paced => stretch.paced += span,
            SpanKind::Train => stretch.train += span,
            SpanKind::Lull => {
                stretch.lull += span;
                stretch.longest_lull = stretch.longest_lull.max(span);
            }
        }
        self.until = self.until.max(at);
        self.frame = frame;
    }

    /// Accounts a wait; a long one gets a stretch of its own.
    pub(crate) fn wait(
        &mut self,
        limit: SpanKind,
        at: Instant,
        frame: u64,
        long: Span,
        events: &mut Vec<Event>,
    ) {
        if at.since(self.until) < long.max(SHORTEST) {
            self.account(limit, at, frame);
            return;
        }
        self.resolve(RoundOutcome::BROKEN_OFF);
        self.close(events);
        self.account(limit, at, frame);
        self.resolve(RoundOutcome::BROKEN_OFF);
        self.close(events);
    }

    pub(crate) fn round(&mut self, outcome: RoundOutcome, events: &mut Vec<Event>) {
        self.resolve(outcome);
        if self.stretch.shares.total() >= SHORTEST {
            self.close(events);
        }
    }

    /// The last span ends where the accounts end.
    pub(crate) fn finish(
        &mut self,
        outcome: RoundOutcome,
        flow: &mut Flow,
        events: &mut Vec<Event>,
    ) {
        self.resolve(outcome);
        self.close(events);
        if let Some(period) = &mut self.period {
            // Data acknowledged at the instant when the accounts end.
            period.acked += Bytes::new(std::mem::take(&mut self.stretch.acked));
        }
        events.extend(self.period.take().map(Event::Limit));
        flow.shares = self.total;
        let (sum, time) = self.window;
        flow.windows.limiting = sum.checked_div(time).map(Bytes::new);
    }

    /// Decides about the time of a round trip of which single spans do not show the limit.
    fn resolve(&mut self, outcome: RoundOutcome) {
        let stretch = &mut self.stretch;
        let taken = Stretch {
            clocked: std::mem::take(&mut stretch.clocked),
            starved: std::mem::take(&mut stretch.starved),
            lull: std::mem::take(&mut stretch.lull),
            longest_lull: std::mem::take(&mut stretch.longest_lull),
            paced: std::mem::take(&mut stretch.paced),
            train: std::mem::take(&mut stretch.train),
            ..Stretch::default()
        };
        let starving = taken.starved > taken.lull;
        let full = (taken.clocked + self.clocked) * FULL_BEFORE > taken.starved;
        self.clocked = taken.clocked;
        let others = taken.clocked + taken.starved + taken.lull;
        self.paces |= outcome.at_capacity && taken.paced > others;
        self.rises += u8::from(outcome.rises && !self.paces && taken.paced * 3 > others);
        self.paces |= self.rises >= PACED_RISES;
        let rising = std::mem::replace(&mut self.rose, outcome.rises) || outcome.rises;
        let paced = self.pacer(outcome, rising, starving);
        // Where the pacing timer prompts most, an acknowledgement precedes some by chance. And such
        // senders may grow their windows in spite of losses, as BBR does.
        let by_chance = taken.paced > taken.clocked || rising;
        let clocked = if self.paces && by_chance { paced } else { outcome.clocked };
        // A writer woken by acknowledgements hardly ever writes without one; one that writes in
        // its own time does so at an acknowledgement only by accident. And where the congestion
        // window was full at times in a round trip, Linux holds it responsible for all of it
        // (`tcp_cwnd_validate`). What was late on a path that was busy all the same did no harm.
        let harmless = starving || taken.longest_lull < outcome.pacing;
        let idle = match (outcome.at_capacity && harmless, starving) {
            (true, _) => Limit::Path,
            (false, true) if full => outcome.clocked,
            (false, true) => Limit::SendBuffer,
            (false, false) => Limit::Application,
        };
        let shares = &mut self.stretch.shares;
        shares.spans[clocked as usize] += taken.clocked;
        shares.spans[idle as usize] += taken.starved + taken.lull;
        shares.spans[paced as usize] += taken.paced;
        let whole = if outcome.at_capacity { None } else { shares.largest() };
        shares.spans[whole.unwrap_or(outcome.clocked) as usize] += taken.train;
    }

    /// The limit of time in which the sender kept a pace. A sender that paces does so at the rate
    /// that it takes for the path's; so does an application that writes little by little, at a rate
    /// of its own. It is no application whose `writer` wakes by acknowledgements.
    fn pacer(&self, outcome: RoundOutcome, rising: bool, writer: bool) -> Limit {
        let starts = rising || outcome.clocked == Limit::SlowStart;
        match (outcome.at_capacity, starts, self.paces || writer) {
            (true, ..) | (_, false, true) => Limit::Path,
            (_, true, _) => Limit::SlowStart,
            (_, false, false) => Limit::Application,
        }
    }

    fn close(&mut self, events: &mut Vec<Event>) {
        let next = Stretch {
            from: self.until,
            frame: self.frame,
            shares: LimitShares { confidence: self.total.confidence, ..LimitShares::default() },
            ..Stretch::default()
        };
        let stretch = std::mem::replace(&mut self.stretch, next);
        let Some(limit) = stretch.shares.largest() else {
            self.stretch.acked = stretch.acked;
            return;
        };
        self.total.add(&stretch.shares);
        let acked = Bytes::new(stretch.acked);
        match &mut self.period {
            Some(period) if period.limit == limit => {
                period.until = self.until;
                period.shares.add(&stretch.shares);
                period.acked += acked;
                period.frames.1 = self.frame;
            }
            period => {
                let next = LimitPeriod {
                    limit,
                    shares: stretch.shares,
                    from: stretch.from,
                    until: self.until,
                    acked,
                    frames: (stretch.frame, self.frame),
                };
                events.extend(period.replace(next).map(Event::Limit));
            }
        }
    }
}

/// Away from the sender, or by coarse times, what prompted it is known less surely.
pub(crate) fn confidence(reaction: Span, coarse: bool) -> Confidence {
    if reaction.is_zero() && !coarse { Confidence::High } else { Confidence::Low }
}
