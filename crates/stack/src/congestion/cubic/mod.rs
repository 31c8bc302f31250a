//! CUBIC with HyStart.

mod curve;
mod hystart;

use tcplab_units::Instant;

use super::ticks::Ticks;
use super::{AckSample, CongestionControl, Event, Setup, State, Window};
use curve::{BETA, Curve, SCALE};
use hystart::HyStart;

/// Linux's control by default (`tcp_cubic.c`; RFC 9438): the window is a cubic function of the time
/// since the last reduction, flat where that happened, and never below what Reno would have.
#[derive(Debug)]
pub(super) struct Cubic {
    ticks: Ticks,
    curve: Curve,
    hystart: HyStart,
    /// RTT minimum, µs; zero: not known.
    least_rtt: u64,
}

impl Cubic {
    /// On a machine like `setup`.
    pub(super) fn new(setup: &Setup) -> Cubic {
        let ticks = Ticks::new(setup.tick);
        Cubic { ticks, curve: Curve::new(ticks), hystart: HyStart::new(setup), least_rtt: 0 }
    }
}

impl CongestionControl for Cubic {
    fn name(&self) -> &'static str {
        "cubic"
    }

    fn init(&mut self, now: Instant, window: &mut Window) {
        self.enter(now, window, State::Loss);
    }

    /// RFC 9438 sections 4.6 and 4.7 (`cubictcp_recalc_ssthresh`).
    fn ssthresh(&mut self, _now: Instant, window: &mut Window) -> u32 {
        self.curve.end_epoch(window.cwnd);
        (u64::from(window.cwnd) * BETA / SCALE).max(2) as u32
    }

    /// `cubictcp_cong_avoid`.
    fn avoid(&mut self, now: Instant, window: &mut Window, acked: u32) {
        if !window.is_limited() {
            return;
        }
        let left = if window.in_slow_start() { window.slow_start(acked) } else { acked };
        if left > 0 {
            let per = self.curve.segments_for_one(now, window.cwnd, left, self.least_rtt);
            window.grow(per, left);
        }
    }

    /// A timeout ends all that was known (`cubictcp_state`, RFC 9438 section 4.8).
    fn enter(&mut self, now: Instant, window: &mut Window, state: State) {
        if state == State::Loss {
            self.curve = Curve::new(self.ticks);
            self.least_rtt = 0;
            self.hystart.restart(now, window);
        }
    }

    /// The time without anything to send does not count (`cubictcp_cwnd_event`; RFC 9438
    /// section 5.8).
    fn event(&mut self, now: Instant, window: &mut Window, event: Event) {
        if event == Event::TransmitStart {
            self.curve.shift(now, window.last_sent);
        }
    }

    /// `cubictcp_acked`.
    fn acked(&mut self, now: Instant, window: &mut Window, sample: &AckSample) {
        let Some(rtt) = sample.rtt else { return };
        if self.curve.is_young(now) {
            return;
        }
        let rtt = rtt.as_micros().max(1);
        if self.least_rtt == 0 || rtt < self.least_rtt {
            self.least_rtt = rtt;
        }
        if window.in_slow_start() {
            self.hystart.judge(now, window, rtt, self.least_rtt);
        }
    }
}
