//! Bursts: how many segments leave as one (TSO), and when waiting gives a larger one.

use tcplab_units::{Instant, Span};

use super::interface::Stream;
use super::{Sender, micros};
use crate::congestion::State;

/// What the headers take of the largest burst (`MAX_TCP_HEADER` and one), bytes.
const HEADER_ROOM: u32 = 321;
/// A burst is 2⁻¹⁰ of what the pace allows in a second (`sk_pacing_shift`).
const PACING_SHIFT: u32 = 10;
/// The allowance of a close peer is halved for each 2⁹ µs of RTT (`tcp_tso_rtt_log`).
const ROUND_TRIP_SHIFT: u32 = 9;
/// A burst is not held back if it is this part of the window (`tcp_tso_win_divisor`).
const WINDOW_DIVISOR: u64 = 3;
/// Nothing is held back for longer, nor after a pause so long.
const HOLD: Span = Span::from_millis(1);

/// New data may not leave.
pub(super) struct Held {
    /// The congestion window holds it.
    pub(super) by_cwnd: bool,
}

/// New data that could leave as one.
pub(super) struct Burst {
    /// Data bytes.
    pub(super) len: u64,
    /// Whether nothing follows.
    pub(super) is_last: bool,
    pub(super) has_fin: bool,
    /// The most segments of a burst.
    pub(super) most: u64,
}

impl Sender {
    /// The most segments of a burst (`tcp_tso_autosize`).
    pub(super) fn burst_segments(&self) -> u64 {
        let Some(largest) = self.config.sending.burst.checked_sub(HEADER_ROOM) else { return 1 };
        let largest = u64::from(largest);
        // `tcp_min_tso_segs`, unless the congestion control has something instead.
        let own = self.congestion.control.least_burst(&self.window);
        let least = u64::from(own.unwrap_or(self.config.sending.least_burst));
        let Some(rate) = self.window.pacing.rate else {
            return (largest / u64::from(self.window.mss)).max(least);
        };
        let mut bytes = (rate.bits_per_second() / 8) >> PACING_SHIFT;
        let halvings = self.rto.min_rtt().map_or(u64::MAX, |trip| trip >> ROUND_TRIP_SHIFT);
        if halvings < 32 && self.config.sending.bursts_by_rtt {
            bytes += largest >> halvings;
        }
        (bytes.min(largest) / u64::from(self.window.mss)).max(least)
    }

    /// How much of a burst of `len` leaves (`tcp_mss_split_point`).
    pub(super) fn burst_len(
        &self,
        len: u64,
        quota: u64,
        is_last: bool,
        pushed: bool,
        s: &Stream,
    ) -> u64 {
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
    /// (`tcp_tso_should_defer`).
    pub(super) fn defers(&self, now: Instant, burst: &Burst) -> Option<Held> {
        let Burst { len, is_last, has_fin, most } = *burst;
        let held = |by_cwnd| Some(Held { by_cwnd });
        if self.window.state >= State::Recovery || now.since(self.pacing.last()) > HOLD {
            return None;
        }
        let mss = u64::from(self.window.mss);
        let by_peer = self.window_end() - self.window.nxt;
        let by_cwnd = u64::from(self.window.cwnd.saturating_sub(self.scoreboard.in_flight())) * mss;
        let limit = by_peer.min(by_cwnd);
        if limit >= most * mss || (!is_last && limit >= len) {
            return None;
        }
        let window = self.peer.window.min(u64::from(self.window.cwnd) * mss);
        if limit >= window / WINDOW_DIVISOR {
            return None;
        }
        let expected = self.scoreboard.head()?.sent + self.rto.smoothed()?;
        let away = expected.saturating_sub(micros(now));
        if away > (self.rto.smoothed()? / 2).min(HOLD.as_micros()) {
            return None;
        }
        if by_cwnd < by_peer {
            if by_cwnd <= len {
                return held(true);
            }
        } else if by_peer <= len {
            return held(false);
        }
        if has_fin { None } else { held(false) }
    }
}
