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

    /// How many `span` takes, begun ones counted whole; of `span`, whole microseconds count
    /// (`usecs_to_jiffies`).
    pub(super) fn of(self, span: Span) -> u64 {
        (span.as_micros() * 1_000).div_ceil(self.tick)
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

/// Whole microseconds at `time` (`tcp_mstamp`): what they differ by is what Linux sees pass.
pub(super) fn micros(time: Instant) -> u64 {
    time.as_micros()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_without_tick_use_default() {
        let ticks = Ticks::new(Span::from_millis(4));
        assert_eq!(ticks.per_second(), 250);
        assert_eq!([0, 3_999_999, 4_000_000].map(|n| ticks.at(Instant::from_nanos(n))), [0, 0, 1]);
        // What is below a microsecond does not count, and what is begun counts whole.
        assert_eq!(
            [0, 999, 1_000, 4_000_999, 4_001_000].map(|n| ticks.of(Span::from_nanos(n))),
            [0, 0, 1, 1, 2]
        );
        // Ten ticks are 40 ms, 40.96 1024ths.
        assert_eq!(ticks.in_1024ths(10), 40);
        assert_eq!(Ticks::new(Span::ZERO).per_second(), 1_000);
    }
}
