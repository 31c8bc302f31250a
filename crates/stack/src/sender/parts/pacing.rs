//! When the next segment may leave (`tcp_update_skb_after_send`).

use tcplab_units::{Instant, Rate, Span};

/// Pacing.
#[derive(Debug, Default)]
pub(crate) struct Pacing {
    /// The next segment leaves no earlier (`tcp_wstamp_ns`).
    next: Instant,
    /// Whether something waits for that.
    pub(crate) waits: bool,
    /// Whether segments are paced at all.
    pub(crate) on: bool,
    /// SO_MAX_PACING_RATE.
    pub(crate) most: Option<Rate>,
}

impl Pacing {
    /// Whether nothing may leave yet; if so, remembers that something waits.
    pub(crate) fn holds(&mut self, now: Instant) -> bool {
        self.waits = self.on && self.next > now;
        self.waits
    }

    /// When what waits may leave.
    pub(crate) fn at(&self) -> Option<Instant> {
        self.waits.then_some(self.next)
    }

    /// How long until then.
    pub(crate) fn delay(&self, now: Instant) -> Span {
        if self.on { self.next.since(now) } else { Span::ZERO }
    }

    /// When a segment was last sent, or the next may.
    pub(crate) fn last(&self) -> Instant {
        self.next
    }

    /// `len` data bytes leave. Up to half of the time since the last is credited for being late.
    pub(crate) fn send(&mut self, now: Instant, len: u64, rate: Option<Rate>) {
        let before = self.next;
        self.next = before.max(now);
        let Some(rate) = rate.filter(|rate| self.on && rate.bits_per_second() > 0) else { return };
        let nanos = u128::from(len) * 8_000_000_000 / u128::from(rate.bits_per_second());
        let nanos = u64::try_from(nanos).unwrap_or(u64::MAX >> 1);
        let credit = self.next.since(before).as_nanos();
        self.next += Span::from_nanos(nanos - credit.min(nanos / 2));
    }
}
