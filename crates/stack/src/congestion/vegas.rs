//! Vegas: a few segments in the queue and no more.

use tcplab_units::Instant;

use super::rtt_samples::RttSamples;
use super::{AckSample, CongestionControl, Event, State, Window, reno};

/// Segments that may wait in the path: fewer, and the window grows by one each round (`alpha`).
const FEWEST_WAITING: u64 = 2;
/// More, and it shrinks by one (`beta`).
const MOST_WAITING: u64 = 4;
/// More in slow start, and it is over (`gamma`).
const MOST_WAITING_IN_SLOW_START: u64 = 1;
/// So few RTTs in a round may all come from delayed acknowledgements.
const FEW_SAMPLES: u32 = 2;

/// Compares, once a round, the rate there is with the rate there would be without any queue
/// (Brakmo and Peterson, JSAC 1995), as `tcp_vegas.c` does. Losses are Reno's.
#[derive(Debug, Default)]
pub(super) struct Vegas {
    /// Whether rounds are judged at present; otherwise it is Reno.
    judging: bool,
    round_end: u64,
    rtts: RttSamples,
}

impl Vegas {
    fn enable(&mut self, window: &Window) {
        self.judging = true;
        self.round_end = window.nxt;
        self.rtts.begin_round();
    }

    /// Sets the window after a round whose RTT minimum was `rtt`.
    fn judge(window: &mut Window, base: u64, rtt: u64, acked: u32) {
        let cwnd = u64::from(window.cwnd);
        let waiting = cwnd * (rtt - base) / base;
        if window.in_slow_start() {
            if waiting > MOST_WAITING_IN_SLOW_START {
                let target = (cwnd * base / rtt) as u32 + 1;
                window.cwnd = window.cwnd.min(target);
                window.ssthresh = window.ssthresh.min(window.cwnd);
            } else {
                window.slow_start(acked);
            }
        } else if waiting > MOST_WAITING {
            window.cwnd -= 1;
            window.ssthresh = window.ssthresh.min(window.cwnd);
        } else if waiting < FEWEST_WAITING {
            window.cwnd += 1;
        }
        window.cwnd = window.cwnd.max(2);
        window.ssthresh = window.current_ssthresh();
    }
}

impl CongestionControl for Vegas {
    fn name(&self) -> &'static str {
        "vegas"
    }

    fn init(&mut self, _now: Instant, window: &mut Window) {
        self.rtts.base = None;
        self.enable(window);
    }

    fn ssthresh(&mut self, _now: Instant, window: &mut Window) -> u32 {
        reno::half(window)
    }

    /// `tcp_vegas_cong_avoid`.
    fn avoid(&mut self, _now: Instant, window: &mut Window, acked: u32) {
        if !self.judging {
            reno::grow(window, acked);
        } else if window.una > self.round_end {
            self.round_end = window.nxt;
            match (self.rtts.base, self.rtts.round) {
                (Some(base), Some(rtt)) if self.rtts.count > FEW_SAMPLES => {
                    Vegas::judge(window, base, rtt, acked);
                }
                _ => reno::grow(window, acked),
            }
            self.rtts.begin_round();
        } else if window.in_slow_start() {
            window.slow_start(acked);
        }
    }

    fn enter(&mut self, _now: Instant, window: &mut Window, state: State) {
        if state == State::Open {
            self.enable(window);
        } else {
            self.judging = false;
        }
    }

    /// After an idle time all that is known of the path is old.
    fn event(&mut self, now: Instant, window: &mut Window, event: Event) {
        if matches!(event, Event::WindowRestart | Event::TransmitStart) {
            self.init(now, window);
        }
    }

    fn acked(&mut self, _now: Instant, _window: &mut Window, sample: &AckSample) {
        self.rtts.take(sample);
    }
}
