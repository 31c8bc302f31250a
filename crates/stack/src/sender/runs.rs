//! Ranges of positions that do not touch, ascending.

use std::collections::VecDeque;

/// What the peer holds beyond the first hole: whole segments only.
#[derive(Debug, Default)]
pub(super) struct Runs(VecDeque<(u64, u64)>);

impl Runs {
    /// The position behind the highest.
    pub(super) fn highest(&self) -> Option<u64> {
        self.0.back().map(|run| run.1)
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Takes a range in that does not overlap any.
    pub(super) fn insert(&mut self, start: u64, end: u64) {
        let at = self.0.partition_point(|run| run.1 < start);
        let joins_before = self.0.get(at).is_some_and(|run| run.1 == start);
        let after = at + usize::from(joins_before);
        let joins_after = self.0.get(after).is_some_and(|run| run.0 == end);
        match (joins_before, joins_after) {
            (true, true) => {
                self.0[at].1 = self.0[after].1;
                self.0.remove(after);
            }
            (true, false) => self.0[at].1 = end,
            (false, true) => self.0[after].0 = start,
            (false, false) => self.0.insert(at, (start, end)),
        }
    }

    /// Forgets all below `position`.
    pub(super) fn forget_below(&mut self, position: u64) {
        while let Some(first) = self.0.front_mut() {
            if first.1 > position {
                first.0 = first.0.max(position);
                return;
            }
            self.0.pop_front();
        }
    }

    /// The first part of `start..end` that no run covers.
    pub(super) fn gap(&self, start: u64, end: u64) -> Option<(u64, u64)> {
        let at = self.0.partition_point(|run| run.1 <= start);
        let from = match self.0.get(at) {
            Some(run) if run.0 <= start => run.1,
            _ => start,
        };
        if from >= end {
            return None;
        }
        let next = at + usize::from(from != start);
        let to = self.0.get(next).map_or(end, |run| run.0.min(end));
        Some((from, to))
    }

    #[cfg(test)]
    pub(super) fn bytes(&self) -> u64 {
        self.0.iter().map(|run| run.1 - run.0).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_join_and_leave_gaps() {
        let mut runs = Runs::default();
        runs.insert(10, 20);
        runs.insert(30, 40);
        assert_eq!(runs.gap(0, 50), Some((0, 10)));
        assert_eq!(runs.gap(10, 50), Some((20, 30)));
        assert_eq!(runs.gap(12, 18), None);
        assert_eq!(runs.gap(30, 50), Some((40, 50)));
        runs.insert(20, 30);
        assert_eq!(runs.0, [(10, 40)]);
        runs.insert(40, 45);
        runs.insert(5, 10);
        assert_eq!((runs.highest(), runs.bytes()), (Some(45), 40));
        runs.forget_below(12);
        assert_eq!(runs.0, [(12, 45)]);
        runs.forget_below(45);
        assert_eq!(runs.highest(), None);
    }
}
