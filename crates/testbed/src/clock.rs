//! The trial's clock: nanoseconds since its zero, on `CLOCK_MONOTONIC`.

use rustix::time::{ClockId, Timespec, clock_gettime};
use tcplab_units::{Instant, Span};

/// The time since the trial's zero. Copies agree, in every thread.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock {
    zero: u64,
    epoch: u64,
}

impl Clock {
    /// A clock whose zero is now.
    pub(crate) fn start() -> Clock {
        Clock { zero: read(ClockId::Monotonic), epoch: read(ClockId::Realtime) }
    }

    /// The time.
    pub(crate) fn now(self) -> Instant {
        Instant::from_nanos(read(ClockId::Monotonic) - self.zero)
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
        loop {
            let now = self.now();
            if now >= then {
                return now.since(then);
            }
            std::thread::sleep(then.since(now).to_std());
        }
    }
}

fn read(clock: ClockId) -> u64 {
    let Timespec { tv_sec, tv_nsec } = clock_gettime(clock);
    tv_sec.cast_unsigned() * 1_000_000_000 + tv_nsec.cast_unsigned()
}
