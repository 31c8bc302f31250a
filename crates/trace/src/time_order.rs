//! What comes a little out of time order is put in order.
//!
//! Captures on several processors or queues of a card, or on several interfaces, write frames some
//! microseconds, up to some milliseconds, out of order: then an acknowledgement may come behind the
//! data that it released. Nothing tells beforehand that a capture is one of those. So of the first
//! frames the next few packets are always held, and once a frame is out of order, whenever, all of
//! the last milliseconds. Of a capture in order every packet is analysed as if none were held.

use std::collections::{BTreeMap, VecDeque};

/// Frames are put in order that are so late, nanoseconds; of later ones who knows whether the
/// clock was set.
pub(crate) const SKEW: u64 = 10_000_000;
/// So many packets are held before the first frame out of order, up to this number. Beyond it a
/// capture most likely is in order, and holding every packet takes a fifth of the time of a bulk
/// transfer's analysis.
const FEW: usize = 32;
const FIRST: u64 = 1 << 12;
/// So many at most after it.
const MOST: usize = 1 << 12;

/// What is held of frames, each with a time and a number.
#[derive(Debug)]
pub(crate) struct TimeOrder<T> {
    /// Everything is let go as it comes.
    is_off: bool,
    /// The first frames were in order.
    is_calm: bool,
    /// The time of the latest frame, and the latest time of all.
    now: u64,
    newest: u64,
    /// The latest time of what was let go.
    gone: u64,
    /// What came before the first frame out of order, as it came: time, number.
    few: VecDeque<(u64, u64, T)>,
    /// What came since, by time and number.
    sorted: Option<BTreeMap<(u64, u64), T>>,
}

impl<T> Default for TimeOrder<T> {
    fn default() -> TimeOrder<T> {
        let few = VecDeque::new();
        TimeOrder { is_off: false, is_calm: false, now: 0, newest: 0, gone: 0, few, sorted: None }
    }
}

impl<T> TimeOrder<T> {
    /// Lets everything go as it comes.
    pub(crate) fn off() -> TimeOrder<T> {
        TimeOrder { is_off: true, ..TimeOrder::default() }
    }

    /// Takes the time of the next frame; whether it is out of order.
    #[inline(always)]
    pub(crate) fn passes(&mut self, time: u64) -> bool {
        self.now = time;
        let is_late = time < self.newest;
        self.newest = self.newest.max(time);
        is_late
    }

    /// Whether the latest frame, which is out of order, does not get its place: then everything
    /// that is held goes before it.
    pub(crate) fn stays(&self) -> bool {
        self.is_off || self.newest - self.now > SKEW
    }

    /// From now on everything is sorted; whether the latest frame gets its place.
    pub(crate) fn sort(&mut self) -> bool {
        if self.is_calm && self.sorted.is_none() {
            self.gone = self.newest;
        }
        let few = self.few.drain(..).map(|(time, number, held)| ((time, number), held));
        self.sorted.get_or_insert_default().extend(few);
        self.now >= self.gone
    }

    /// Times go on from the latest frame, whatever came before. Nothing is held.
    pub(crate) fn restart(&mut self) {
        (self.newest, self.gone) = (self.now, self.now);
    }

    /// The clock was corrected at the latest frame.
    pub(crate) fn correct(&mut self, by: i64) {
        self.now = self.now.saturating_add_signed(by);
        self.restart();
    }

    /// Whether nothing is held, nor has to be.
    #[inline(always)]
    pub(crate) fn lets_pass(&self) -> bool {
        self.is_calm && self.sorted.is_none()
    }

    /// Takes something of the latest frame, which has this number.
    #[inline(always)]
    pub(crate) fn hold(&mut self, number: u64, held: T) {
        match &mut self.sorted {
            None => {
                self.is_calm = number > FIRST;
                self.few.push_back((self.now, number, held));
            }
            Some(sorted) => drop(sorted.insert((self.now, number), held)),
        }
    }

    /// The next one, if nothing that comes can be before it.
    #[inline(always)]
    pub(crate) fn ready(&mut self) -> Option<T> {
        if self.sorted.is_some() {
            return self.ready_sorted();
        }
        let &(time, ..) = self.few.front()?;
        let waits = !self.is_off && !self.is_calm;
        if waits && self.few.len() <= FEW && self.newest - time <= SKEW {
            return None;
        }
        self.next()
    }

    #[inline(never)]
    fn ready_sorted(&mut self) -> Option<T> {
        let sorted = self.sorted.as_ref()?;
        let ((time, _), _) = sorted.first_key_value()?;
        let is_over = sorted.len() > MOST || self.newest - time > SKEW;
        if is_over { self.next() } else { None }
    }

    /// The next one.
    #[inline(always)]
    pub(crate) fn next(&mut self) -> Option<T> {
        let (time, held) = match &mut self.sorted {
            None => self.few.pop_front().map(|(time, _, held)| (time, held))?,
            Some(sorted) => sorted.pop_first().map(|((time, _), held)| (time, held))?,
        };
        self.gone = self.gone.max(time);
        Some(held)
    }

    /// The next one, if its time is not after that of the latest frame.
    pub(crate) fn next_before(&mut self) -> Option<T> {
        let time = match &self.sorted {
            None => self.few.front().map(|(time, ..)| *time)?,
            Some(sorted) => sorted.first_key_value().map(|((time, _), _)| *time)?,
        };
        if time <= self.now { self.next() } else { None }
    }

    /// The next one, if it has at most this number and nothing was out of order.
    pub(crate) fn next_until(&mut self, number: u64) -> Option<T> {
        let &(_, first, _) = self.few.front()?;
        if first <= number { self.next() } else { None }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.few.is_empty() && self.sorted.as_ref().is_none_or(BTreeMap::is_empty)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(order: &TimeOrder<u64>) -> usize {
        order.few.len() + order.sorted.as_ref().map_or(0, BTreeMap::len)
    }

    #[test]
    fn few_packets_are_held_and_for_a_short_time() {
        let mut order = TimeOrder::default();
        let mut let_go = Vec::new();
        for frame in 1..=10_000_u64 {
            // Then one frame is late, and no time passes.
            let time = if frame == 3_000 { 2_998 } else { frame.min(6_000) };
            if order.passes(time) {
                order.sort();
            }
            order.hold(frame, frame);
            let_go.extend(std::iter::from_fn(|| order.ready()));
            assert!(held(&order) <= if frame < 3_000 { FEW } else { MOST });
        }
        order.passes(6_000 + SKEW + 1);
        let_go.extend(std::iter::from_fn(|| order.ready()));
        assert!(order.is_empty());
        // Of equal times the order of frames counts.
        let expected = (1..=2_998).chain([3_000, 2_999]).chain(3_001..=10_000);
        assert!(let_go.into_iter().eq(expected));
    }

    #[test]
    fn nothing_is_held_of_a_long_capture_in_order_until_a_frame_is_late() {
        let mut order = TimeOrder::default();
        for frame in 1..=2 * FIRST {
            assert!(!order.passes(frame));
            assert_eq!(order.lets_pass(), frame > FIRST + 1);
            order.hold(frame, frame);
            while order.ready().is_some() {}
        }
        assert!(order.is_empty());
        // What came before it is gone.
        assert!(order.passes(2 * FIRST - 1) && !order.stays() && !order.sort());
        order.hold(2 * FIRST + 1, 0);
        assert!(order.ready().is_none() && !order.lets_pass());
        assert!(!order.passes(2 * FIRST + 5));
        assert!(order.passes(2 * FIRST + 3) && order.sort());
    }
}
