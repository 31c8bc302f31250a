//! What the sender waited for between two sendings.

use tcplab_units::{Instant, Span};

use super::Sender;
use crate::Limit;
use crate::observers::event::Event;
use crate::observers::limits::departure::Departure;
use crate::observers::limits::gap::Gap;
use crate::observers::limits::ledger::SpanKind;

/// A smaller flight than this many full segments does not fill a send buffer: the smallest that
/// Linux grants (`SOCK_MIN_SNDBUF`) holds two with their overhead, and a request is as short.
const LEAST_BUFFER: u64 = 4;
/// The segments of an initial window (RFC 6928 section 2).
const INITIAL_WINDOW: u64 = 10;
/// As many evenly spaced retransmissions that no acknowledgement prompted show a pacing timer; one
/// may be a reordering timer's (RFC 8985 section 6.3).
const PACED_REPEATS: u8 = 2;

impl Sender {
    /// Judges the time since the last sending.
    #[inline(never)]
    pub(super) fn close_gap(&mut self, sent: Departure, events: &mut Vec<Event>) {
        let waited = self.gap.heard.map(|heard| sent.at.since(heard));
        let (reacts, wakes) = self.patience();
        // After a long wait caches are cold and processors asleep: then late means nothing.
        let round_trip = self.least.unwrap_or(self.smoothed);
        let awake = self.gap.heard.is_some_and(|heard| heard.since(self.gap.from) < round_trip / 2);
        if awake && waited.is_some_and(|waited| waited > reacts) {
            self.decline();
        }
        let gap = self.gap;
        let (at, frame, long) = (sent.at, sent.frame, self.long());
        let beyond = self.edge.is_some_and(|edge| sent.end > edge) && self.reaction.is_zero();
        let closed = gap.reopened.filter(|_| gap.room < self.full_segment());
        if let Some((opened, frame)) = closed {
            self.ledger.wait(SpanKind::Sure(Limit::ReceiveWindow), opened, frame, long, events);
        }
        if sent.window_probe || beyond {
            if let Some(heard) = gap.heard.filter(|_| gap.room >= self.full_segment()) {
                self.ledger.account(SpanKind::Lull, heard, gap.heard_frame);
            }
            self.ledger.wait(SpanKind::Sure(Limit::ReceiveWindow), at, frame, long, events);
            return;
        }
        if sent.timer.is_some() {
            if let Some(heard) = gap.heard.map(|heard| (heard, gap.heard_frame)) {
                let (free, frame) = gap.free().unwrap_or(heard);
                self.ledger.account(SpanKind::Clocked, free, frame);
                self.ledger.wait(SpanKind::Idle, heard.0, heard.1, long, events);
            }
            self.ledger.wait(SpanKind::Sure(Limit::Timeout), at, frame, long, events);
            return;
        }
        let prompted = waited.is_some_and(|waited| waited <= wakes);
        // A window with less room than the kernel cuts a packet for is full to it.
        let allowed = self.proven.saturating_sub(gap.in_flight);
        // What would have fitted into the rest of the window was not written yet.
        let small = gap.room < self.full_segment();
        let cut = gap.room < self.chunk() && gap.room <= allowed;
        let full = if small { sent.payload >= gap.room } else { cut };
        let answered = waited.is_some_and(|waited| waited <= reacts);
        let even = self.reaction.is_zero()
            && !(answered || full || gap.small > 0)
            && self.pace.is_kept(at.since(gap.from), gap.burst);
        let kind = if self.recovery.is_some() || gap.recovering || sent.repeat {
            if even { self.kind_in_recovery(&sent) } else { SpanKind::Clocked }
        } else if small && full && gap.opened.is_none() {
            self.kept_by_window(gap.from)
        } else if !self.reaction.is_zero() {
            self.kind_from_afar(&sent, full)
        } else if even {
            SpanKind::Paced
        } else if !prompted || self.had_sent_all() && !full || self.had_little_to_send(&sent) {
            SpanKind::Lull
        } else if gap.declined {
            self.kind_of_declining(&sent)
        } else if full {
            self.kept_by_window(gap.from)
        } else {
            SpanKind::Clocked
        };
        self.account_gap(&sent, kind, wakes, events);
    }

