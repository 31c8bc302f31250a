//! The pacing rate (`tcp_update_pacing_rate`).

use tcplab_units::{Instant, Rate};

use super::Sender;

/// The first segments are not paced.
const FREE_SEGMENTS: u64 = 10;

/// Shares of the window sent per RTT, percent: below half the threshold,
/// and above (`tcp_pacing_ss_ratio`, `tcp_pacing_ca_ratio`).
const IN_SLOW_START: u128 = 200;
const IN_AVOIDANCE: u128 = 120;

impl Sender {
    /// SO_MAX_PACING_RATE: everything is paced from now on, and never faster (`sk_setsockopt`).
    /// Without a limit, the current rate stays until the next update.
    pub(crate) fn set_max_pacing_rate(&mut self, most: Option<Rate>) {
        self.pacing.most = most;
        self.pacing.on |= most.is_some();
        self.window.pacing.is_on = self.pacing.on;
        self.limit_pacing_rate();
    }

    /// Whether the application set a maximum rate.
    pub(super) fn has_max_pacing_rate(&self) -> bool {
        self.pacing.most.is_some()
    }

    /// Never faster than the application allows (`tcp_update_pacing_rate`,
    /// `bbr_bw_to_pacing_rate`).
    pub(super) fn limit_pacing_rate(&mut self) {
        if let Some(most) = self.pacing.most {
            let rate = self.window.pacing.rate.map_or(most, |rate| rate.min(most));
            self.window.pacing.rate = Some(rate);
        }
    }

    /// `len` data bytes leave.
    pub(super) fn pace(&mut self, now: Instant, len: u64) {
        let free = self.output.counters.data_segments < FREE_SEGMENTS;
        let rate = if free { None } else { self.window.pacing.rate };
        self.pacing.send(now, len, rate);
    }

    /// The rate that the handshake's RTT gives, unless the congestion control has its own.
    pub(crate) fn set_first_pacing_rate(&mut self) {
        if self.window.pacing.rate.is_none() {
            self.set_pacing_rate();
        }
    }

    /// Twice the window per RTT in slow start, 1.2 times in avoidance.
    pub(super) fn set_pacing_rate(&mut self) {
        let smoothed8 = self.rto.smoothed8();
        if smoothed8 == 0 {
            return;
        }
        let slow_start = self.window.cwnd < self.window.ssthresh / 2;
        let share = if slow_start { IN_SLOW_START } else { IN_AVOIDANCE };
        let segments = u128::from(self.window.cwnd.max(self.scoreboard.packets_out()));
        let bits = u128::from(self.window.mss) * 8 * segments * share;
        // Over the RTT in eighths of µs: ·8·10⁶ ÷ 100.
        let rate = bits * 80_000 / u128::from(smoothed8);
        let rate = u64::try_from(rate).unwrap_or(u64::MAX);
        self.window.pacing.rate = Some(Rate::from_bits_per_second(rate));
        self.limit_pacing_rate();
    }
}
