//! When probes are due, and how late they leave. Without a clock.

use std::time::Duration;

use tcplab_units::Durations;

use crate::times::Times;

/// A timetable that is this far behind is left: the machine slept.
const ASLEEP: Duration = Duration::from_secs(1);
/// Probes that are later than this, and than the next one's time, are worth a warning.
const LATE: Duration = Duration::from_millis(1);

/// Probes at a constant interval. One that is late is sent all the same, so that times without a
/// probe are few.
#[derive(Debug)]
pub(crate) struct Timetable {
    interval: Duration,
    end: Duration,
    /// When the next one is due.
    next: Duration,
    late: Times,
    unsent: u64,
}

impl Timetable {
    /// For probes every `interval`, until `end`.
    pub(crate) fn new(interval: Duration, end: Duration) -> Timetable {
        let interval = interval.max(Duration::from_nanos(1));
        Timetable { interval, end, next: Duration::ZERO, late: Times::default(), unsent: 0 }
    }

    /// When the next probe is due; none: all have left.
    pub(crate) fn due(&self) -> Option<Duration> {
        (self.next < self.end).then_some(self.next)
    }

    /// The one that is due leaves at `now`. After a sleep those that were due meanwhile are not
    /// sent.
    pub(crate) fn leave(&mut self, now: Duration) {
        let late = now.saturating_sub(self.next);
        self.late.record(late);
        self.next += self.interval;
        if late > ASLEEP {
            let missed = now.min(self.end).saturating_sub(self.next).as_nanos();
            self.unsent += missed.div_ceil(self.interval.as_nanos()) as u64;
            self.next = now + self.interval;
        }
    }

    /// How late they left.
    pub(crate) fn late(&self) -> Durations {
        self.late.summary()
    }

    /// How many were due and never sent.
    pub(crate) fn unsent(&self) -> u64 {
        self.unsent
    }

    /// What makes the latencies doubtful: those of probes that did not leave in time are missing.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        let p99 = Duration::from_nanos(self.late.summary().p99);
        if p99 > self.interval.max(LATE) {
            warnings.push(format!(
                "this host sent probes late: 1 % of them {:.2} ms or more after they were due; \
                 latency counts from when they left",
                p99.as_secs_f64() * 1e3
            ));
        }
        if self.unsent > 0 {
            warnings.push(format!(
                "{} probes were due and never sent: this host slept, or stopped the program",
                self.unsent
            ));
        }
        warnings
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    /// 10 ms apart for 4 s, with a program that stands still from 1,005 ms on for so long.
    fn stopped(still: Duration) -> (Timetable, Vec<Duration>) {
        let mut table = Timetable::new(10 * MS, 4_000 * MS);
        let (from, mut sent) = (1_005 * MS, Vec::new());
        while let Some(due) = table.due() {
            let now = if due < from { due } else { due.max(from + still) };
            table.leave(now);
            sent.push(now);
        }
        (table, sent)
    }

    #[test]
    fn probes_that_were_due_in_a_pause_leave_late() {
        let (table, sent) = stopped(Duration::ZERO);
        assert_eq!((sent.len(), table.unsent(), table.late().max), (400, 0, 1));
        assert!(table.warnings().is_empty());
        // Of 400, those due at 1,010 to 1,600 ms leave at 1,605 ms.
        let (table, sent) = stopped(600 * MS);
        assert_eq!((sent.len(), table.unsent()), (400, 0));
        assert_eq!(sent.iter().filter(|it| **it == 1_605 * MS).count(), 60);
        let near = |nanos: u64, ms: u64| nanos.abs_diff(ms * 1_000_000) < ms * 1_000;
        let late = table.late();
        assert!(near(late.max, 595) && near(late.p99, 555) && late.p75 == 1, "{late:?}");
        let [said] = &table.warnings()[..] else { panic!("one: {:?}", table.warnings()) };
        assert!(said.starts_with("this host sent probes late: 1 % of them 55"), "{said}");
    }

    #[test]
    fn probes_of_a_long_sleep_are_counted_as_unsent() {
        // The one of 1,010 ms leaves at 3,005 ms; those of 1,020 to 3,000 ms do not.
        let (table, sent) = stopped(2_000 * MS);
        assert_eq!((table.unsent(), sent[101]), (199, 3_005 * MS));
        assert_eq!(sent[102], 3_015 * MS, "a new timetable begins");
        let said = table.warnings();
        assert!(said[0].starts_with("199 probes were due and never sent"), "{said:?}");
        // To beyond the end: 101 left before it, and one after it.
        let (table, sent) = stopped(7_000 * MS);
        assert_eq!((sent.len(), table.unsent()), (102, 298));
    }

    #[test]
    fn delays_below_the_interval_are_shown_alone() {
        let mut table = Timetable::new(100 * MS, 1_000 * MS);
        while let Some(due) = table.due() {
            table.leave(due + 5 * MS);
        }
        assert!(table.late().p50 > 4_900_000 && table.warnings().is_empty());
    }
}
