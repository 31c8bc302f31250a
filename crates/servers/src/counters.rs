//! What a server has done, counted where threads and forked processes can all write.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::Serialize;

use crate::conversation::End;
use crate::sys::Shared;

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Count {
    Accepted,
    Open,
    /// Places that are kept for connections not yet accepted.
    Reserved,
    Requests,
    Refused,
    Received,
    Sent,
    Orderly,
    Reset,
    TimedOut,
    Broken,
    Cut,
    Exhausted,
    Lost,
}

const COUNTS: usize = 14;
/// So that two workers do not share a cache line: each has two for itself.
const STRIDE: usize = 16;
/// At least.
const SLOTS: usize = 64;

/// What a server has done so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Tally {
    /// Connections that were accepted.
    pub accepted: u64,
    /// Connections that are open.
    pub open: u64,
    /// Requests that were understood; for services without requests, pieces or connections that
    /// were served; datagrams.
    pub requests: u64,
    /// Of these, and of what was no request, those that were answered with an error.
    pub refused: u64,
    /// Bytes.
    pub received: u64,
    /// Bytes.
    pub sent: u64,
    /// Connections that ended as both sides wanted.
    pub orderly: u64,
    /// Connections that their client reset.
    pub reset: u64,
    /// Connections that took too long over something.
    pub timed_out: u64,
    /// Connections that could not go on.
    pub broken: u64,
    /// Connections that were not finished in time when the server had to stop.
    pub cut: u64,
    /// Times that accepting had to pause, as descriptors, memory or processes were used up.
    pub exhausted: u64,
    /// Worker processes that ended by themselves.
    pub lost_workers: u64,
}

/// All counters of a server.
#[derive(Debug)]
pub(crate) struct Counters {
    cells: Shared,
    slots: usize,
}

/// Where one worker counts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Slot<'a> {
    cells: &'a [AtomicU64],
    /// Connections that are open or may be accepted, of all workers.
    places: &'a AtomicU64,
}

impl Counters {
    /// With a place for each of so many workers, and a few more.
    pub(crate) fn new(workers: usize) -> io::Result<Counters> {
        let slots = workers.max(SLOTS);
        // The places have a cache line of their own behind the slots.
        Ok(Counters { cells: Shared::new((slots + 1) * STRIDE)?, slots })
    }

    /// The place of a worker; where there are more, some share one, and lose nothing but time.
    pub(crate) fn slot(&self, worker: usize) -> Slot<'_> {
        let from = worker % self.slots * STRIDE;
        Slot { cells: &self.cells.cells()[from..from + STRIDE], places: self.places() }
    }

    /// Connections that are open now or may be accepted.
    pub(crate) fn taken(&self) -> usize {
        self.places().load(Ordering::Relaxed) as usize
    }

    fn places(&self) -> &AtomicU64 {
        &self.cells.cells()[self.slots * STRIDE]
    }

    pub(crate) fn tally(&self) -> Tally {
        Tally {
            accepted: self.sum(Count::Accepted),
            open: self.sum(Count::Open),
            requests: self.sum(Count::Requests),
            refused: self.sum(Count::Refused),
            received: self.sum(Count::Received),
            sent: self.sum(Count::Sent),
            orderly: self.sum(Count::Orderly),
            reset: self.sum(Count::Reset),
            timed_out: self.sum(Count::TimedOut),
            broken: self.sum(Count::Broken),
            cut: self.sum(Count::Cut),
            exhausted: self.sum(Count::Exhausted),
            lost_workers: self.sum(Count::Lost),
        }
    }

    fn sum(&self, count: Count) -> u64 {
        let slots = &self.cells.cells()[..self.slots * STRIDE];
        let cells = slots.iter().skip(count as usize).step_by(STRIDE);
        // A connection may be counted open in one slot and closed in another.
        cells.fold(0, |sum, cell| sum.wrapping_add(cell.load(Ordering::Relaxed)))
    }
}

impl Slot<'_> {
    pub(crate) fn add(&self, count: Count, amount: u64) {
        if amount > 0 {
            self.cells[count as usize].fetch_add(amount, Ordering::Relaxed);
        }
    }

    /// Takes a place for a connection that may be accepted; says whether there was one of so many.
    pub(crate) fn reserve(&self, places: usize) -> bool {
        let take = |taken: u64| (taken < places as u64).then_some(taken + 1);
        let taken = self.places.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_ok();
        self.add(Count::Reserved, u64::from(taken));
        taken
    }

    /// Gives so many places back for which no connection was accepted.
    pub(crate) fn give_back(&self, places: usize) {
        self.cells[Count::Reserved as usize].fetch_sub(places as u64, Ordering::Relaxed);
        self.places.fetch_sub(places as u64, Ordering::Relaxed);
    }

    /// A connection was accepted for a place that was reserved.
    pub(crate) fn accepted(&self) {
        self.cells[Count::Reserved as usize].fetch_sub(1, Ordering::Relaxed);
        self.add(Count::Accepted, 1);
        self.add(Count::Open, 1);
    }

    /// The worker that counts here alone is dead: its connections are, too.
    pub(crate) fn died(&self) {
        let [open, reserved] = [Count::Open, Count::Reserved]
            .map(|count| self.cells[count as usize].swap(0, Ordering::Relaxed));
        self.places.fetch_sub(open + reserved, Ordering::Relaxed);
        self.add(Count::Broken, open);
    }

    pub(crate) fn ended(&self, end: End) {
        self.cells[Count::Open as usize].fetch_sub(1, Ordering::Relaxed);
        self.places.fetch_sub(1, Ordering::Relaxed);
        let count = match end {
            End::Orderly => Count::Orderly,
            End::TimedOut => Count::TimedOut,
            End::Reset => Count::Reset,
            End::Broken => Count::Broken,
            End::Cut => Count::Cut,
        };
        self.add(count, 1);
    }
}

const _: () = assert!(COUNTS <= STRIDE && Count::Lost as usize + 1 == COUNTS);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connection_may_open_and_close_in_different_slots() {
        let counters = Counters::new(1).unwrap();
        for slot in [1, 2] {
            assert!(counters.slot(slot).reserve(2));
            counters.slot(slot).accepted();
        }
        counters.slot(66).ended(End::Reset);
        counters.slot(3).ended(End::Orderly);
        let tally = counters.tally();
        assert_eq!((tally.accepted, tally.open, tally.reset, tally.orderly), (2, 0, 1, 1));
        assert_eq!(counters.taken(), 0);
    }

    #[test]
    fn places_are_as_many_as_there_may_be() {
        let counters = Counters::new(3).unwrap();
        let [one, other, dead] = [0, 1, 2].map(|worker| counters.slot(worker));
        assert!(one.reserve(3) && other.reserve(3) && dead.reserve(3) && !one.reserve(3));
        other.give_back(1);
        one.accepted();
        dead.accepted();
        assert!(dead.reserve(3) && !other.reserve(3));
        // Its connection, and the place that it kept, are free.
        dead.died();
        assert_eq!((counters.taken(), counters.tally().open), (1, 1));
        one.ended(End::Orderly);
        assert_eq!((counters.taken(), counters.tally().open), (0, 0));
    }
}
