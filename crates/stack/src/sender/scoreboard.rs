//! Every segment sent and not yet acknowledged, and what is known of it.
//!
//! One ring in the order of sequence, with counters, so that no acknowledgement needs to look at
//! all of it; the order of sending as a list through the ring (RACK); the segments to be sent
//! again as a queue; the SACKed ones also as runs.

mod smaller;

use std::collections::VecDeque;

pub(super) use self::smaller::Smaller;
use super::rate::Snapshot;
use super::runs::Runs;

/// The peer said that it has it (TCPCB_SACKED_ACKED).
const SACKED: u8 = 1;
/// Held for lost (TCPCB_LOST).
const LOST: u8 = 2;
/// Sent again, and that repetition is under way (TCPCB_SACKED_RETRANS).
const REPEATED: u8 = 4;
/// Sent more than once (TCPCB_EVER_RETRANS).
const EVER: u8 = 8;
/// Stands in the order of sending.
const LISTED: u8 = 16;
/// Left in one burst with the next (as one `skb`).
const GOES_ON: u8 = 32;

/// No record.
const NONE: u32 = u32::MAX;
/// As much of a record's number as a link holds: there are never that many at once.
const LINK: u64 = 0x7fff_ffff;

/// A segment outstanding: one line of a cache, for large windows are walked through once for each
/// round trip.
#[derive(Debug, Clone, Copy)]
pub(super) struct Record {
    /// Position of its first byte.
    pub(super) start: u64,
    /// When it was last sent, µs.
    pub(super) sent: u64,
    /// Which transmission of all that was, counted from 1.
    pub(super) order: u64,
    /// What was delivered at that time.
    pub(super) snapshot: Snapshot,
    /// Positions, FIN included.
    len: u32,
    /// The low bits of its neighbours' numbers in the order of sending.
    older: u32,
    newer: u32,
    marks: u8,
}

impl Record {
    /// Position behind its last, FIN included.
    pub(super) fn end(&self) -> u64 {
        self.start + u64::from(self.len)
    }
    pub(super) fn is_sacked(&self) -> bool {
        self.marks & SACKED != 0
    }
    pub(super) fn is_lost(&self) -> bool {
        self.marks & LOST != 0
    }
    pub(super) fn is_repeated(&self) -> bool {
        self.marks & REPEATED != 0
    }
    /// Whether it was sent more than once (`TCPCB_RETRANS`).
    pub(super) fn was_repeated(&self) -> bool {
        self.marks & (EVER | REPEATED) != 0
    }
    fn is_to_repeat(&self) -> bool {
        self.marks & (LOST | REPEATED | SACKED) == LOST
    }
    fn goes_on(&self) -> bool {
        self.marks & GOES_ON != 0
    }
}

/// All segments outstanding. Records have numbers that stay while they live (but for
/// [`Scoreboard::split`], which moves those behind).
#[derive(Debug, Default)]
pub(super) struct Scoreboard {
    records: VecDeque<Record>,
    /// The number of the first record.
    first: u64,
    /// Ends of the list in the order of sending.
    oldest: Option<u64>,
    newest: Option<u64>,
    /// What the peer has beyond the first hole.
    pub(super) runs: Runs,
    /// Where records to be sent again start, ascending; some may have been repaired since.
    to_repeat: VecDeque<u64>,
    /// Segments SACKed; without SACK, those that duplicate acknowledgements stand for.
    pub(super) sacked_out: u32,
    /// Segments held for lost.
    pub(super) lost_out: u32,
    /// Repetitions under way.
    pub(super) retrans_out: u32,
    /// How far losses were marked by counting what is SACKed above, and how many SACKed records
    /// lie before it (`lost_skb_hint`, `lost_cnt_hint`).
    counted: (u64, u32),
    /// Transmissions so far.
    transmissions: u64,
}

impl Scoreboard {
    /// Segments outstanding.
    pub(super) fn packets_out(&self) -> u32 {
        self.records.len() as u32
    }

    pub(super) fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// Segments that are not in the network any more (`tcp_left_out`).
    pub(super) fn left_out(&self) -> u32 {
        self.sacked_out + self.lost_out
    }

    /// Segments in the network, as far as known (`tcp_packets_in_flight`).
    pub(super) fn in_flight(&self) -> u32 {
        (self.packets_out() + self.retrans_out).saturating_sub(self.left_out())
    }

    /// The first record's number, whether there is one or not.
    pub(super) fn first(&self) -> u64 {
        self.first
    }

