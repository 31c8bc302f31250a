//! Tahoe: back to one segment after any loss.

use tcplab_units::Instant;

use super::{CongestionControl, RateSample, State, Window, reno};

/// Jacobson's first control (Congestion Avoidance and Control, SIGCOMM 1988; 4.3BSD-Tahoe): it
/// grows as Reno does, but there is no fast recovery. Any sign of a loss, or of congestion,
/// sets the window to one segment, and slow start leads to half of the window that was.
#[derive(Debug, Default)]
pub(super) struct Tahoe {
    una: u64,
    /// Whether a loss is being repaired.
    repairs: bool,
}

impl CongestionControl for Tahoe {
    fn name(&self) -> &'static str {
        "tahoe"
    }

    fn init(&mut self, _now: Instant, window: &mut Window) {
        self.una = window.una;
    }

    fn ssthresh(&mut self, _now: Instant, window: &mut Window) -> u32 {
        reno::half(window)
    }

    fn avoid(&mut self, _now: Instant, window: &mut Window, acked: u32) {
        reno::grow(window, acked);
    }

    /// A mark of ECN counts as a loss (RFC 3168 section 6.1.2).
    fn enter(&mut self, _now: Instant, window: &mut Window, state: State) {
        if matches!(state, State::Cwr | State::Recovery | State::Loss) {
            window.cwnd = 1;
            window.count = 0;
            self.repairs = true;
        }
    }

    /// Grows in every state, so that the sender's recovery does not set the window. What repairs a
    /// loss often acknowledges a whole window at once; that makes the window one segment larger
    /// (RFC 3465 section 2.1: L = 1 then), as each acknowledgement did in Tahoe.
    fn control(&mut self, now: Instant, window: &mut Window, _rate: &RateSample) -> bool {
        let bytes = window.una.saturating_sub(self.una);
        self.una = window.una;
        let acked = bytes.div_ceil(u64::from(window.mss).max(1)) as u32;
        if acked > 0 {
            self.avoid(now, window, if self.repairs { 1 } else { acked });
            // What ends the repair acknowledges most at once.
            self.repairs &= window.state >= State::Cwr;
        }
        true
    }
}
