//! Compound: Reno's window and, above it, one that fills the path while no queue stands.

use tcplab_units::Instant;

use super::rtt_samples::RttSamples;
use super::{AckSample, CongestionControl, Event, State, Window, reno};

/// Fractions of a segment in which the delay window is counted.
const UNIT: u64 = 256;
/// α = 1/8, with k = 3/4: by how much of win^k the delay window grows in a round.
const GROWTH_DIVISOR: u64 = 8;
/// ζ: segments by which it shrinks for each that waits. An assumption: the draft leaves it open,
/// and the port to Linux had 1/2.
const SHRINKING: u64 = 1;
/// γ: segments that may wait before it shrinks, at first and at most.
const MOST_WAITING: u64 = 30;
/// What γ is tuned down to at the least.
const LEAST_WAITING: u64 = 5;
/// Below this window there is none: on slow paths it is Reno. An assumption as to the number.
const LOW_WINDOW: u32 = 38;
/// A round with fewer RTTs decides nothing.
const ENOUGH_SAMPLES: u32 = 3;

/// The sum of two windows (draft-sridharan-tcpm-ctcp-02): the loss window, which is Reno's, and
/// the delay window, which grows as the power ¾ of the sum while fewer than γ segments wait in the
/// path, and gives way when more do. A loss halves the sum.
///
/// γ follows how many segments Reno alone would have waiting at a loss, so that it gets its
/// share where queues are short: the loss window is that Reno's. Only the sum is in
/// `window.cwnd`; whatever else changes that leaves the delay window what fits.
#[derive(Debug)]
pub(super) struct Compound {
    /// The delay window, 256ths of a segment.
    delay: u64,
    /// As it was before the last reduction.
    prior_delay: u64,
    round_end: u64,
    rtts: RttSamples,
    /// The RTT minimum of the last full round, µs and one more.
    last_rtt: Option<u64>,
    /// γ, segments in 256ths.
    gamma: u64,
}

impl Compound {
    /// The delay window, whole segments of `window.cwnd`.
    pub(super) fn delay_window(&self) -> u32 {
        (self.delay / UNIT) as u32
    }

    /// Segments that may wait in the path before the delay window shrinks, rounded down.
    #[cfg(test)]
    pub(super) fn gamma(&self) -> u32 {
        (self.gamma / UNIT) as u32
    }

    /// Something else may have made the sum smaller than the delay window was: one segment at
    /// least is the loss window's.
    fn fit(&mut self, window: &Window) {
        self.delay = self.delay.min(u64::from(window.cwnd.saturating_sub(1)) * UNIT);
    }

    /// Ends a round: the delay window grows or shrinks by what waits in the path.
    fn judge(&mut self, window: &mut Window) {
        let round_rtt = self.rtts.round.filter(|_| self.rtts.count >= ENOUGH_SAMPLES);
        self.begin_round(window);
        let (Some(base), Some(rtt)) = (self.rtts.base, round_rtt) else { return };
        self.last_rtt = Some(rtt);
        if window.in_slow_start() {
            return;
        }
        let loss_window = window.cwnd - self.delay_window();
        let waiting = waiting(window.cwnd, base, rtt);
        if waiting >= self.gamma {
            self.delay = self.delay.saturating_sub(SHRINKING * waiting);
        } else if window.cwnd >= LOW_WINDOW {
            self.delay += growth(window.cwnd);
        }
        window.cwnd = loss_window + self.delay_window();
    }

    fn begin_round(&mut self, window: &Window) {
        self.round_end = window.nxt;
        self.rtts.begin_round();
    }

    /// γ goes half-way to ¾ of what Reno would have had waiting.
    fn tune(&mut self, loss_window: u32) {
        let (Some(base), Some(rtt)) = (self.rtts.base, self.rtts.round.or(self.last_rtt)) else {
            return;
        };
        let target = waiting(loss_window, base, rtt) * 3 / 4;
        let bounds = (LEAST_WAITING * UNIT, MOST_WAITING * UNIT);
        self.gamma = u64::midpoint(self.gamma, target).clamp(bounds.0, bounds.1);
    }
}

impl Default for Compound {
    fn default() -> Compound {
        Compound {
            delay: 0,
            prior_delay: 0,
            round_end: 0,
            rtts: RttSamples::default(),
            last_rtt: None,
            gamma: MOST_WAITING * UNIT,
        }
    }
}

impl CongestionControl for Compound {
    fn name(&self) -> &'static str {
        "compound"
    }

    fn init(&mut self, _now: Instant, window: &mut Window) {
        self.begin_round(window);
    }

    /// Half of the sum. The loss window is halved, and the delay window is the rest.
    fn ssthresh(&mut self, _now: Instant, window: &mut Window) -> u32 {
        self.fit(window);
        let loss_window = window.cwnd - self.delay_window();
        self.tune(loss_window);
        self.prior_delay = self.delay;
        let half = reno::half(window);
        self.delay = u64::from(half.saturating_sub(loss_window.div_ceil(2))) * UNIT;
        half
    }

    /// The loss window grows by one segment in a round of the sum.
    fn avoid(&mut self, _now: Instant, window: &mut Window, acked: u32) {
        self.fit(window);
        reno::grow(window, acked);
        if window.una > self.round_end {
            self.judge(window);
        }
    }

    fn undo(&mut self, window: &Window) -> u32 {
        self.delay = self.prior_delay;
        window.cwnd.max(window.prior_cwnd)
    }

    fn enter(&mut self, _now: Instant, _window: &mut Window, state: State) {
        if state == State::Loss {
            self.delay = 0;
        }
    }

    fn event(&mut self, _now: Instant, window: &mut Window, event: Event) {
        if matches!(event, Event::WindowRestart | Event::TransmitStart) {
            self.delay = 0;
            self.begin_round(window);
        }
    }

    fn acked(&mut self, _now: Instant, _window: &mut Window, sample: &AckSample) {
        self.rtts.take(sample);
    }
}

/// How many of `segments` wait in the path, 256ths: those above what would be in flight at the
/// same rate without a queue.
fn waiting(segments: u32, base: u64, rtt: u64) -> u64 {
    u64::from(segments) * UNIT * (rtt - base.min(rtt)) / rtt
}

/// By how much the delay window grows in a round, 256ths: win^¾ ⁄ 8 − 1, or nothing.
fn growth(window: u32) -> u64 {
    // The fourth root of (win · 256^(4/3))³ is win^¾ · 256.
    let cube = u128::from(window).pow(3) << 32;
    ((cube.isqrt().isqrt() as u64) / GROWTH_DIVISOR).saturating_sub(UNIT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compound_growth_is_power_of_three_quarters() {
        for window in [1_u32, 16, 17, 38, 100, 1_000, 10_000, 1_000_000] {
            let wanted = (f64::from(window).powf(0.75) / 8.0 - 1.0).max(0.0) * 256.0;
            assert!((growth(window) as f64 - wanted).abs() <= 1.0, "{window}: {wanted}");
        }
    }
}