    /// The number behind the last record.
    pub(super) fn behind(&self) -> u64 {
        self.first + self.records.len() as u64
    }

    pub(super) fn head(&self) -> Option<&Record> {
        self.records.front()
    }

    pub(super) fn get(&self, number: u64) -> &Record {
        &self.records[(number - self.first) as usize]
    }

    fn record(&mut self, number: u64) -> &mut Record {
        &mut self.records[(number - self.first) as usize]
    }

    /// The record that `position` lies in.
    pub(super) fn number_at(&self, position: u64) -> Option<u64> {
        let (front, back) = (self.records.front()?, self.records.back()?);
        if position < front.start || position >= back.end() {
            return None;
        }
        // Nearly all segments are full.
        let step = (front.end() - front.start).max(1);
        let guess = (((position - front.start) / step) as usize).min(self.records.len() - 1);
        let found = &self.records[guess];
        if found.start <= position && position < found.end() {
            return Some(self.first + guess as u64);
        }
        Some(self.first + self.records.partition_point(|r| r.end() <= position) as u64)
    }

    /// A segment leaves for the first time.
    pub(super) fn push(&mut self, start: u64, end: u64, sent: u64, snapshot: Snapshot) {
        debug_assert!(start < end && self.records.back().is_none_or(|r| r.end() == start));
        let number = self.behind();
        self.transmissions += 1;
        let order = self.transmissions;
        let len = (end - start) as u32;
        let record =
            Record { start, sent, order, snapshot, len, older: NONE, newer: NONE, marks: 0 };
        self.records.push_back(record);
        self.list(number);
    }

    /// The first record is acknowledged.
    pub(super) fn pop(&mut self, is_sack: bool) -> Option<Record> {
        let number = self.first;
        let record = *self.records.front()?;
        self.unlist(number);
        self.records.pop_front();
        self.first += 1;
        if record.is_sacked() && is_sack {
            self.sacked_out -= 1;
            self.runs.forget_below(record.end());
        }
        self.lost_out -= u32::from(record.is_lost());
        self.retrans_out -= u32::from(record.is_repeated());
        if self.counted.0 <= number {
            self.counted = (self.first, 0);
        } else if record.is_sacked() {
            self.counted.1 -= 1;
        }
        if self.to_repeat.front().is_some_and(|&start| start <= record.start) {
            self.to_repeat.pop_front();
        }
        Some(record)
    }

    /// What left last goes on with what leaves next: both are of one burst.
    pub(super) fn go_on(&mut self) {
        if let Some(last) = self.records.back_mut() {
            last.marks |= GOES_ON;
        }
    }

    /// From here on it is no part of a burst that is cut anew as one.
    pub(super) fn part(&mut self, number: u64) {
        let index = (number - self.first) as usize;
        for record in self.records.iter_mut().take(index + 1).skip(index.saturating_sub(1)) {
            record.marks &= !GOES_ON;
        }
    }

    /// The peer has it.
    pub(super) fn mark_sacked(&mut self, number: u64) {
        let record = self.record(number);
        debug_assert!(!record.is_sacked());
        let was = record.marks;
        record.marks |= SACKED;
        let (start, end) = (record.start, record.end());
        if was & LOST != 0 {
            // A repetition of what was not held for lost is still believed to be under way.
            let record = self.record(number);
            record.marks &= !(LOST | REPEATED);
            self.lost_out -= 1;
            self.retrans_out -= u32::from(was & REPEATED != 0);
        }
        self.sacked_out += 1;
        self.counted.1 += u32::from(number < self.counted.0);
        self.runs.insert(start, end);
        self.unlist(number);
    }

    /// A repetition of it turned out needless and has arrived (D-SACK).
    pub(super) fn unmark_repeated(&mut self, number: u64) {
        let record = self.record(number);
        if record.is_repeated() {
            record.marks &= !REPEATED;
            self.retrans_out -= 1;
        }
    }

    /// Holds it for lost (`tcp_mark_skb_lost`), a repetition of it too. Gives whether that is news.
    pub(super) fn mark_lost(&mut self, number: u64) -> bool {
        let record = self.record(number);
        let was = record.marks;
        if was & SACKED != 0 || was & (LOST | REPEATED) == LOST {
            return false;
        }
        let start = record.start;
        if was & LOST == 0 {
            record.marks |= LOST;
            self.lost_out += 1;
            if was & REPEATED != 0 {
                return true;
            }
        } else {
            record.marks &= !REPEATED;
            self.retrans_out -= 1;
        }
        self.unlist(number);
        self.queue(start);
        true
    }

