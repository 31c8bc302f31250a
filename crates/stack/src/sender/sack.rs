//! What SACK blocks say (RFC 2018, 2883; `tcp_sacktag_write_queue`).

use super::ack::Facts;
use super::{Ack, Sender};
use crate::congestion::State;

/// As many blocks fit the option.
const MOST: usize = 4;

impl Sender {
    /// The position behind the highest segment SACKed; without any, the first outstanding.
    pub(super) fn highest_sacked(&self) -> u64 {
        self.board.runs.highest().unwrap_or(self.window.una)
    }

    /// Marks what the blocks cover that was not known. Costs as much as is new.
    pub(super) fn hear_sack(&mut self, now: u64, ack: &Ack<'_>, facts: &mut Facts) {
        let is_dsack = self.check_dsack(ack, facts);
        if ack.position + self.most_window < facts.prior_una || self.board.is_empty() {
            return;
        }
        let mut blocks = [(0, 0, false); MOST];
        let mut count = 0;
        for (index, &(start, end)) in ack.sack.iter().take(MOST).enumerate() {
            let dsack = is_dsack && index == 0;
            if self.is_valid(dsack, start, end) && end > facts.prior_una {
                blocks[count] = (start, end, dsack);
                count += 1;
            }
        }
        let blocks = &mut blocks[..count];
        blocks.sort_unstable_by_key(|block| block.0);
        for &(start, end, dsack) in blocks.iter() {
            if dsack {
                self.walk(now, (start, end), (start, end), true, facts);
                continue;
            }
            let mut from = start;
            while let Some(gap) = self.board.runs.gap(from, end) {
                self.walk(now, (start, end), gap, false, facts);
                from = gap.1;
            }
        }
        if (self.window.state != State::Loss || self.undo.marker.is_some())
            && facts.late < self.window.nxt
        {
            self.learn_reordering(facts.late);
        }
    }

    /// Whether the first block is a D-SACK (RFC 2883 section 4) that repetitions of ours explain
    /// (`tcp_check_dsack`, `tcp_dsack_seen`).
    fn check_dsack(&mut self, ack: &Ack<'_>, facts: &mut Facts) -> bool {
        let (start, end) = ack.sack[0];
        let inside = ack.sack.get(1).is_some_and(|next| next.0 <= start && end <= next.1);
        if (start >= ack.position && !inside) || start >= end {
            return false;
        }
        let len = end - start;
        if len > self.most_window {
            return false;
        }
        let mss = u64::from(self.window.mss);
        let mut of_probe = false;
        let mut segments = 1;
        if len > mss {
            segments = len.div_ceil(mss) as u32;
        } else {
            of_probe = self.probe.ends_at(end);
        }
        self.counters.dsacks += u64::from(segments);
        facts.dsack_of_probe |= of_probe;
        if self.counters.dsacks > self.counters.total_retrans {
            return false;
        }
        // RACK widens its window only for what reordering can have caused.
        if self.counters.reorderings > 0 && !of_probe {
            self.rack.dsack_seen = true;
        }
        facts.dsack = true;
        facts.sack_delivered += segments;
        if self.undo.marker.is_some_and(|marker| end > marker) && end <= facts.prior_una {
            self.count_needless(segments);
        }
        true
    }

    fn count_needless(&mut self, segments: u32) {
        if let Some(repeated) = self.undo.repeated.filter(|&n| n > 0) {
            self.undo.repeated = Some(repeated.saturating_sub(segments));
        }
    }

    /// `tcp_is_sackblock_valid`.
    fn is_valid(&self, dsack: bool, start: u64, end: u64) -> bool {
        if end > self.window.nxt || start >= end {
            return false;
        }
        if start > self.window.una {
            return true;
        }
        let Some(marker) = self.undo.marker.filter(|_| dsack) else { return false };
        end <= self.window.una
            && (start >= marker || (end > marker && start + self.most_window >= end))
    }

    /// All records in `part` of `block` that lie wholly in the block.
    fn walk(
        &mut self,
        now: u64,
        block: (u64, u64),
        part: (u64, u64),
        dsack: bool,
        facts: &mut Facts,
    ) {
        let Some(mut number) = self.board.number_at(part.0.max(self.window.una)) else { return };
        while number < self.board.behind() {
            let record = self.board.get(number);
            if record.start >= part.1 {
                return;
            }
            if block.0 <= record.start && record.end() <= block.1 {
                self.take_sacked(now, number, dsack, facts);
            }
            number += 1;
        }
    }

    /// One segment that a block covers (`tcp_sacktag_one`).
    fn take_sacked(&mut self, now: u64, number: u64, dsack: bool, facts: &mut Facts) {
        let record = *self.board.get(number);
        if dsack && record.was_repeated() {
            if self.undo.marker.is_some_and(|marker| record.end() > marker) {
                self.count_needless(1);
            }
            if record.is_sacked() {
                facts.late = facts.late.min(record.start);
            }
        }
        if record.end() <= self.window.una {
            return;
        }
        if !record.is_sacked() {
            self.advance_rack(now, &record);
            if !record.was_repeated() {
                // Sent once, and a hole until now: it was overtaken.
                if record.start < self.highest_sacked() {
                    facts.late = facts.late.min(record.start);
                }
                facts.original |= record.end() <= self.high;
                facts.first_sacked = facts.first_sacked.or(Some(record.sent));
                facts.last_sacked = Some(record.sent);
            }
            self.board.mark_sacked(number);
            facts.sacked = true;
            facts.sack_delivered += 1;
            facts.delivery.take(&mut self.rate, &record);
            self.board.use_snapshot(number);
        }
        if dsack {
            self.board.unmark_repeated(number);
        }
    }

    /// Something at `lowest` came after what was sent behind it (`tcp_check_sack_reordering`).
    pub(super) fn learn_reordering(&mut self, lowest: u64) {
        let highest = self.highest_sacked();
        if lowest >= highest {
            return;
        }
        let distance = highest - lowest;
        let mss = u64::from(self.window.mss);
        if distance > u64::from(self.reordering) * mss {
            let segments = distance.div_ceil(mss) as u32;
            self.reordering = segments.min(self.config.recovery.most_reordering);
        }
        self.counters.reorderings += 1;
    }
}
