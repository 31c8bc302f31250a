//! Which bytes of a stream are known to have arrived.

use std::collections::BTreeMap;
use tcplab_trace::Range;

/// A set of bytes as disjoint ranges that do not touch.
#[derive(Debug, Clone, Default)]
pub(crate) struct Coverage {
    ranges: BTreeMap<u64, u64>,
}

impl Coverage {
    /// Adds a range; returns the parts that are new.
    pub(crate) fn add(&mut self, range: Range) -> Vec<(u64, u64)> {
        let (mut start, mut end) = (range.start.as_u64(), range.end.as_u64());
        let mut new = Vec::new();
        if start >= end {
            return new;
        }
        let mut from = start;
        let touching: Vec<(u64, u64)> = self
            .ranges
            .range(..=end)
            .rev()
            .take_while(|(_, e)| **e >= start)
            .map(|(s, e)| (*s, *e))
            .collect();
        for (s, e) in touching.into_iter().rev() {
            if from < s {
                new.push((from, s));
            }
            from = from.max(e);
            start = start.min(s);
            end = end.max(e);
            self.ranges.remove(&s);
        }
        if from < range.end.as_u64() {
            new.push((from, range.end.as_u64()));
        }
        self.ranges.insert(start, end);
        new
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tcplab_units::Offset;

    #[test]
    fn adding_returns_new_ranges() {
        let mut coverage = Coverage::default();
        for (start, end, new) in [
            (10, 20, vec![(10, 20)]),
            (10, 20, vec![]),
            (30, 40, vec![(30, 40)]),
            (20, 25, vec![(20, 25)]),
            (5, 50, vec![(5, 10), (25, 30), (40, 50)]),
            (0, 60, vec![(0, 5), (50, 60)]),
            (7, 7, vec![]),
        ] {
            let range = Range { start: Offset::new(start), end: Offset::new(end) };
            assert_eq!(coverage.add(range), new, "{start}-{end}");
        }
        assert_eq!(coverage.ranges, BTreeMap::from([(0, 60)]));
    }
}
