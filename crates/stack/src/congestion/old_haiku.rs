//! The window of Haiku before August 2017.

use tcplab_units::Instant;

use super::{AckSample, CongestionControl, Window, reno};

/// Slow start and avoidance by acknowledgement, however much it acknowledges; and duplicates, which
/// that stack does not know for what they are, let the window grow in avoidance as well
/// (`TCPEndpoint::_Acknowledged` before 05743f6a13).
#[derive(Debug, Default)]
pub(super) struct OldHaiku {
    una: u64,
}

impl CongestionControl for OldHaiku {
    fn name(&self) -> &'static str {
        "old-haiku"
    }

    fn ssthresh(&mut self, _now: Instant, window: &mut Window) -> u32 {
        reno::half(window)
    }

    fn avoid(&mut self, _now: Instant, window: &mut Window, _acked: u32) {
        if window.in_slow_start() {
            window.cwnd += 1;
        } else {
            window.grow(window.cwnd, 1);
        }
    }

    fn heard(&mut self, _now: Instant, window: &mut Window, _sample: &AckSample) {
        let moved = std::mem::replace(&mut self.una, window.una) != window.una;
        if !moved && !window.in_slow_start() {
            window.grow(window.cwnd, 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_haiku_any_ack_grows_window_equally() {
        let (mut control, mut window) = (OldHaiku::default(), Window::new(1448, 2));
        window.ssthresh = 4;
        for (una, cwnd, count) in [
            (2_897, 3, 0),
            (5_793, 4, 0),
            (8_689, 4, 1),
            (8_689, 4, 2),
            (8_689, 4, 3),
            (10_137, 5, 0),
        ] {
            let is_new = una > window.una;
            window.una = una;
            control.heard(Instant::ZERO, &mut window, &AckSample::default());
            if is_new {
                control.avoid(Instant::ZERO, &mut window, 2);
            }
            assert_eq!((window.cwnd, window.count), (cwnd, count), "after {una}");
        }
    }
}
