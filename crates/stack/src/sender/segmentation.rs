//! How much leaves at once: windows, bursts (TSO), Nagle and silly windows.

use tcplab_units::{Instant, Span};

use super::{Sender, Stream, micros};
use crate::config::Nagle;
use crate::congestion::State;

/// What the headers take of the largest burst (`MAX_TCP_HEADER` and one), bytes.
const HEADER_ROOM: u32 = 321;
/// A burst is 2⁻¹⁰ of what the pace allows in a second (`sk_pacing_shift`).
const PACING_SHIFT: u32 = 10;
/// The allowance of a close peer is halved for each 2⁹ µs of round trip (`tcp_tso_rtt_log`).
const ROUND_TRIP_SHIFT: u32 = 9;
/// A burst is not held back if it is this part of the window (`tcp_tso_win_divisor`).
const WINDOW_DIVISOR: u64 = 3;
/// Nothing is held back for longer, nor after a pause so long.
const HOLD: Span = Span::from_millis(1);
/// A window up to this size is not halved for the largest segment (`TCP_MSS_DEFAULT`), bytes.
const SMALL_WINDOW: u64 = 536;
/// No segment is smaller (`tcp_bound_to_half_wnd`), bytes: 68 less a header of 20.
const LEAST_MSS: u64 = 48;

/// New data may not leave.
pub(super) struct Held {
    /// The congestion window holds it.
    pub(super) by_cwnd: bool,
}

impl Sender {
    /// The position behind the peer's window.
    pub(super) fn window_end(&self) -> u64 {
        self.window.una + self.peer_window
    }

    /// No segment is larger than half the largest window ever seen, or a receiver that waits for
    /// two would wait for ever (`tcp_bound_to_half_wnd`).
    pub(super) fn bound_mss(&mut self) {
        let most = self.most_window;
        let bound = if most > SMALL_WINDOW { most >> 1 } else { most };
        let full = u64::from(self.full_mss);
        let mss = if bound > 0 && full > bound { bound.max(LEAST_MSS).min(full) } else { full };
        self.window.mss = mss as u32;
    }

    /// Whether a segment of new data fits the peer's window.
    pub(super) fn can_send_new(&self, stream: &Stream) -> bool {
        stream.end > self.window.nxt && self.fits(stream.end - self.window.nxt)
    }

    /// Whether the first segment of so many positions fits the peer's window (`tcp_snd_wnd_test`).
    fn fits(&self, unsent: u64) -> bool {
        self.window.nxt + unsent.min(u64::from(self.window.mss)) <= self.window_end()
    }

    /// Up to where new data leaves now, as one burst.
    pub(super) fn sendable(
        &mut self,
        now: Instant,
        stream: &Stream,
        pushed: bool,
    ) -> Result<u64, Held> {
        let held = |by_cwnd| Err(Held { by_cwnd });
        if self.pace.holds(now) {
            return held(false);
        }
        let mss = u64::from(self.window.mss);
        let most = self.burst_segments();
        let quota = match self.quota() {
            Ok(quota) => u64::from(quota).min(most),
            Err(by_cwnd) => return held(by_cwnd),
        };
        let data_end = stream.end - u64::from(stream.fin);
        let unsent = data_end.saturating_sub(self.window.nxt);
        let together = match stream.boundary {
            Some(boundary) => unsent.min(boundary.saturating_sub(self.window.nxt)),
            None => unsent,
        };
        let len = together.min(most * mss);
        let is_last = len == unsent;
        let has_fin = stream.fin && is_last;
        if !self.fits(len + u64::from(has_fin)) {
            return held(false);
        }
        let mut now_len = len.min(mss);
        if len <= mss {
            let partial = len < mss;
            let exempt = pushed || !is_last || stream.urgent || has_fin;
            if !exempt && self.holds_partial(partial, stream) {
                return held(false);
            }
        } else {
            if let Some(by_cwnd) = self.defers(now, len, is_last, has_fin, most) {
                return held(by_cwnd);
            }
            if !stream.urgent {
                now_len = self.burst_len(len, quota, is_last, pushed, stream).min(len);
            }
        }
        let with_fin = has_fin && now_len == len;
        Ok(self.window.nxt + now_len + u64::from(with_fin))
    }

