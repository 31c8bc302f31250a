//! When the next segment may leave (`tcp_update_skb_after_send`, `tcp_update_pacing_rate`).

use tcplab_units::{Instant, Rate, Span};

use super::Sender;

/// So many first segments are not paced.
const FREE_SEGMENTS: u64 = 10;

/// Shares of the window per round trip at which segments leave, percent: below half the threshold,
/// and above (`tcp_pacing_ss_ratio`, `tcp_pacing_ca_ratio`).
const IN_SLOW_START: u128 = 200;
const IN_AVOIDANCE: u128 = 120;

/// The pace.
#[derive(Debug, Default)]
pub(super) struct Pace {
    /// The next segment leaves no earlier (`tcp_wstamp_ns`).
    next: Instant,
    /// Whether something waits for that.
    pub(super) waits: bool,
    /// Whether segments are paced at all.
    pub(super) on: bool,
    /// SO_MAX_PACING_RATE.
    most: Option<Rate>,
}

impl Pace {
    /// Whether nothing may leave yet; if so, it is remembered that something wants to.
    pub(super) fn holds(&mut self, now: Instant) -> bool {
        self.waits = self.on && self.next > now;
        self.waits
    }

    /// When what waits may leave.
    pub(super) fn at(&self) -> Option<Instant> {
        self.waits.then_some(self.next)
    }

    /// How long until then.
    pub(super) fn delay(&self, now: Instant) -> Span {
        if self.on { self.next.since(now) } else { Span::ZERO }
    }

    /// When a segment was last sent, or the next may.
    pub(super) fn last(&self) -> Instant {
        self.next
    }

    /// `len` data bytes leave. Half of what has passed since the last makes up for being late.
    fn send(&mut self, now: Instant, len: u64, rate: Option<Rate>) {
        let before = self.next;
        self.next = before.max(now);
        let Some(rate) = rate.filter(|rate| self.on && rate.bits_per_second() > 0) else { return };
        let nanos = u128::from(len) * 8_000_000_000 / u128::from(rate.bits_per_second());
        let nanos = u64::try_from(nanos).unwrap_or(u64::MAX >> 1);
        let credit = self.next.since(before).as_nanos();
        self.next += Span::from_nanos(nanos - credit.min(nanos / 2));
    }
}

impl Sender {
    /// SO_MAX_PACING_RATE: from now on all is paced, and never faster (`sk_setsockopt`). Without a
    /// limit, the pace that there is stays until it is reckoned again.
    pub(crate) fn set_most_pace(&mut self, most: Option<Rate>) {
        self.pace.most = most;
        self.pace.on |= most.is_some();
        self.window.is_paced = self.pace.on;
        self.limit_pace();
    }

    /// Whether the application asked for a pace.
    pub(super) fn is_pace_limited(&self) -> bool {
        self.pace.most.is_some()
    }

    /// Never faster than asked for (`tcp_update_pacing_rate`, `bbr_bw_to_pacing_rate`).
    pub(super) fn limit_pace(&mut self) {
        if let Some(most) = self.pace.most {
            let rate = self.window.pacing_rate.map_or(most, |rate| rate.min(most));
            self.window.pacing_rate = Some(rate);
        }
    }

    /// `len` data bytes leave in `segments` segments.
    pub(super) fn pace(&mut self, now: Instant, len: u64) {
        let free = self.counters.data_segments < FREE_SEGMENTS;
        let rate = if free { None } else { self.window.pacing_rate };
        self.pace.send(now, len, rate);
    }

    /// The pace that the handshake's round trip allows, unless the congestion control has its own.
    pub(crate) fn set_first_pace(&mut self) {
        if self.window.pacing_rate.is_none() {
            self.set_pacing_rate();
        }
    }

    /// Twice the window per round trip in slow start, 1.2 times in avoidance.
    pub(super) fn set_pacing_rate(&mut self) {
        let smoothed8 = self.trip.smoothed8();
        if smoothed8 == 0 {
            return;
        }
        let slow_start = self.window.cwnd < self.window.ssthresh / 2;
        let share = if slow_start { IN_SLOW_START } else { IN_AVOIDANCE };
        let segments = u128::from(self.window.cwnd.max(self.board.packets_out()));
        let bits = u128::from(self.window.mss) * 8 * segments * share;
        // Over the round trip in eighths of µs: ·8·10⁶ ÷ 100.
        let rate = bits * 80_000 / u128::from(smoothed8);
        let rate = u64::try_from(rate).unwrap_or(u64::MAX);
        self.window.pacing_rate = Some(Rate::from_bits_per_second(rate));
        self.limit_pace();
    }
}
