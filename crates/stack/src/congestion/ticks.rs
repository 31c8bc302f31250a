//! A coarse clock, such as Linux's `jiffies`.

use tcplab_units::{Instant, Span};

const SECOND: u64 = 1_000_000_000;

/// Counts time in ticks of a fixed length.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ticks {
    /// Nanoseconds.
    tick: u64,
}

impl Ticks {
    /// Of length `tick`; zero counts as 1 ms, the finest that Linux knows.
    pub(super) fn new(tick: Span) -> Ticks {
        Ticks { tick: if tick.is_zero() { SECOND / 1_000 } else { tick.as_nanos() } }
    }

    /// How many have passed at `now`.
    pub(super) fn at(self, now: Instant) -> u64 {
        now.as_nanos() / self.tick
    }

    /// How many `span` takes, begun ones counted whole (`usecs_to_jiffies`).
    pub(super) fn of(self, span: Span) -> u64 {
        span.as_nanos().div_ceil(self.tick)
    }

    /// How many a second has (`HZ`).
    pub(super) fn per_second(self) -> u64 {
        SECOND / self.tick
    }

    /// How long `ticks` are in 1024ths of a second.
    pub(super) fn in_1024ths(self, ticks: u64) -> u64 {
        (u128::from(ticks) * u128::from(self.tick) * 1024 / u128::from(SECOND)) as u64
    }
}
