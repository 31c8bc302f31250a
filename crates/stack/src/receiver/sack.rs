//! The blocks of a SACK option.

use std::ops::Range;

/// Blocks remembered (`TCP_NUM_SACKS`).
const MOST: usize = 4;

/// Blocks received out of order, the most recent first (RFC 2018 section 4), and what was received
/// twice (RFC 2883).
///
/// As in Linux it remembers four blocks and no more: a block that was pushed out is reported again
/// only when something next to it arrives.
#[derive(Debug, Default, Clone)]
pub(super) struct SackList {
    blocks: [(u64, u64); MOST],
    count: usize,
    twice: Option<(u64, u64)>,
    /// Where the last of those began.
    last_twice: Option<u64>,
}

impl SackList {
    /// The blocks, most recent first.
    pub(super) fn blocks(&self) -> &[(u64, u64)] {
        &self.blocks[..self.count]
    }

    /// What was received twice, to be reported once.
    pub(super) fn twice(&self) -> Option<(u64, u64)> {
        self.twice
    }

    /// Something was received twice.
    pub(super) fn set_twice(&mut self, twice: Range<u64>) {
        self.twice = Some((twice.start, twice.end));
        self.last_twice = Some(twice.start);
    }

    /// Where the last duplicate began, reported or not.
    pub(super) fn last_twice(&self) -> Option<u64> {
        self.last_twice
    }

    /// Extends the duplicate range, if it is adjacent (`tcp_dsack_extend`).
    pub(super) fn extend_twice(&mut self, twice: Range<u64>) {
        match &mut self.twice {
            None => self.set_twice(twice),
            Some(range) => {
                extend(range, (twice.start, twice.end));
            }
        }
    }

    pub(super) fn clear_twice(&mut self) {
        self.twice = None;
    }

    /// Something will be added (`tcp_sack_new_ofo_skb`): the block that touches it takes it in, but
    /// keeps its place. Gives the number of blocks that had to be looked at: those behind the
    /// second may not be reported if acknowledgements are lost.
    pub(super) fn find(&mut self, range: Range<u64>) -> usize {
        let new = (range.start, range.end);
        let touches = |block: &mut (u64, u64)| extend(block, new);
        self.blocks[..self.count].iter_mut().position(touches).unwrap_or(self.count)
    }

    /// Something arrived out of order (`tcp_sack_new_ofo_skb`).
    pub(super) fn add(&mut self, range: Range<u64>) {
        let at = self.find(range.clone());
        if at < self.count {
            self.blocks[..=at].rotate_right(1);
            self.merge_into_first();
            return;
        }
        self.count = (self.count + 1).min(MOST);
        self.blocks[..self.count].rotate_right(1);
        self.blocks[0] = (range.start, range.end);
    }

    fn merge_into_first(&mut self) {
        let mut at = 1;
        while at < self.count {
            let other = self.blocks[at];
            if extend(&mut self.blocks[0], other) {
                self.blocks[at..self.count].rotate_left(1);
                self.count -= 1;
            } else {
                at += 1;
            }
        }
    }

    /// Everything below `next` is in order: removes such blocks (`tcp_sack_remove`).
    pub(super) fn remove_below(&mut self, next: u64) {
        let mut kept = 0;
        for at in 0..self.count {
            if self.blocks[at].0 > next {
                self.blocks[kept] = self.blocks[at];
                kept += 1;
            }
        }
        self.count = kept;
    }

    /// The right-most edge of any block.
    pub(super) fn highest(&self) -> Option<u64> {
        self.blocks().iter().map(|block| block.1).max()
    }

    pub(super) fn clear(&mut self) {
        self.count = 0;
    }
}

/// Makes `block` take in `other` where they touch; whether they do (`tcp_sack_extend`).
fn extend(block: &mut (u64, u64), other: (u64, u64)) -> bool {
    let touch = other.0 <= block.1 && block.0 <= other.1;
    if touch {
        *block = (block.0.min(other.0), block.1.max(other.1));
    }
    touch
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 2018 section 4, case 3 as its table has it: segments of 500 bytes from 5000 on; the
    /// second, fourth, sixth and eighth are lost, then the fourth arrives, then the second.
    #[test]
    fn sack_example_of_rfc_2018_is_reproduced() {
        let mut list = SackList::default();
        let steps = [
            (5500..6000, vec![(5500, 6000)]),
            (6500..7000, vec![(6500, 7000), (5500, 6000)]),
            (7500..8000, vec![(7500, 8000), (6500, 7000), (5500, 6000)]),
            (8500..9000, vec![(8500, 9000), (7500, 8000), (6500, 7000), (5500, 6000)]),
            // The fourth segment closes a gap: both blocks become one, and the first.
            (7000..7500, vec![(6500, 8000), (8500, 9000), (5500, 6000)]),
        ];
        for (arrived, blocks) in steps {
            list.add(arrived);
            assert_eq!(list.blocks(), blocks);
        }
        assert_eq!(list.highest(), Some(9000));
        list.remove_below(8000);
        assert_eq!(list.blocks(), [(8500, 9000)]);
    }

    #[test]
    fn sack_list_keeps_four_blocks() {
        let mut list = SackList::default();
        for n in 0..6 {
            list.add(n * 100..n * 100 + 10);
        }
        assert_eq!(list.blocks(), [(500, 510), (400, 410), (300, 310), (200, 210)]);
    }

    #[test]
    fn sack_duplicate_block_grows_if_adjacent() {
        let mut list = SackList::default();
        list.extend_twice(10..20);
        list.extend_twice(20..30);
        list.extend_twice(50..60);
        assert_eq!(list.twice(), Some((10, 30)));
    }
}
