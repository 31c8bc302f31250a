//! What the sender says to its congestion control, and how the window follows.

use tcplab_units::{Instant, Span};

use super::facts::Facts;
use super::parts::Delivered;
use super::{Sender, micros};
use crate::congestion::{AckSample, Event, State};

impl Sender {
    /// An acknowledgement arrived (`in_ack_event`).
    pub(super) fn inform_of_ack(&mut self, now: Instant, facts: &Facts) {
        let sample = self.sample(0, facts);
        self.refresh();
        self.congestion.control.heard(now, &mut self.window, &sample);
    }

    /// `count` segments were acknowledged (`pkts_acked`).
    pub(super) fn inform_of_progress(&mut self, now: Instant, count: u32, facts: &Facts) {
        let sample = self.sample(count, facts);
        self.refresh();
        self.congestion.control.acked(now, &mut self.window, &sample);
    }

    fn sample(&self, count: u32, facts: &Facts) -> AckSample {
        AckSample {
            segments: count,
            bytes: self.window.una - facts.before.una,
            rtt: facts.rtt.map(Span::from_micros),
            in_flight: (self.rate.delivered - facts.delivery.prior_delivered) as u32,
            plain: facts.segment.plain,
        }
    }

    /// An event happened.
    pub(super) fn inform(&mut self, now: Instant, event: Event) {
        self.refresh();
        self.congestion.control.event(now, &mut self.window, event);
    }

    /// Enters `state`.
    pub(super) fn set_state(&mut self, now: Instant, state: State) {
        self.refresh();
        self.congestion.control.enter(now, &mut self.window, state);
        self.window.state = state;
    }

    /// The threshold after a loss.
    pub(super) fn ask_ssthresh(&mut self, now: Instant) -> u32 {
        self.refresh();
        self.congestion.control.ssthresh(now, &mut self.window)
    }

    /// Rate sample and window at the end (`tcp_rate_gen`, `tcp_cong_control`).
    pub(super) fn control_window(&mut self, now: Instant, facts: &Facts) {
        let newly = Delivered {
            segments: self.rate.delivered - facts.before.delivered,
            lost: self.scoreboard.lost_total - facts.before.lost,
        };
        let mut sample = self.rate.finish(
            micros(now),
            newly,
            self.recovery.reneged,
            self.rto.min_rtt(),
            &facts.delivery,
        );
        sample.rtt = facts.rtt.map(Span::from_micros);
        sample.prior_in_flight = facts.before.in_flight;
        sample.is_ack_delayed = facts.delayed;
        self.refresh();
        let sets_window = self.congestion.control.control(now, &mut self.window, &sample);
        self.congestion.sets_window = sets_window;
        // The control may hold data back itself, to see the path without its own queue.
        self.rate.app_limited = self.window.delivery.app_limited;
        if sets_window {
            self.limit_pacing_rate();
            return;
        }
        if self.is_reducing() {
            self.reduce(newly, facts);
        } else if self.may_grow(facts) {
            self.grow(now, newly.segments as u32);
        }
        self.set_pacing_rate();
    }

    /// Progress in order, or any progress if reordering is common (`tcp_may_raise_cwnd`).
    fn may_grow(&self, facts: &Facts) -> bool {
        facts.acked || (self.recovery.reordering.is_common() && facts.sack.any)
    }

    /// The window grows (`cong_avoid`) within RFC 3465's limit, if the stack has one: by one
    /// segment while a timeout is repaired (section 2.3).
    fn grow(&mut self, now: Instant, acked: u32) {
        let limit = self.config.window.growth_limit;
        let acked = match self.window.state {
            _ if limit == 0 || !self.window.in_slow_start() => acked,
            State::Loss => acked.min(1),
            _ => acked.min(limit),
        };
        self.refresh();
        self.congestion.control.avoid(now, &mut self.window, acked);
        self.congestion.usage.since = now;
    }

    /// Never less than one segment.
    pub(super) fn set_cwnd(&mut self, cwnd: u32) {
        self.window.cwnd = cwnd.max(1);
    }

    /// Brings what the congestion control sees up to date.
    pub(super) fn refresh(&mut self) {
        let window = &mut self.window;
        window.flight.packets_out = self.scoreboard.packets_out();
        window.flight.in_flight = self.scoreboard.in_flight();
        window.rtt.srtt = self.rto.smoothed().map(Span::from_micros);
        window.rtt.min_rtt = self.rto.min_rtt().map(Span::from_micros);
        window.delivery.delivered = self.rate.delivered;
        window.delivery.lost = self.scoreboard.lost_total;
        window.delivery.app_limited = self.rate.app_limited;
        window.pacing.departure = self.pacing.last();
    }
}
