//! Ranges of positions that do not touch, ascending.

use std::collections::VecDeque;

use super::Block;

/// What the peer holds beyond the first hole: whole segments only.
#[derive(Debug, Default)]
pub(crate) struct Runs(VecDeque<Block>);

impl Runs {
    /// The position after the highest.
    pub(crate) fn highest(&self) -> Option<u64> {
        self.0.back().map(|run| run.end)
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// Adds a range that overlaps none.
    pub(crate) fn insert(&mut self, start: u64, end: u64) {
        let at = self.0.partition_point(|run| run.end < start);
        let joins_before = self.0.get(at).is_some_and(|run| run.end == start);
        let after = at + usize::from(joins_before);
        let joins_after = self.0.get(after).is_some_and(|run| run.start == end);
        match (joins_before, joins_after) {
            (true, true) => {
                self.0[at].end = self.0[after].end;
                self.0.remove(after);
            }
            (true, false) => self.0[at].end = end,
            (false, true) => self.0[after].start = start,
            (false, false) => self.0.insert(at, Block { start, end }),
        }
    }

    /// Forgets all below `position`.
    pub(crate) fn forget_below(&mut self, position: u64) {
        while let Some(first) = self.0.front_mut() {
            if first.end > position {
                first.start = first.start.max(position);
                return;
            }
            self.0.pop_front();
        }
    }

    /// The first part of `start..end` that no run covers.
    pub(crate) fn gap(&self, start: u64, end: u64) -> Option<Block> {
        let at = self.0.partition_point(|run| run.end <= start);
        let from = match self.0.get(at) {
            Some(run) if run.start <= start => run.end,
            _ => start,
        };
        if from >= end {
            return None;
        }
        let next = at + usize::from(from != start);
        let to = self.0.get(next).map_or(end, |run| run.start.min(end));
        Some(Block { start: from, end: to })
    }

    /// How many positions they are.
    pub(crate) fn bytes(&self) -> u64 {
        self.0.iter().map(|run| run.end - run.start).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(start: u64, end: u64) -> Block {
        Block { start, end }
    }

    #[test]
    fn runs_adjacent_ranges_join() {
        let mut runs = Runs::default();
        runs.insert(10, 20);
        runs.insert(30, 40);
        assert_eq!(runs.gap(0, 50), Some(block(0, 10)));
        assert_eq!(runs.gap(10, 50), Some(block(20, 30)));
        assert_eq!(runs.gap(12, 18), None);
        assert_eq!(runs.gap(30, 50), Some(block(40, 50)));
        runs.insert(20, 30);
        assert_eq!(runs.0, [block(10, 40)]);
        runs.insert(40, 45);
        runs.insert(5, 10);
        assert_eq!((runs.highest(), runs.bytes()), (Some(45), 40));
        runs.forget_below(12);
        assert_eq!(runs.0, [block(12, 45)]);
        runs.forget_below(45);
        assert_eq!(runs.highest(), None);
    }
}
