//! Sets of stream ranges.

use std::collections::{VecDeque, vec_deque};

use tcplab_units::Offset;

use crate::Range;
use crate::bounds::RANGES;
use crate::fold::folded;

/// How much of a set lies above a place.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Above {
    /// Ranges that do not touch.
    pub(crate) ranges: u64,
    pub(crate) bytes: u64,
}

/// A set of places in the stream: at most [`RANGES`] ranges that neither overlap nor touch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Ranges {
    pieces: VecDeque<Range>,
    total: u64,
    /// Some were forgotten.
    pub(crate) gave_up: bool,
}
folded! { Ranges { pieces, total, gave_up } }

impl Ranges {
    pub(crate) fn of(range: Range) -> Ranges {
        let mut ranges = Ranges::default();
        ranges.insert(range);
        ranges
    }
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }
    #[inline]
    pub(crate) fn total(&self) -> u64 {
        self.total
    }
    pub(crate) fn end(&self) -> Option<Offset> {
        self.pieces.back().map(|r| r.end)
    }
    /// What of the set lies at `from` or after it. As fast as the shorter part is short.
    pub(crate) fn above(&self, from: Offset) -> Above {
        let at = self.pieces.partition_point(|r| r.end <= from);
        let ranges = self.pieces.len() - at;
        let sum = |pieces: vec_deque::Iter<'_, Range>| pieces.map(|r| r.len()).sum::<u64>();
        let whole = if at < ranges {
            self.total - sum(self.pieces.range(..at))
        } else {
            sum(self.pieces.range(at..))
        };
        let below =
            self.pieces.get(at).map_or(0, |r| from.as_u64().saturating_sub(r.start.as_u64()));
        Above { ranges: ranges as u64, bytes: whole - below }
    }
    /// Whether all of `range` is in the set.
    pub(crate) fn covers(&self, range: Range) -> bool {
        let at = self.first_reaching(range.start);
        range.is_empty()
            || self.pieces.get(at).is_some_and(|r| r.start <= range.start && range.end <= r.end)
    }
    /// The parts of `range` that are not in the set.
    pub(crate) fn missing(&self, range: Range) -> Vec<Range> {
        let mut missing = Vec::new();
        let mut from = range.start;
        for held in self.pieces.iter().skip(self.first_reaching(range.start)) {
            if held.start >= range.end {
                break;
            }
            if held.start > from {
                missing.push(Range { start: from, end: held.start });
            }
            from = from.max(held.end);
        }
        if from < range.end {
            missing.push(Range { start: from, end: range.end });
        }
        missing
    }
    /// The first part of `range` that is not in the set.
    pub(crate) fn first_missing(&self, range: Range) -> Option<Range> {
        let mut from = range.start;
        for held in self.pieces.iter().skip(self.first_reaching(range.start)) {
            if held.start > from {
                return Some(Range { start: from, end: held.start.min(range.end) })
                    .filter(|piece| !piece.is_empty());
            }
            from = held.end;
        }
        Some(Range { start: from, end: range.end }).filter(|piece| !piece.is_empty())
    }
    /// Whether some of `range` is in the set.
    #[inline]
    pub(crate) fn meets(&self, range: Range) -> bool {
        !self.pieces.is_empty() && self.meets_one(range)
    }
    fn meets_one(&self, range: Range) -> bool {
        let at = self.first_reaching(range.start);
        !range.is_empty() && self.pieces.get(at).is_some_and(|r| r.overlaps(range))
    }
    pub(crate) fn insert(&mut self, range: Range) {
        if range.is_empty() {
            return;
        }
        // Touching ranges melt into one.
        let from = self.pieces.partition_point(|r| r.end < range.start);
        let to = self.pieces.partition_point(|r| r.start <= range.end);
        let mut merged = range;
        for old in self.pieces.drain(from..to) {
            self.total -= old.len();
            merged = Range { start: merged.start.min(old.start), end: merged.end.max(old.end) };
        }
        self.total += merged.len();
        self.pieces.insert(from, merged);
        self.make_room();
    }
    #[inline]
    pub(crate) fn remove(&mut self, range: Range) {
        if self.meets(range) {
            self.cut_out(range);
        }
    }
    fn cut_out(&mut self, range: Range) {
        let from = self.first_reaching(range.start);
        let to = self.pieces.partition_point(|r| r.start < range.end);
        let taken: Vec<Range> = self.pieces.drain(from..to).collect();
        let before = Range { start: taken[0].start, end: range.start };
        let behind = Range { start: range.end, end: taken[taken.len() - 1].end };
        self.total -= taken.iter().map(|r| r.len()).sum::<u64>();
        for left in [behind, before].into_iter().filter(|r| !r.is_empty()) {
            self.total += left.len();
            self.pieces.insert(from, left);
        }
        self.make_room();
    }
    fn make_room(&mut self) {
        if self.pieces.len() > RANGES.most()
            && let Some(first) = self.pieces.pop_front()
        {
            self.total -= first.len();
            self.gave_up = true;
        }
    }
    #[inline]
    pub(crate) fn remove_before(&mut self, offset: Offset) {
        self.remove(Range { start: Offset::ZERO, end: offset });
    }

    /// Index of the first range that ends behind `offset`.
    fn first_reaching(&self, offset: Offset) -> usize {
        self.pieces.partition_point(|r| r.end <= offset)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn range(start: u64, end: u64) -> Range {
        Range { start: Offset::new(start), end: Offset::new(end) }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]
        #[test]
        fn ranges_any_inserts_match_a_set_of_bytes(
            steps in prop::collection::vec((any::<bool>(), 0_u64..60, 0_u64..20), 1..40),
            asked in (0_u64..60, 0_u64..20),
        ) {
            let (mut ranges, mut bytes) = (Ranges::default(), BTreeSet::new());
            for (add, start, len) in steps {
                if add {
                    ranges.insert(range(start, start + len));
                    bytes.extend(start..start + len);
                } else {
                    ranges.remove(range(start, start + len));
                    bytes.retain(|b| !(start..start + len).contains(b));
                }
            }
            let (from, to) = (asked.0, asked.0 + asked.1);
            let held: Vec<u64> =
                ranges.pieces.iter().flat_map(|r| r.start.as_u64()..r.end.as_u64()).collect();
            let missing: Vec<u64> = ranges.missing(range(from, to)).iter()
                .flat_map(|r| r.start.as_u64()..r.end.as_u64()).collect();
            prop_assert_eq!(&held, &bytes.iter().copied().collect::<Vec<_>>());
            prop_assert_eq!(ranges.total(), bytes.len() as u64);
            prop_assert_eq!(ranges.covers(range(from, to)), (from..to).all(|b| bytes.contains(&b)));
            prop_assert_eq!(ranges.meets(range(from, to)), (from..to).any(|b| bytes.contains(&b)));
            let above = ranges.above(Offset::new(from));
            let behind = ranges.pieces.iter().filter(|r| r.end > Offset::new(from)).count();
            prop_assert_eq!(above.bytes, bytes.iter().filter(|b| **b >= from).count() as u64);
            prop_assert_eq!(above.ranges, behind as u64);
            let first_missing = ranges.missing(range(from, to)).first().copied();
            prop_assert_eq!(ranges.first_missing(range(from, to)), first_missing);
            prop_assert_eq!(missing, (from..to).filter(|b| !bytes.contains(b)).collect::<Vec<_>>());
        }
    }
}
