//! What is carried while probes are sent, and what is learnt of it.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::{Builder, Scope, ScopedJoinHandle};
use std::time::{Duration, Instant};

use super::event::ProbeEvent;
use super::record::nanos;
use crate::bulk::{BulkConfig, BulkOutcome, Direction, bulk};
use crate::error::LoadError;

pub(super) type Loads<'scope> = Vec<ScopedJoinHandle<'scope, Result<BulkOutcome, LoadError>>>;

/// What threads that carry data share with the one that sends probes.
pub(super) struct Shared {
    pub(super) stop: AtomicBool,
    loads: Vec<Mutex<Carried>>,
}

/// How far a load is. Times since the first probe.
#[derive(Debug, Clone, Copy, Default)]
struct Carried {
    /// Since when data moves: all its connections stand.
    from: Option<Duration>,
    /// Until when `bytes` were carried.
    until: Duration,
    bytes: u64,
    has_ended: bool,
}

impl Shared {
    pub(super) fn new(loads: usize) -> Shared {
        let loads = (0..loads).map(|_| Mutex::default()).collect();
        Shared { stop: AtomicBool::new(false), loads }
    }

    fn change(&self, index: usize, change: impl FnOnce(&mut Carried)) {
        change(&mut self.loads[index].lock().unwrap_or_else(PoisonError::into_inner));
    }

    fn now(&self) -> impl Iterator<Item = Carried> {
        self.loads.iter().map(|it| *it.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// A load has carried so many bytes since it began, `age` ago.
    fn carried(&self, index: usize, now: Duration, age: Duration, bytes: u64) {
        self.change(index, |it| {
            it.from.get_or_insert(now.saturating_sub(age));
            (it.until, it.bytes) = (now, bytes);
        });
    }

    fn ended(&self, index: usize, now: Duration, outcome: Option<&BulkOutcome>) {
        self.change(index, |it| {
            it.has_ended = true;
            let Some(outcome) = outcome else {
                it.until = now;
                return;
            };
            // A load may end before anybody looks.
            let from = *it.from.get_or_insert(now.saturating_sub(outcome.elapsed));
            (it.until, it.bytes) = (from + outcome.elapsed, outcome.bytes);
        });
    }

    /// Starts to carry data; the first probe was sent at `began`.
    ///
    /// # Errors
    /// When no thread can be made.
    pub(super) fn start<'scope>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        began: Instant,
        loads: &[BulkConfig],
    ) -> Result<Loads<'scope>, LoadError> {
        let each = loads.iter().cloned().enumerate().map(|(index, load)| {
            let carry = move || {
                let outcome = bulk(&load, &mut |age, bytes| {
                    self.carried(index, began.elapsed(), age, bytes);
                    if self.stop.load(Ordering::Relaxed) {
                        return ControlFlow::Break(());
                    }
                    ControlFlow::Continue(())
                });
                self.ended(index, began.elapsed(), outcome.as_ref().ok());
                outcome
            };
            Builder::new()
                .spawn_scoped(scope, carry)
                .map_err(|source| LoadError::Process { source })
        });
        each.collect()
    }
}

/// What is known of the loads.
#[derive(Debug)]
pub(super) struct Watched {
    /// Each with the time until which its bytes are known, and these.
    loads: Vec<(Direction, Option<Duration>, u64)>,
    has_begun: bool,
    has_ended: bool,
}

impl Watched {
    pub(super) fn new(directions: impl Iterator<Item = Direction>) -> Watched {
        let loads = directions.map(|direction| (direction, None, 0)).collect();
        Watched { loads, has_begun: false, has_ended: false }
    }

    /// Whether data is carried.
    pub(super) fn is_loaded(&self) -> bool {
        self.has_begun && !self.has_ended
    }

    /// Whether any of them carried anything.
    pub(super) fn has_carried(&self) -> bool {
        self.loads.iter().any(|(_, _, bytes)| *bytes > 0)
    }

    /// When the first began and when the last ended, once each.
    pub(super) fn phases(&mut self, shared: &Shared) -> Vec<ProbeEvent> {
        let mut events = Vec::new();
        if self.loads.is_empty() || self.has_ended {
            return events;
        }
        if !self.has_begun
            && let Some(from) = shared.now().filter_map(|it| it.from).min()
        {
            self.has_begun = true;
            events.push(ProbeEvent::LoadBegan { at: nanos(from) });
        }
        if shared.now().all(|it| it.has_ended) {
            self.has_ended = true;
            let until = shared.now().map(|it| it.until).max().unwrap_or_default();
            events.push(ProbeEvent::LoadEnded { at: nanos(until) });
        }
        events
    }

