//! How much leaves at once: windows, Nagle's algorithm and silly windows.

use tcplab_units::Instant;

use super::Sender;
use super::bursts::{Burst, Held};
use super::interface::Stream;
use crate::config::Nagle;
use crate::congestion::State;

/// A window up to this size is not halved for the largest segment (`TCP_MSS_DEFAULT`), bytes.
const SMALL_WINDOW: u64 = 536;
/// No segment is smaller (`tcp_bound_to_half_wnd`), bytes: 68 less a header of 20.
const LEAST_MSS: u64 = 48;

impl Sender {
    /// The position behind the peer's window.
    pub(super) fn window_end(&self) -> u64 {
        self.window.una + self.peer.window
    }

    /// The position that a segment without data has: that of what is sent next, or where the peer's
    /// window ends, if it shrank by more than rounding to `unit` explains (`tcp_acceptable_seq`).
    pub(crate) fn acceptable(&self, unit: u64) -> u64 {
        let (sent, end) = (self.window.nxt, self.window_end());
        if sent < end + unit { sent } else { end }
    }

    /// No segment is larger than half the largest window ever seen, or a receiver that waits for
    /// two would wait for ever (`tcp_bound_to_half_wnd`); of that, options take some
    /// (`tcp_current_mss`).
    pub(super) fn bound_mss(&mut self) {
        let most = self.peer.largest_window;
        let bound = if most > SMALL_WINDOW { most >> 1 } else { most };
        let full = u64::from(self.path_mtu.full);
        let mss = if bound > 0 && full > bound { bound.max(LEAST_MSS).min(full) } else { full };
        self.window.mss = (mss as u32).saturating_sub(self.path_mtu.options);
    }

    /// Whether a segment of new data fits the peer's window.
    pub(super) fn can_send_new(&self, stream: &Stream) -> bool {
        stream.end > self.window.nxt && self.fits(stream.end - self.window.nxt)
    }

    /// Whether the first segment of so many positions fits the peer's window (`tcp_snd_wnd_test`).
    pub(super) fn fits(&self, unsent: u64) -> bool {
        self.window.nxt + unsent.min(u64::from(self.window.mss)) <= self.window_end()
    }

    /// Up to where new data leaves now, as one burst.
    pub(super) fn sendable(
        &mut self,
        now: Instant,
        stream: &Stream,
        pushed: bool,
    ) -> Result<u64, Held> {
        let held = Err(Held { by_cwnd: false });
        if self.pacing.holds(now) || stream.device_full {
            return held;
        }
        let mss = u64::from(self.window.mss);
        let most = self.burst_segments();
        let quota = u64::from(self.quota()?).min(most);
        let data_end = stream.data_end();
        let unsent = data_end.saturating_sub(self.window.nxt);
        let together = match stream.chunk {
            Some(chunk) => {
                let len = chunk.len(self.window.nxt, quota * mss).min(unsent);
                // It stays as large, even if it does not leave now.
                let grown = self.window.nxt + len;
                self.output.grown = (grown > chunk.end).then_some(grown);
                len
            }
            None => unsent,
        };
        let len = together.min(most * mss);
        let is_last = len == unsent;
        let has_fin = stream.fin && is_last;
        if !self.fits(len + u64::from(has_fin)) {
            return held;
        }
        let mut now_len = len.min(mss);
        if len <= mss {
            let partial = len < mss;
            let exempt = pushed || !is_last || stream.urgent || has_fin;
            if !exempt && self.holds_partial(partial, stream) {
                return held;
            }
        } else {
            let burst = Burst { len, is_last, has_fin, most };
            if !stream.is_urged
                && let Some(held) = self.defers(now, &burst)
            {
                return Err(held);
            }
            if !stream.urgent {
                now_len = self.burst_len(len, quota, is_last, pushed, stream).min(len);
            }
        }
        let with_fin = has_fin && now_len == len;
        Ok(self.window.nxt + now_len + u64::from(with_fin))
    }

    /// Segments that may leave by the congestion window, at most half of it at once
    /// (`tcp_cwnd_test`).
    fn quota(&self) -> Result<u32, Held> {
        let cwnd = self.window.cwnd;
        let mut in_flight = self.scoreboard.in_flight();
        if !self.config.recovery.limited_transmit && self.window.state <= State::Disorder {
            // Duplicates make no room before fast retransmit.
            in_flight = in_flight.max(self.scoreboard.packets_out());
        }
        if in_flight >= cwnd {
            return Err(Held { by_cwnd: true });
        }
        let mut quota = (cwnd >> 1).max(1).min(cwnd - in_flight);
        if let Some(unacked) = self.config.sending.unacked {
            quota = quota.min(unacked.saturating_sub(self.scoreboard.packets_out()));
            if quota == 0 {
                return Err(Held { by_cwnd: false });
            }
        }
        Ok(quota)
    }

    /// Nagle's rule (RFC 896), Minshall's variant of it, and the cork (`tcp_nagle_check`).
    pub(super) fn holds_partial(&self, partial: bool, stream: &Stream) -> bool {
        if !partial {
            return false;
        }
        if stream.corked {
            return true;
        }
        if stream.nodelay || self.scoreboard.is_empty() {
            return false;
        }
        match self.config.sending.nagle {
            Nagle::Off => false,
            Nagle::Plain => true,
            Nagle::Minshall => self.output.small_end > self.window.una,
        }
    }
}
