//! Cutting what is outstanding into smaller segments.

use std::collections::VecDeque;
use std::ops::Range;

use super::record::{EVER, GOES_ON, LISTED, LOST, NONE, RETRANSMITTED, SACKED};
use super::{Record, Scoreboard};

/// How outstanding data is resegmented.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Smaller {
    /// The most data bytes of a segment.
    pub(crate) most: u64,
    /// Where the first outstanding byte is.
    pub(crate) una: u64,
    /// The position behind the last data byte: a FIN behind it takes no room.
    pub(crate) data_end: u64,
    /// Whether each burst is cut on its own; otherwise all adjacent data is cut as one.
    pub(crate) by_bursts: bool,
    /// Whether the segments that were too large are lost.
    pub(crate) is_lost: bool,
}

impl Scoreboard {
    /// Resegments each burst that has an unSACKed segment above `most`, whole and from its first
    /// byte on (`tcp_simple_retransmit`, `tcp_set_skb_tso_segs`).
    pub(crate) fn make_smaller(&mut self, how: &Smaller) {
        let old = std::mem::take(&mut self.records);
        let mut records = VecDeque::with_capacity(old.len());
        let mut at = 0;
        while at < old.len() {
            let end = behind_burst(&old, at, how.by_bursts);
            let size = |record: &Record| {
                record.end().min(how.data_end).saturating_sub(record.start.max(how.una))
            };
            let is_large = old.range(at..end).any(|record| size(record) > how.most);
            if is_large && !old[at].is_sacked() {
                cut(&old, at..end, how, &mut records);
            } else {
                records.extend(old.range(at..end));
            }
            at = end;
        }
        self.records = records;
        self.lost_out = self.count(LOST);
        self.retrans_out = self.count(RETRANSMITTED);
        let to_retransmit = self.records.iter().filter(|record| record.is_to_retransmit());
        self.to_retransmit = to_retransmit.map(|record| record.start).collect();
        self.settle();
    }

    fn count(&self, mark: u8) -> u32 {
        self.records.iter().filter(|record| record.marks & mark != 0).count() as u32
    }
}

/// The number behind the last of the records from `first` on that are cut as one: nothing else
/// became of one than of the others.
fn behind_burst(records: &VecDeque<Record>, first: usize, by_bursts: bool) -> usize {
    let fate = |record: &Record| record.marks & (SACKED | LOST | RETRANSMITTED);
    let mut end = first + 1;
    while end < records.len()
        && (!by_bursts || records[end - 1].goes_on())
        && fate(&records[end]) == fate(&records[first])
    {
        end += 1;
    }
    end
}

fn cut(old: &VecDeque<Record>, burst: Range<usize>, how: &Smaller, out: &mut VecDeque<Record>) {
    let (first, last) = (old[burst.start], old[burst.end - 1]);
    let ever = old.range(burst).fold(0, |ever, record| ever | record.marks & EVER);
    let mut marks = first.marks & !LISTED | ever | GOES_ON;
    if how.is_lost {
        marks = marks & !RETRANSMITTED | LOST;
    }
    let mut start = first.start;
    while start < last.end() {
        let mut end = (start.max(how.una) + how.most).min(last.end());
        // The FIN goes with the last byte.
        if end >= how.data_end {
            end = last.end();
        }
        let len = (end - start) as u32;
        out.push_back(Record { start, len, marks, older: NONE, newer: NONE, ..first });
        start = end;
    }
    if let Some(piece) = out.back_mut() {
        piece.marks = piece.marks & !GOES_ON | last.marks & GOES_ON;
    }
}
