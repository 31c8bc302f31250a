//! The trial's clock: nanoseconds since its zero, on `CLOCK_MONOTONIC`.

use std::sync::atomic::{AtomicU64, Ordering};

use rustix::thread::clock_nanosleep_absolute;
use rustix::time::{ClockId, Timespec, clock_gettime};
use tcplab_units::{Instant, Span};

/// The time since the trial's zero. Copies agree, in every thread.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock {
    zero: u64,
    epoch: u64,
    /// In virtual time, where it is shown, and what was there at its zero.
    shown: Option<(&'static AtomicU64, u64)>,
}

impl Clock {
    /// A clock whose zero is now.
    pub(crate) fn start() -> Clock {
        let (zero, epoch) = (read(ClockId::Monotonic), read(ClockId::Realtime));
        Clock { zero, epoch, shown: None }
    }

    /// The same, of a kernel in virtual time, which shows it in memory.
    pub(crate) fn start_virtual(shown: &'static AtomicU64) -> Clock {
        let zero = read(ClockId::Monotonic);
        let shown = Some((shown, shown.load(Ordering::Relaxed)));
        Clock { zero, epoch: read(ClockId::Realtime), shown }
    }

    /// Whether computing takes no time.
    pub(crate) fn is_virtual(self) -> bool {
        self.shown.is_some()
    }

    /// The time.
    pub(crate) fn now(self) -> Instant {
        let since_zero = match self.shown {
            None => read(ClockId::Monotonic) - self.zero,
            Some((shown, zero)) => shown.load(Ordering::Relaxed) - zero,
        };
        Instant::from_nanos(since_zero)
    }

    /// In virtual time, what the kernel's clock showed at this one's zero, in nanoseconds.
    pub(crate) fn shown_zero(self) -> u64 {
        self.shown.map_or(self.zero, |(_, zero)| zero)
    }

    /// The time at which the kernel's clock shows so many nanoseconds, in virtual time.
    pub(crate) fn of_shown(self, nanos: u64) -> Instant {
        Instant::from_nanos(nanos.saturating_sub(self.shown_zero()))
    }

    /// Its zero in nanoseconds since the Unix epoch.
    pub(crate) fn epoch_nanos(self) -> u64 {
        self.epoch
    }

    /// What the wall clock shows, in nanoseconds since the Unix epoch: what the kernel stamps
    /// packets with.
    pub(crate) fn wall_nanos() -> u64 {
        read(ClockId::Realtime)
    }

    /// The time that the calling thread has had a processor.
    pub(crate) fn processor() -> Span {
        Span::from_nanos(read(ClockId::ThreadCPUTime))
    }

    /// The wall clock minus this one, in nanoseconds: it changes when the clock is set.
    pub(crate) fn wall_offset() -> i64 {
        let (steady, wall) = (read(ClockId::Monotonic), read(ClockId::Realtime));
        wall.wrapping_sub(steady).cast_signed()
    }

    /// Sleeps until `then`; returns how much later it woke.
    pub(crate) fn sleep_until(self, then: Instant) -> Span {
        let end = self.zero + then.as_nanos();
        let (seconds, nanos) = (end / 1_000_000_000, end % 1_000_000_000);
        let end = Timespec { tv_sec: seconds.cast_signed(), tv_nsec: nanos.cast_signed() };
        loop {
            // What has passed already is not waited for.
            let _ = clock_nanosleep_absolute(ClockId::Monotonic, &end);
            let now = self.now();
            if now >= then {
                return now.since(then);
            }
        }
    }
}

fn read(clock: ClockId) -> u64 {
    let Timespec { tv_sec, tv_nsec } = clock_gettime(clock);
    tv_sec.cast_unsigned() * 1_000_000_000 + tv_nsec.cast_unsigned()
}
