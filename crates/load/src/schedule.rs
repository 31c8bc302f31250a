//! When requests are due in an open loop.

use std::time::{Duration, Instant};

/// Requests at a constant rate, counted from the beginning: nothing drifts or needs storage.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Schedule {
    begin: Instant,
    /// Nanoseconds from one to the next.
    interval: f64,
    next: u64,
}

impl Schedule {
    /// The share of one of `threads`, which take turns.
    pub(crate) fn new(begin: Instant, per_second: f64, thread: usize, threads: usize) -> Schedule {
        let interval = 1e9 / per_second;
        let begin = begin + Duration::from_nanos((interval * thread as f64).round() as u64);
        Schedule { begin, interval: interval * threads as f64, next: 0 }
    }

    pub(crate) fn due(&self) -> Instant {
        self.begin + Duration::from_nanos((self.interval * self.next as f64).round() as u64)
    }

    pub(crate) fn advance(&mut self) {
        self.next += 1;
    }

    /// Requests that are due before `end` and were not sent.
    pub(crate) fn left(&self, end: Instant) -> u64 {
        let due = end.saturating_duration_since(self.begin).as_nanos() as f64 / self.interval;
        (due.ceil() as u64).saturating_sub(self.next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_take_turns_and_nothing_drifts() {
        let begin = Instant::now();
        let mut two = [0, 1].map(|thread| Schedule::new(begin, 3.0, thread, 2));
        let mut due = Vec::new();
        for _ in 0..3 {
            for schedule in &mut two {
                due.push(schedule.due().duration_since(begin).as_micros());
                schedule.advance();
            }
        }
        assert_eq!(due, [0, 333_333, 666_666, 1_000_000, 1_333_333, 1_666_666], "{two:?}");
        let end = begin + Duration::from_secs(4);
        assert_eq!(two.map(|schedule| schedule.left(end)), [3, 3]);

        let mut fast = Schedule::new(begin, 1e6 / 3.0, 0, 1);
        for _ in 0..3_333_333 {
            fast.advance();
        }
        assert_eq!(fast.due().duration_since(begin).as_nanos(), 9_999_999_000);
        assert_eq!(fast.left(begin), 0);
    }
}