    /// It was sent again. As `probe` (`__tcp_retransmit_skb` alone) it is only remembered that it
    /// was.
    pub(super) fn mark_repeated(
        &mut self,
        number: u64,
        sent: u64,
        snapshot: Snapshot,
        probe: bool,
    ) {
        self.transmissions += 1;
        let order = self.transmissions;
        let record = self.record(number);
        record.sent = sent;
        record.order = order;
        record.snapshot = snapshot;
        record.marks |= EVER;
        if !probe && record.marks & REPEATED == 0 {
            record.marks |= REPEATED;
            self.retrans_out += 1;
        }
        if !self.get(number).is_sacked() {
            self.unlist(number);
            self.list(number);
        }
    }

    /// Its rate snapshot was used.
    pub(super) fn use_snapshot(&mut self, number: u64) {
        self.record(number).snapshot.use_up();
    }

    /// The first record that is lost and not yet sent again.
    pub(super) fn next_to_repeat(&mut self) -> Option<u64> {
        while let Some(&start) = self.to_repeat.front() {
            if let Some(number) = self.number_at(start)
                && self.get(number).is_to_repeat()
            {
                return Some(number);
            }
            self.to_repeat.pop_front();
        }
        None
    }

    /// Nothing is held for lost any more (undo). `repetitions` too are forgotten where the stack
    /// goes on at the highest byte sent.
    pub(super) fn forget_losses(&mut self, repetitions: bool) {
        let cleared = if repetitions { LOST | REPEATED } else { LOST };
        for record in &mut self.records {
            record.marks &= !cleared;
        }
        self.list_anew();
        self.lost_out = 0;
        if repetitions {
            self.retrans_out = 0;
        }
        self.to_repeat.clear();
        self.counted = (self.first, 0);
    }

    /// What was SACKed is forgotten.
    pub(super) fn forget_sacks(&mut self) {
        for record in &mut self.records {
            record.marks &= !SACKED;
        }
        self.list_anew();
        self.sacked_out = 0;
        self.runs.clear();
        self.counted = (self.first, 0);
    }

    /// Marks by count: all that is not SACKed and has more than `sacked_out - packets` SACKed
    /// segments above it (`tcp_mark_head_lost`); the first alone if `only_head`. Gives how many.
    pub(super) fn mark_counted(&mut self, packets: u32, only_head: bool) -> u32 {
        let (mut number, mut count) = self.counted;
        if number < self.first {
            (number, count) = (self.first, 0);
        }
        if only_head && number > self.first {
            return 0;
        }
        let mut marked = 0;
        while number < self.behind() {
            let is_sacked = self.get(number).is_sacked();
            if count + u32::from(is_sacked) > packets {
                break;
            }
            if !self.get(number).is_lost() {
                marked += u32::from(self.mark_lost(number));
            }
            if only_head {
                break;
            }
            count += u32::from(is_sacked);
            number += 1;
        }
        self.counted = (number, count);
        marked
    }

    /// The record that was sent first, or longest ago, of those neither SACKed nor waiting to be
    /// sent again.
    pub(super) fn oldest_sent(&self) -> Option<u64> {
        self.oldest
    }

    /// The one sent next after it.
    pub(super) fn sent_next(&self, number: u64) -> Option<u64> {
        self.full(self.get(number).newer)
    }

    /// Two of one: the first ends at `position`, which lies inside. Costs as much as there are
    /// records.
    pub(super) fn split(&mut self, number: u64, position: u64) {
        self.cut(number, position);
        self.settle();
    }

    /// One of two: what follows `number` becomes part of it, as far as it is not SACKed, all of it
    /// is not longer than `most` and ends at `last` at the latest. Gives how many records there are
    /// less. Costs as much as there are records, if there is anything to join.
    pub(super) fn join(&mut self, number: u64, most: u64, last: u64) -> u32 {
        let mut joined = 0;
        while number + 1 < self.behind() {
            let (one, next) = (*self.get(number), *self.get(number + 1));
            if next.is_sacked() || next.end() - one.start > most || next.end() > last {
                break;
            }
            self.lost_out -= u32::from(next.is_lost());
            self.retrans_out -= u32::from(next.is_repeated());
            self.records.remove((number + 1 - self.first) as usize);
            let record = self.record(number);
            record.len += next.len;
            record.marks = record.marks & !GOES_ON | next.marks & (EVER | GOES_ON);
            self.settle();
            joined += 1;
        }
        joined
    }