    /// What has been carried since the last look; with `only_more` nothing of a load that has
    /// carried no more.
    pub(super) fn carried(&mut self, shared: &Shared, only_more: bool) -> Vec<ProbeEvent> {
        let mut events = Vec::new();
        for ((direction, known, before), load) in self.loads.iter_mut().zip(shared.now()) {
            let Some(from) = load.from else { continue };
            let since = known.unwrap_or(from);
            let more = load.bytes.saturating_sub(*before);
            if more == 0 && (only_more || load.until <= since) {
                continue;
            }
            let until = load.until.max(since);
            (*known, *before) = (Some(until), load.bytes);
            events.push(ProbeEvent::Carried {
                from: nanos(since),
                until: nanos(until),
                direction: *direction,
                bytes: more,
            });
        }
        events
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probes::clock::Clock;
    use crate::probes::points::Points;

    const MS: Duration = Duration::from_millis(1);

    fn outcome(elapsed: Duration, bytes: u64) -> BulkOutcome {
        BulkOutcome {
            direction: Direction::Download,
            elapsed,
            bytes,
            bits_per_second: 0.0,
            each: vec![bytes],
            processor: Duration::ZERO,
            early: Vec::new(),
        }
    }

    #[test]
    fn bytes_are_counted_from_the_loads_begin_to_its_end() {
        let shared = Shared::new(1);
        let mut watched = Watched::new([Direction::Download].into_iter());
        let mut points = Points::of_all(100_000_000, 100);
        let take = |watched: &mut Watched, points: &mut Points| {
            for event in watched.carried(&shared, false) {
                points.take(&event);
            }
        };
        assert!(watched.carried(&shared, false).is_empty());
        // It began at 1,000 ms, is looked at from 1,030 ms on, and ends between two looks.
        for (now, bytes) in [(1_030, 3_000), (1_130, 13_000)] {
            shared.carried(0, now * MS, (now - 1_000) * MS, bytes);
            take(&mut watched, &mut points);
        }
        shared.ended(0, 1_190 * MS, Some(&outcome(180 * MS, 18_000)));
        take(&mut watched, &mut points);
        assert!(watched.carried(&shared, true).is_empty(), "all is known");
        let rates: Vec<(f64, f64)> = points
            .series(&Clock::same(), i64::MAX)
            .iter()
            .map(|it| (it.at_seconds, it.download_bits_per_second.unwrap()))
            .collect();
        // 10 kB in the first 100 ms, 8 kB in the 80 ms after them.
        assert_eq!(rates, [(1.0, 800_000.0), (1.1, 800_000.0)]);
    }

    #[test]
    fn loaded_time_is_from_the_first_begin_to_the_last_end() {
        let shared = Shared::new(2);
        let mut watched = Watched::new([Direction::Upload, Direction::Download].into_iter());
        assert_eq!(watched.phases(&shared), []);
        shared.carried(1, 510 * MS, 7 * MS, 0);
        let began = ProbeEvent::LoadBegan { at: 503_000_000 };
        assert_eq!(watched.phases(&shared), [began]);
        assert!(watched.is_loaded());
        // The other one fails before it begins.
        assert!(!watched.has_carried());
        shared.ended(0, 520 * MS, None);
        assert_eq!(watched.phases(&shared), []);
        shared.ended(1, 600 * MS, Some(&outcome(7 * MS, 100)));
        assert_eq!(watched.phases(&shared), [ProbeEvent::LoadEnded { at: 520_000_000 }]);
        assert!(!watched.is_loaded() && watched.phases(&shared).is_empty());
        watched.carried(&shared, true);
        assert!(watched.has_carried());
        // One that fails at last has carried something all the same.
        let (shared, mut watched) = (Shared::new(1), Watched::new([Direction::Upload].into_iter()));
        shared.carried(0, 510 * MS, 7 * MS, 100);
        shared.ended(0, 520 * MS, None);
        watched.carried(&shared, true);
        assert!(watched.has_carried());
        // One that ends before anybody looks.
        let (shared, mut watched) = (Shared::new(1), Watched::new([Direction::Upload].into_iter()));
        shared.ended(0, 510 * MS, Some(&outcome(7 * MS, 100)));
        let ended = ProbeEvent::LoadEnded { at: 510_000_000 };
        assert_eq!(watched.phases(&shared), [began, ended]);
    }
}
