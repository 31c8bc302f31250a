//! The queue of events, whose order is the same each time.

use tcplab_units::Instant;

/// Wake-ups of a few sources, each of which has one at most. Of those due at the same time the
/// source of the smaller rank comes first, so that nothing is left to chance.
///
/// Sources change their wake-up with almost every packet, so nothing is sorted: a scan of a handful
/// costs less than a heap, and leaves no stale wake-up behind.
#[derive(Debug)]
pub(crate) struct EventQueue {
    /// When each source is to be woken.
    due: Vec<Option<Instant>>,
}

impl EventQueue {
    /// No wake-ups of so many sources.
    pub(crate) fn new(sources: usize) -> EventQueue {
        EventQueue { due: vec![None; sources] }
    }

    /// Inserts sources at `at`; the numbers of the sources from `at` on grow by as many.
    pub(crate) fn insert(&mut self, at: usize, sources: usize) {
        self.due.splice(at..at, std::iter::repeat_n(None, sources));
    }

    /// `source` wants to be woken at `due`, and at no other time that it named before.
    pub(crate) fn set(&mut self, source: usize, due: Option<Instant>) {
        self.due[source] = due;
    }

    /// The next wake-up, which is then forgotten. Of those due at the same time the source with the
    /// smaller `rank` comes first, whatever its number.
    pub(crate) fn pop_by(&mut self, rank: impl Fn(usize) -> usize) -> Option<(Instant, usize)> {
        let due = self.due.iter().enumerate();
        let due = due.filter_map(|(source, at)| Some(((*at)?, source)));
        let (at, source) = due.min_by(|one, other| {
            one.0.cmp(&other.0).then_with(|| rank(one.1).cmp(&rank(other.1)))
        })?;
        self.due[source] = None;
        Some((at, source))
    }

    /// The same with the number of a source as its rank.
    #[cfg(test)]
    fn pop(&mut self) -> Option<(Instant, usize)> {
        self.pop_by(|source| source)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(nanos: u64) -> Instant {
        Instant::from_nanos(nanos)
    }

    #[test]
    fn wake_ups_are_ordered_by_time_then_by_source() {
        let mut queue = EventQueue::new(4);
        for (source, nanos) in [(3, 5), (1, 7), (2, 5), (0, 9)] {
            queue.set(source, Some(at(nanos)));
        }
        let order: Vec<_> = std::iter::from_fn(|| queue.pop()).collect();
        assert_eq!(order, [(at(5), 2), (at(5), 3), (at(7), 1), (at(9), 0)]);
    }

    #[test]
    fn inserted_sources_push_later_ones_up() {
        let mut queue = EventQueue::new(3);
        for (source, nanos) in [(0, 9), (1, 7), (2, 7)] {
            queue.set(source, Some(at(nanos)));
        }
        queue.insert(1, 2);
        queue.set(2, Some(at(7)));
        let order: Vec<_> = std::iter::from_fn(|| queue.pop()).collect();
        assert_eq!(order, [(at(7), 2), (at(7), 3), (at(7), 4), (at(9), 0)]);
    }

    #[test]
    fn source_rescheduled_keeps_only_last_wake_up() {
        let mut queue = EventQueue::new(2);
        queue.set(0, Some(at(5)));
        queue.set(0, Some(at(8)));
        queue.set(1, Some(at(6)));
        queue.set(0, Some(at(3)));
        queue.set(1, None);
        assert_eq!(queue.pop(), Some((at(3), 0)));
        assert_eq!(queue.pop(), None);
        queue.set(0, Some(at(8)));
        assert_eq!(queue.pop(), Some((at(8), 0)));
        assert_eq!(queue.pop(), None);
    }
}