    /// Segments that may leave by the congestion window, at most half of it at once
    /// (`tcp_cwnd_test`). `Err`: none; whether the window is the reason.
    fn quota(&self) -> Result<u32, bool> {
        let cwnd = self.window.cwnd;
        let mut in_flight = self.board.in_flight();
        if !self.config.recovery.limited_transmit && self.window.state <= State::Disorder {
            // Duplicates make no room before fast retransmit.
            in_flight = in_flight.max(self.board.packets_out());
        }
        if in_flight >= cwnd {
            return Err(true);
        }
        let mut quota = (cwnd >> 1).max(1).min(cwnd - in_flight);
        if let Some(unacked) = self.config.sending.unacked {
            quota = quota.min(unacked.saturating_sub(self.board.packets_out()));
            if quota == 0 {
                return Err(false);
            }
        }
        Ok(quota)
    }

    /// The most segments of a burst (`tcp_tso_autosize`).
    fn burst_segments(&self) -> u64 {
        let Some(largest) = self.config.sending.burst.checked_sub(HEADER_ROOM) else { return 1 };
        let largest = u64::from(largest);
        // `tcp_min_tso_segs`, unless the congestion control has something instead.
        let own = self.congestion.least_burst(&self.window);
        let least = u64::from(own.unwrap_or(self.config.sending.least_burst));
        let Some(rate) = self.window.pacing_rate else {
            return (largest / u64::from(self.window.mss)).max(least);
        };
        let mut bytes = (rate.bits_per_second() / 8) >> PACING_SHIFT;
        let halvings = self.trip.shortest().map_or(u64::MAX, |trip| trip >> ROUND_TRIP_SHIFT);
        if halvings < 32 {
            bytes += largest >> halvings;
        }
        (bytes.min(largest) / u64::from(self.window.mss)).max(least)
    }

    /// Nagle's rule (RFC 896), Minshall's variant of it, and the cork (`tcp_nagle_check`).
    fn holds_partial(&self, partial: bool, stream: &Stream) -> bool {
        if !partial {
            return false;
        }
        if stream.corked {
            return true;
        }
        if stream.nodelay || self.board.is_empty() {
            return false;
        }
        match self.config.sending.nagle {
            Nagle::Off => false,
            Nagle::Plain => true,
            Nagle::Minshall => self.small_end > self.window.una,
        }
    }

    /// How much of a burst of `len` leaves (`tcp_mss_split_point`).
    fn burst_len(&self, len: u64, quota: u64, is_last: bool, pushed: bool, s: &Stream) -> u64 {
        let mss = u64::from(self.window.mss);
        let room = self.window_end() - self.window.nxt;
        let most = mss * quota;
        if most <= room && !is_last {
            return most;
        }
        let needed = len.min(room);
        if most <= needed {
            return most;
        }
        let partial = needed % mss;
        if !pushed && self.holds_partial(partial != 0, s) { needed - partial } else { needed }
    }

    /// Whether it is better to wait for the next acknowledgement and send more at once
    /// (`tcp_tso_should_defer`); if so, whether for the congestion window.
    fn defers(
        &self,
        now: Instant,
        len: u64,
        is_last: bool,
        has_fin: bool,
        most: u64,
    ) -> Option<bool> {
        if self.window.state >= State::Recovery || now.since(self.pace.last()) > HOLD {
            return None;
        }
        let mss = u64::from(self.window.mss);
        let by_peer = self.window_end() - self.window.nxt;
        let by_cwnd = u64::from(self.window.cwnd.saturating_sub(self.board.in_flight())) * mss;
        let limit = by_peer.min(by_cwnd);
        if limit >= most * mss || (!is_last && limit >= len) {
            return None;
        }
        let window = self.peer_window.min(u64::from(self.window.cwnd) * mss);
        if limit >= window / WINDOW_DIVISOR {
            return None;
        }
        let expected = self.board.head()?.sent + self.trip.smoothed()?;
        let away = expected.saturating_sub(micros(now));
        if away > (self.trip.smoothed()? / 2).min(HOLD.as_micros()) {
            return None;
        }
        if by_cwnd < by_peer {
            if by_cwnd <= len {
                return Some(true);
            }
        } else if by_peer <= len {
            return Some(false);
        }
        (!has_fin).then_some(false)
    }
}
