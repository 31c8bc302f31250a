//! Veno: distinguishes congestion losses from others by the queue.

use tcplab_units::Instant;

use super::rtt_samples::RttSamples;
use super::{AckSample, CongestionControl, Event, State, Window, reno};

/// The backlog in half segments from which the path counts as congested (`beta`).
const CONGESTED: u64 = 3 * 2;
/// So few RTTs may all come from delayed acknowledgements.
const FEW_SAMPLES: u32 = 2;
/// For a round trip that was not measured, µs: where one was before and none since the last
/// acknowledgement, all of the window waits.
const UNKNOWN: u64 = 0x7fff_ffff;

/// Reno that grows half as fast while segments wait in the path, and that gives up a fifth of the
/// window instead of a half when a loss comes while few do (Fu and Liew, JSAC 2003).
///
/// As `tcp_veno.c` has it: the queue is judged at each acknowledgement by the shortest round trip
/// since the one before, not by that of a round.
#[derive(Debug)]
pub(super) struct Veno {
    /// Whether the queue is judged at present; otherwise it is Reno.
    judging: bool,
    rtts: RttSamples,
    /// Whether the next round of a congested path grows.
    grows: bool,
    /// Segments waiting in the path, in halves.
    waiting: u64,
}

impl Veno {
    /// How many segments wait in the path, in halves.
    fn backlog(&self, window: &Window) -> u64 {
        let base = self.rtts.base.unwrap_or(UNKNOWN);
        let rtt = self.rtts.round.unwrap_or(UNKNOWN);
        let halves = u64::from(window.cwnd) * 2;
        halves - halves * base.min(rtt) / rtt
    }

    /// One more in every other round.
    fn grow_slowly(&mut self, window: &mut Window, acked: u32) {
        if window.count < window.cwnd {
            window.count += acked;
            return;
        }
        if self.grows {
            window.cwnd += 1;
        }
        self.grows = !self.grows;
        window.count = 0;
    }
}

impl Default for Veno {
    fn default() -> Veno {
        Veno { judging: true, rtts: RttSamples::default(), grows: true, waiting: 0 }
    }
}

impl CongestionControl for Veno {
    fn name(&self) -> &'static str {
        "veno"
    }

    fn init(&mut self, _now: Instant, _window: &mut Window) {
        self.rtts.base = None;
        self.rtts.round = None;
        self.grows = true;
        self.judging = true;
    }

    fn ssthresh(&mut self, _now: Instant, window: &mut Window) -> u32 {
        if self.waiting < CONGESTED {
            (u64::from(window.cwnd) * 4 / 5).max(2) as u32
        } else {
            reno::half(window)
        }
    }

    /// `tcp_veno_cong_avoid`.
    fn avoid(&mut self, _now: Instant, window: &mut Window, acked: u32) {
        if !self.judging {
            reno::grow(window, acked);
            return;
        }
        if !window.is_limited() {
            return;
        }
        if self.rtts.count <= FEW_SAMPLES {
            reno::grow(window, acked);
        } else {
            self.waiting = self.backlog(window);
            let left = if window.in_slow_start() { window.slow_start(acked) } else { acked };
            if left > 0 && self.waiting < CONGESTED {
                window.grow(window.cwnd, left);
            } else if left > 0 {
                self.grow_slowly(window, left);
            }
            window.cwnd = window.cwnd.max(2);
        }
        self.rtts.round = None;
    }

    fn enter(&mut self, _now: Instant, _window: &mut Window, state: State) {
        self.judging = state == State::Open;
        if self.judging {
            self.rtts.round = None;
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
