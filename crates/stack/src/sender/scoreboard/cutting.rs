//! Cutting a segment in two and joining small ones.

use super::Scoreboard;
use super::record::{EVER, GOES_ON, LISTED, LOST, RETRANSMITTED, SACKED};

impl Scoreboard {
    /// Two of one: the first ends at `position`, which lies inside. Costs as much as there are
    /// records.
    pub(crate) fn split(&mut self, number: u64, position: u64) {
        self.cut(number, position);
        self.settle();
    }

    /// One of two: what follows `number` becomes part of it, as far as it is not SACKed, all of it
    /// is not longer than `most` and ends at `last` at the latest. Gives how many records there are
    /// less. Costs as much as there are records, if there is anything to join.
    pub(crate) fn join(&mut self, number: u64, most: u64, last: u64) -> u32 {
        let mut joined = 0;
        while number + 1 < self.behind() {
            let (one, next) = (*self.get(number), *self.get(number + 1));
            if next.is_sacked() || next.end() - one.start > most || next.end() > last {
                break;
            }
            self.lost_out -= u32::from(next.is_lost());
            self.retrans_out -= u32::from(next.is_retransmitted());
            self.records.remove((number + 1 - self.first) as usize);
            let record = self.record(number);
            record.len += next.len;
            record.marks = record.marks & !GOES_ON | next.marks & (EVER | GOES_ON);
            self.settle();
            joined += 1;
        }
        joined
    }

    /// All below `una` is acknowledged. A burst is cut anew from there if that is within its first
    /// segment: full segments, and the rest last (`tcp_tso_acked`, `tcp_trim_head`). Of those that
    /// were SACKed, lost or sent again, each stays what it was.
    pub(crate) fn trim_burst(&mut self, una: u64) {
        let at = self.records.partition_point(|record| record.end() <= una);
        let Some(head) = self.records.get(at) else { return };
        if head.start >= una || !head.goes_on() {
            return;
        }
        let full = u64::from(head.len);
        let behind = self.records.range(at..).position(|record| !record.goes_on());
        let last = behind.map_or(self.records.len() - 1, |count| at + count);
        let changed = SACKED | LOST | RETRANSMITTED | EVER;
        if self.records.range(at..=last).any(|record| record.marks & changed != 0) {
            return;
        }
        let end = self.records[last].end();
        let count = (last + 1 - at) as u64;
        let fewer = count.checked_sub((end - una).div_ceil(full));
        let Some(fewer @ 0..=1) = fewer else { return };
        let mut next = una;
        let mut index = at;
        if fewer == 1 {
            // The first takes all that is acknowledged.
            self.records[at].len = (una - self.records[at].start) as u32;
            index += 1;
        }
        while index <= last {
            let to = if index == last { end } else { next + full };
            let record = &mut self.records[index];
            (record.start, record.len) = (next, (to - next) as u32);
            next = to;
            index += 1;
        }
    }

    /// Makes two of one; the lists are wrong until [`Scoreboard::settle`].
    pub(super) fn cut(&mut self, number: u64, position: u64) {
        let index = (number - self.first) as usize;
        let mut second = self.records[index];
        debug_assert!(second.start < position && position < second.end() && !second.is_sacked());
        let cut = (position - second.start) as u32;
        self.records[index].len = cut;
        self.records[index].marks &= !GOES_ON;
        second.start = position;
        second.len -= cut;
        for record in &mut self.records {
            record.marks &= !LISTED;
        }
        (self.oldest, self.newest) = (None, None);
        self.records.insert(index + 1, second);
        self.lost_out += u32::from(second.is_lost());
        self.retrans_out += u32::from(second.is_retransmitted());
        if second.is_to_retransmit() {
            self.queue(position);
        }
    }
}