    /// The time since the last sending was of this kind, and idle from when nothing held back. With
    /// nothing in flight no congestion window does, also after a recovery; nor does a window with
    /// room: away from the sender a round trip may be longer than the least.
    fn account_gap(
        &mut self,
        sent: &Departure,
        kind: SpanKind,
        wakes: Span,
        events: &mut Vec<Event>,
    ) {
        let (gap, at, long) = (self.gap, sent.at, self.long());
        if kind == SpanKind::Sure(Limit::ReceiveWindow)
            && let Some(edge) = self.edge
        {
            // Where more was in flight than it allows, an answer came sooner than it seems.
            let now = if gap.room > 0 { u64::MAX } else { edge.saturating_sub(self.una) };
            self.ledger.kept_by_window((gap.in_flight + gap.room).min(now), at);
        }
        let idle_for = |least| move |&(from, _): &(Instant, u64)| at.since(from) > least;
        let idle = match kind {
            SpanKind::Lull => gap.drained,
            SpanKind::Clocked | SpanKind::Paced => gap.drained.filter(idle_for(wakes)),
            SpanKind::Sure(_) => gap.free().filter(idle_for(long)),
            _ => None,
        };
        if let Some((idle, frame)) = idle {
            self.ledger.wait(kind, idle, frame, long, events);
            self.ledger.wait(SpanKind::Idle, at, sent.frame, long, events);
        } else {
            self.ledger.wait(kind, at, sent.frame, long, events);
        }
    }

    /// Less than a full segment was in flight, and was acknowledged. No congestion window is that
    /// small (RFC 5681 section 3.1): there was no more to send, or Nagle's rule held it back.
    fn had_sent_all(&self) -> bool {
        let Gap { drained, in_flight, .. } = self.gap;
        drained.is_some() && in_flight < self.agreed_segment() && self.unsure.is_none()
    }

    /// The segment before was not full: there was no more to send. Nor is this one: what a window
    /// holds back fills segments. Or fewer were in flight than an initial window has (RFC 6928), or
    /// than any has: then Nagle's rule (RFC 9293 section 3.7.4) held back the end of a message.
    fn had_little_to_send(&self, sent: &Departure) -> bool {
        let Gap { small, in_flight, room, drained, .. } = self.gap;
        let fit = |segment: u64| !self.lost && in_flight < INITIAL_WINDOW * segment;
        let is_small = self.is_small(sent.payload);
        let ended = small > 0 && (is_small || fit(small.into()));
        let full = self.agreed_segment();
        let rest = is_small && drained.is_some() && self.unsure.is_none();
        room >= self.full_segment() && (ended || rest && (in_flight <= full || fit(full)))
    }

    /// Away from the sender a queue on the way blurs what prompted what. What is left: all was
    /// acknowledged, or a segment was not full though time passed, so there was no more to send.
    fn kind_from_afar(&self, sent: &Departure, full: bool) -> SpanKind {
        let gap = &self.gap;
        let small = gap.small > 0 || self.is_small(sent.payload);
        let paused = sent.at.since(gap.from) > self.smoothed / 8;
        let (blurred, _) = self.patience();
        let drained = gap.drained.is_some_and(|(at, _)| sent.at.since(at) > blurred);
        if full {
            SpanKind::Sure(Limit::ReceiveWindow)
        } else if paused && (small || drained) {
            SpanKind::Lull
        } else if self.is_train(sent) {
            SpanKind::Train
        } else if self.had_little_to_send(sent) {
            SpanKind::Lull
        } else {
            SpanKind::Clocked
        }
    }
    /// Whether the narrowest link alone explains the time since the last packet.
    fn is_train(&self, sent: &Departure) -> bool {
        let passed = u128::from(sent.at.since(self.gap.from).as_nanos());
        let capacity = self.capacity.bytes_per_second();
        let alone =
            capacity.map(|c| u128::from(sent.payload) * 1_000_000_000 / u128::from(c.max(1)));
        alone.is_some_and(|alone| passed * 4 <= alone * 5)
    }

    /// An even wait in recovery that no acknowledgement ended. No application retransmits: such a
    /// retransmission was the pacing timer's.
    fn kind_in_recovery(&mut self, sent: &Departure) -> SpanKind {
        self.paced_repeats += u8::from(sent.repeat);
        if self.paced_repeats >= PACED_REPEATS {
            self.paced_repeats = 0;
            self.ledger.show_pacing();
        }
        SpanKind::Paced
    }

    /// The sender let an acknowledgement pass although windows allowed more. While its rate grows
    /// by leaps it was only late: a full buffer keeps a rate.
    fn kind_of_declining(&self, sent: &Departure) -> SpanKind {
        match (self.may_starve(sent), self.growth.is_by_leaps()) {
            (false, _) => SpanKind::Lull,
            (true, true) => SpanKind::Clocked,
            (true, false) => SpanKind::Starved,
        }
    }
    /// Whether a full buffer can have kept the sender: a good deal was in flight, the packet that
    /// prompted it was not a request, and it did not wait to send something small (Nagle).
    fn may_starve(&self, sent: &Departure) -> bool {
        let full = self.full_segment();
        self.gap.in_flight >= LEAST_BUFFER * full && !self.gap.with_data && sent.payload >= full
    }
}
