//! How well the bridge keeps time, measured as it works.

use std::fs::File;
use std::os::unix::fs::FileExt;

use tcplab_recording::{Lateness, MoverRecord, RingWait, Sketch};
use tcplab_units::{Instant, Span};

use crate::clock::Clock;

/// The smallest step of the wall clock that counts.
const STEP: Span = Span::from_millis(1);

/// The window over which the share of busy time is measured: shorter bursts show as lateness.
const SECOND: Span = Span::from_secs(1);

/// In fixed memory, however long the trial is.
pub(super) struct Health {
    clock: Clock,
    lateness: Sketch,
    ring_wait: Sketch,
    /// When each device was last seen empty.
    seen_empty: [Instant; 2],
    started: Instant,
    busy: Span,
    seconds: Seconds,
    /// When the last turn began, unless it ended in sleep.
    turn: Option<Instant>,
    longest_turn: Span,
    clock_steps: u64,
    /// Wall clock minus steady clock.
    wall: i64,
    /// Of the thread that runs the bridge.
    schedstat: Option<File>,
    run_delay: Span,
}

impl Health {
    /// To be called in the thread that will move the frames.
    pub(super) fn new(clock: Clock) -> Health {
        let schedstat = File::open("/proc/thread-self/schedstat").ok();
        let now = clock.now();
        Health {
            clock,
            lateness: Sketch::new(),
            ring_wait: Sketch::new(),
            seen_empty: [now; 2],
            started: now,
            busy: Span::ZERO,
            seconds: Seconds { began: now, before: Span::ZERO, busiest: 0.0 },
            turn: None,
            longest_turn: Span::ZERO,
            clock_steps: 0,
            wall: Clock::wall_offset(),
            run_delay: schedstat.as_ref().and_then(run_delay).unwrap_or_default(),
            schedstat,
        }
    }

    /// Packets were handed over at `at` that should have been at `due`.
    pub(super) fn handed_over(&mut self, due: Instant, at: Instant, packets: usize) {
        self.lateness.add_times(at.since(due), packets as u64);
    }

    /// A read of a device, begun at `at`, found nothing.
    pub(super) fn empty(&mut self, device: usize, at: Instant) {
        self.seen_empty[device] = at;
    }

    /// A packet was read at `at`.
    pub(super) fn read(&mut self, device: usize, at: Instant) {
        self.ring_wait.add(at.since(self.seen_empty[device]));
    }

    /// A turn begins; whether the one before had something to do.
    pub(super) fn turn(&mut self, now: Instant, had_work: bool) {
        if let Some(last) = self.turn.replace(now) {
            let turn = now.since(last);
            self.longest_turn = self.longest_turn.max(turn);
            if had_work {
                self.busy += turn;
            }
        }
    }

    /// It slept until now. While it did, the devices were empty: a frame ends the sleep.
    pub(super) fn slept(&mut self, until: Instant) {
        self.turn = None;
        self.seen_empty = [until; 2];
    }

    /// To be called regularly.
    pub(super) fn look_at_clock(&mut self) {
        self.seconds.look(self.clock.now(), self.busy);
        let wall = Clock::wall_offset();
        if wall.abs_diff(self.wall) > STEP.as_nanos() {
            self.clock_steps += 1;
        }
        self.wall = wall;
    }

    pub(super) fn lateness(&self) -> Lateness {
        Lateness::of(&self.lateness)
    }

    pub(super) fn ring_wait(&self) -> RingWait {
        RingWait { p99: self.ring_wait.quantile(990), max: self.ring_wait.max() }
    }

    /// To be called in the thread that moved the frames.
    pub(super) fn mover(&self) -> MoverRecord {
        let busy = share(self.busy, self.clock.now().since(self.started));
        let run_delay_now = self.schedstat.as_ref().and_then(run_delay).unwrap_or_default();
        MoverRecord {
            busy,
            // It may not have lasted for a second.
            busiest: self.seconds.busiest.max(busy),
            starved: run_delay_now.saturating_sub(self.run_delay),
            longest_turn: self.longest_turn,
            clock_steps: self.clock_steps,
        }
    }
}

/// Finds the busiest second.
struct Seconds {
    /// When the one under way began,
    began: Instant,
    /// and how much had been done by then.
    before: Span,
    /// The share of work in the busiest one until then.
    busiest: f64,
}

impl Seconds {
    /// `busy` is all that was done until `now`.
    fn look(&mut self, now: Instant, busy: Span) {
        let lasted = now.since(self.began);
        if lasted >= SECOND {
            self.busiest = self.busiest.max(share(busy - self.before, lasted));
            (self.began, self.before) = (now, busy);
        }
    }
}

/// The share that `busy` is of what `lasted`.
fn share(busy: Span, lasted: Span) -> f64 {
    if lasted.is_zero() { 0.0 } else { (busy.as_secs_f64() / lasted.as_secs_f64()).min(1.0) }
}

/// Time spent ready to run without a processor: the second number of `schedstat`
/// (Documentation/scheduler/sched-stats.rst).
fn run_delay(schedstat: &File) -> Option<Span> {
    let mut text = [0; 64];
    let len = schedstat.read_at(&mut text, 0).ok()?;
    let text = std::str::from_utf8(&text[..len]).ok()?;
    Some(Span::from_nanos(text.split_whitespace().nth(1)?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn busy_second_shows_among_quiet_ones() {
        let mut seconds = Seconds { began: Instant::ZERO, before: Span::ZERO, busiest: 0.0 };
        let at = |ms: u64| Instant::ZERO + Span::from_millis(ms);
        // Looked at each half second: 10 ms of work, a whole second of it, 20 ms.
        for (now, busy) in [(500, 5), (1000, 10), (1500, 510), (2000, 1010), (3000, 1030)] {
            seconds.look(at(now), Span::from_millis(busy));
        }
        assert!((seconds.busiest - 1.0).abs() < 1e-9, "{}", seconds.busiest);
        let whole = share(Span::from_millis(1030), Span::from_secs(3));
        assert!(whole < 0.35, "{whole}");
        assert!(share(Span::ZERO, Span::ZERO).abs() < 1e-9);
    }
}