    /// Makes two of one; the lists are wrong until [`Scoreboard::settle`].
    fn cut(&mut self, number: u64, position: u64) {
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
        self.retrans_out += u32::from(second.is_repeated());
        if second.is_to_repeat() {
            self.queue(position);
        }
    }

    fn settle(&mut self) {
        self.counted = (self.first, 0);
        self.list_anew();
    }

    fn queue(&mut self, start: u64) {
        if self.to_repeat.back().is_none_or(|&last| last < start) {
            self.to_repeat.push_back(start);
        } else if let Err(index) = self.to_repeat.binary_search(&start) {
            self.to_repeat.insert(index, start);
        }
    }

    /// The number that a link stands for.
    fn full(&self, link: u32) -> Option<u64> {
        (link != NONE).then(|| self.first + (u64::from(link).wrapping_sub(self.first) & LINK))
    }

    /// Appends to the order of sending.
    fn list(&mut self, number: u64) {
        let newest = self.newest;
        let record = self.record(number);
        debug_assert!(record.marks & LISTED == 0);
        record.marks |= LISTED;
        record.older = newest.map_or(NONE, |last| (last & LINK) as u32);
        record.newer = NONE;
        match newest {
            Some(last) => self.record(last).newer = (number & LINK) as u32,
            None => self.oldest = Some(number),
        }
        self.newest = Some(number);
    }

    /// Makes the order of sending anew after marks were taken back, which is rare.
    fn list_anew(&mut self) {
        (self.oldest, self.newest) = (None, None);
        let mut order = Vec::new();
        for (index, record) in self.records.iter_mut().enumerate() {
            record.marks &= !LISTED;
            if record.marks & SACKED == 0 && !record.is_to_repeat() {
                order.push((record.order, self.first + index as u64));
            }
        }
        order.sort_unstable();
        for (_, number) in order {
            self.list(number);
        }
    }

    fn unlist(&mut self, number: u64) {
        let record = self.record(number);
        if record.marks & LISTED == 0 {
            return;
        }
        record.marks &= !LISTED;
        let (older_link, newer_link) = (record.older, record.newer);
        let (older, newer) = (self.full(older_link), self.full(newer_link));
        match older {
            Some(older) => self.record(older).newer = newer_link,
            None => self.oldest = newer,
        }
        match newer {
            Some(newer) => self.record(newer).older = older_link,
            None => self.newest = older,
        }
    }
}

#[cfg(test)]
impl Scoreboard {
    /// Counters, runs, queue and list against the records one by one.
    pub(super) fn audit(&self, is_sack: bool) {
        let count = |mark: u8| self.records.iter().filter(|r| r.marks & mark != 0).count() as u32;
        if is_sack {
            assert_eq!(self.sacked_out, count(SACKED));
        } else {
            assert_eq!(count(SACKED), 0);
        }
        assert_eq!(self.lost_out, count(LOST));
        assert_eq!(self.retrans_out, count(REPEATED));
        assert!(self.records.iter().all(|r| r.marks & (SACKED | LOST) != SACKED | LOST));
        let sacked = self.records.iter().filter(|r| r.is_sacked());
        assert_eq!(self.runs.bytes(), sacked.map(|r| r.end() - r.start).sum::<u64>());
        let ends = self.records.iter().zip(self.records.iter().skip(1));
        assert!(ends.into_iter().all(|(one, next)| one.end() == next.start));
        let order = self.order();
        assert_eq!(order.len() as u32, count(LISTED));
        assert!(order.windows(2).all(|w| self.get(w[0]).order <= self.get(w[1]).order));
        for (index, record) in self.records.iter().enumerate() {
            let number = self.first + index as u64;
            assert_eq!(self.number_at(record.start), Some(number));
            let wanted = record.is_to_repeat();
            assert!(!wanted || self.to_repeat.contains(&record.start), "{record:?}");
            assert_eq!(record.marks & LISTED != 0, !wanted && !record.is_sacked(), "{record:?}");
        }
    }

    /// All numbers in the order of sending.
    fn order(&self) -> Vec<u64> {
        let mut order = Vec::new();
        let mut at = self.oldest;
        while let Some(number) = at {
            order.push(number);
            at = self.sent_next(number);
        }
        order
    }
}
