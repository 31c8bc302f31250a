//! Every segment sent and not yet acknowledged, and what is known of it.
//!
//! One ring in sequence order, with counters, so that no acknowledgement looks at all of it; the
//! order of sending as a list through the ring (RACK); the segments to be retransmitted as a
//! queue; the SACKed ones also as runs.

#[cfg(test)]
mod audit;
mod block;
mod cutting;
mod marks;
mod order;
mod record;
mod runs;
mod smaller;

use std::collections::VecDeque;
use std::ops::RangeInclusive;

pub(crate) use self::block::Block;
use self::record::{GOES_ON, NONE};
pub(super) use self::record::{Record, Snapshot};
use self::runs::Runs;
pub(super) use self::smaller::Smaller;

/// All segments outstanding. Records have numbers that stay while they live, except that
/// [`Scoreboard::split`] and [`Scoreboard::join`] renumber those behind.
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
    /// Where records to be retransmitted start, ascending; some may have been repaired since.
    to_retransmit: VecDeque<u64>,
    /// Segments SACKed; without SACK, one per duplicate ACK.
    pub(super) sacked_out: u32,
    /// Segments marked lost.
    pub(super) lost_out: u32,
    /// Retransmissions in flight.
    pub(super) retrans_out: u32,
    counted: Counted,
    /// Transmissions so far.
    transmissions: u64,
    /// Segments marked lost so far (`tp->lost`).
    pub(super) lost_total: u64,
}

/// How far losses were marked by counting SACKed segments.
#[derive(Debug, Clone, Copy, Default)]
struct Counted {
    /// The record reached (`lost_skb_hint`).
    number: u64,
    /// SACKed records before it (`lost_cnt_hint`).
    sacked: u32,
}

impl Scoreboard {
    /// Segments outstanding.
    pub(crate) fn packets_out(&self) -> u32 {
        self.records.len() as u32
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// Segments that are not in the network any more (`tcp_left_out`).
    pub(crate) fn left_out(&self) -> u32 {
        self.sacked_out + self.lost_out
    }

    /// Segments in the network, as far as known (`tcp_packets_in_flight`).
    pub(crate) fn in_flight(&self) -> u32 {
        (self.packets_out() + self.retrans_out).saturating_sub(self.left_out())
    }

    /// The first record's number, whether there is one or not.
    pub(crate) fn first(&self) -> u64 {
        self.first
    }

    /// The number behind the last record.
    pub(crate) fn behind(&self) -> u64 {
        self.first + self.records.len() as u64
    }

    pub(crate) fn head(&self) -> Option<&Record> {
        self.records.front()
    }

    pub(crate) fn get(&self, number: u64) -> &Record {
        &self.records[(number - self.first) as usize]
    }

    fn record(&mut self, number: u64) -> &mut Record {
        &mut self.records[(number - self.first) as usize]
    }

    /// The record that `position` lies in.
    pub(crate) fn number_at(&self, position: u64) -> Option<u64> {
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
    pub(crate) fn push(&mut self, start: u64, end: u64, sent: u64, snapshot: Snapshot) {
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
    pub(crate) fn pop(&mut self, is_sack: bool) -> Option<Record> {
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
        self.retrans_out -= u32::from(record.is_retransmitted());
        if self.counted.number <= number {
            self.restart_count();
        } else if record.is_sacked() {
            self.counted.sacked -= 1;
        }
        if self.to_retransmit.front().is_some_and(|&start| start <= record.start) {
            self.to_retransmit.pop_front();
        }
        Some(record)
    }

    /// Joins the last record with the next one: both belong to one burst.
    pub(crate) fn go_on(&mut self) {
        if let Some(last) = self.records.back_mut() {
            last.marks |= GOES_ON;
        }
    }

    /// Separates the records from the rest of their bursts: they leave, and are cut, on their own.
    pub(crate) fn part(&mut self, numbers: RangeInclusive<u64>) {
        for number in [numbers.start().checked_sub(1), Some(*numbers.end())].into_iter().flatten() {
            if number >= self.first && number < self.behind() {
                self.record(number).marks &= !GOES_ON;
            }
        }
    }

    /// Whether the record behind `number` belongs to the same burst and is to be retransmitted,
    /// too.
    pub(crate) fn repairs_with_next(&self, number: u64) -> bool {
        self.get(number).goes_on()
            && number + 1 < self.behind()
            && self.get(number + 1).is_to_retransmit()
    }

    /// Its rate snapshot was used.
    pub(crate) fn use_snapshot(&mut self, number: u64) {
        self.record(number).snapshot.use_up();
    }

    /// The first record that is lost and not yet retransmitted.
    pub(crate) fn next_to_retransmit(&mut self) -> Option<u64> {
        while let Some(&start) = self.to_retransmit.front() {
            if let Some(number) = self.number_at(start)
                && self.get(number).is_to_retransmit()
            {
                return Some(number);
            }
            self.to_retransmit.pop_front();
        }
        None
    }

    fn queue(&mut self, start: u64) {
        if self.to_retransmit.back().is_none_or(|&last| last < start) {
            self.to_retransmit.push_back(start);
        } else if let Err(index) = self.to_retransmit.binary_search(&start) {
            self.to_retransmit.insert(index, start);
        }
    }

    fn settle(&mut self) {
        self.restart_count();
        self.list_anew();
    }

    /// Restarts counting SACKed segments at the first record.
    fn restart_count(&mut self) {
        self.counted = Counted { number: self.first, sacked: 0 };
    }
}
