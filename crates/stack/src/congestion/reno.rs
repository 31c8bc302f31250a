//! Reno and NewReno: slow start and congestion avoidance of RFC 5681.

use tcplab_units::Instant;

use super::{CongestionControl, Window};

/// Doubles each round up to the threshold, then grows by one segment each round, and halves at a
/// loss (`tcp_reno`). Reno and NewReno differ in what the sender does in recovery, not here.
#[derive(Debug)]
pub(crate) struct Reno {
    name: &'static str,
}

impl Reno {
    /// Reno or NewReno, by the name that the stack calls it.
    pub(crate) fn named(name: &'static str) -> Reno {
        Reno { name }
    }
}

impl CongestionControl for Reno {
    fn name(&self) -> &'static str {
        self.name
    }

    fn ssthresh(&mut self, _now: Instant, window: &mut Window) -> u32 {
        half(window)
    }

    fn avoid(&mut self, _now: Instant, window: &mut Window, acked: u32) {
        grow(window, acked);
    }
}

/// RFC 5681 equation 4, in cwnd rather than in what is in flight (`tcp_reno_ssthresh`).
pub(super) fn half(window: &Window) -> u32 {
    (window.cwnd / 2).max(2)
}

/// RFC 5681 section 3.1 (`tcp_reno_cong_avoid`): to the threshold by what was acknowledged, beyond
/// it by one segment for each window.
pub(super) fn grow(window: &mut Window, acked: u32) {
    if !window.is_limited() {
        return;
    }
    let left = if window.in_slow_start() { window.slow_start(acked) } else { acked };
    if left > 0 {
        window.grow(window.cwnd, left);
    }
}
