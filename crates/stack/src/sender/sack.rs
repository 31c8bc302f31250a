//! Processing SACK blocks (RFC 2018, 2883; `tcp_sacktag_write_queue`).

use super::Sender;
use super::facts::{Facts, SentTimes};
use super::interface::Ack;
use super::scoreboard::Block;
use crate::congestion::State;

/// As many blocks fit the option.
const MOST: usize = 4;

impl Sender {
    /// The position after the highest SACKed segment; without any, the first outstanding one.
    pub(super) fn highest_sacked(&self) -> u64 {
        self.scoreboard.runs.highest().unwrap_or(self.window.una)
    }

    /// Marks segments that the blocks cover. Costs as much as is newly covered.
    pub(super) fn process_sack(&mut self, now: u64, ack: &Ack<'_>, facts: &mut Facts) {
        let has_dsack = self.check_dsack(ack, facts);
        if ack.position + self.peer.largest_window < facts.before.una || self.scoreboard.is_empty()
        {
            return;
        }
        let mut blocks = [(Block::default(), false); MOST];
        let mut count = 0;
        for (index, &block) in ack.sack.iter().take(MOST).enumerate() {
            let is_dsack = has_dsack && index == 0;
            if self.is_valid(block, is_dsack) && block.end > facts.before.una {
                blocks[count] = (block, is_dsack);
                count += 1;
            }
        }
        let blocks = &mut blocks[..count];
        blocks.sort_unstable_by_key(|(block, _)| block.start);
        for &(block, is_dsack) in blocks.iter() {
            if is_dsack {
                self.process_part(now, block, block, true, facts);
                continue;
            }
            let mut from = block.start;
            while let Some(gap) = self.scoreboard.runs.gap(from, block.end) {
                self.process_part(now, block, gap, false, facts);
                from = gap.end;
            }
        }
        if (self.window.state != State::Loss || self.undo.marker.is_some())
            && facts.sack.late < self.window.nxt
        {
            self.learn_reordering(facts.sack.late);
        }
    }

    /// Whether the first block is a D-SACK (RFC 2883 section 4) that own retransmissions explain
    /// (`tcp_check_dsack`, `tcp_dsack_seen`).
    fn check_dsack(&mut self, ack: &Ack<'_>, facts: &mut Facts) -> bool {
        let block = ack.sack[0];
        let Block { start, end } = block;
        let inside = ack.sack.get(1).is_some_and(|next| next.contains(block));
        if (start >= ack.position && !inside) || start >= end {
            return false;
        }
        let len = end - start;
        if len > self.peer.largest_window {
            return false;
        }
        let mss = u64::from(self.window.mss);
        let segments = if len > mss { len.div_ceil(mss) as u32 } else { 1 };
        let of_probe = len <= mss && self.recovery.loss_probe.high == Some(end);
        self.recovery.dsacks += u64::from(segments);
        facts.sack.dsack_of_probe |= of_probe;
        if self.recovery.dsacks > self.output.counters.retransmissions {
            return false;
        }
        // RACK widens its window only for what reordering can have caused.
        let by_reordering = self.recovery.reordering.events > 0 && !of_probe;
        if by_reordering || self.config.recovery.each_dsack_widens {
            self.recovery.method.hear_dsack();
        }
        facts.sack.dsack = true;
        facts.sack.delivered += segments;
        if self.undo.marker.is_some_and(|marker| end > marker) && end <= facts.before.una {
            self.undo.count_spurious(segments);
        }
        true
    }

    /// `tcp_is_sackblock_valid`.
    fn is_valid(&self, Block { start, end }: Block, is_dsack: bool) -> bool {
        if end > self.window.nxt || start >= end {
            return false;
        }
        if start > self.window.una {
            return true;
        }
        let Some(marker) = self.undo.marker.filter(|_| is_dsack) else { return false };
        end <= self.window.una
            && (start >= marker || (end > marker && start + self.peer.largest_window >= end))
    }

    /// Marks the records in `part` of `block` that lie wholly in the block.
    fn process_part(
        &mut self,
        now: u64,
        block: Block,
        part: Block,
        is_dsack: bool,
        facts: &mut Facts,
    ) {
        // What this acknowledgement covers is still outstanding here: a D-SACK may be for it.
        let Some(first) = self.scoreboard.head() else { return };
        let from = part.start.max(first.start);
        let Some(mut number) = self.scoreboard.number_at(from) else { return };
        while number < self.scoreboard.behind() {
            let record = self.scoreboard.get(number);
            if record.start >= part.end {
                return;
            }
            if block.contains(Block { start: record.start, end: record.end() }) {
                self.process_sacked(now, number, is_dsack, facts);
            }
            number += 1;
        }
    }

    /// One segment that a block covers (`tcp_sacktag_one`).
    fn process_sacked(&mut self, now: u64, number: u64, is_dsack: bool, facts: &mut Facts) {
        let record = *self.scoreboard.get(number);
        if is_dsack && record.was_retransmitted() {
            if self.undo.marker.is_some_and(|marker| record.end() > marker) {
                self.undo.count_spurious(1);
            }
            if record.is_sacked() {
                facts.sack.late = facts.sack.late.min(record.start);
            }
        }
        if record.end() <= self.window.una {
            return;
        }
        if !record.is_sacked() {
            self.recovery.method.deliver(now, &record, self.rto.min_rtt());
            if !record.was_retransmitted() {
                // Sent once, and a hole until now: it was reordered.
                if record.start < self.highest_sacked() {
                    facts.sack.late = facts.sack.late.min(record.start);
                }
                facts.original |= record.end() <= self.recovery.high;
                SentTimes::add(&mut facts.sack.sent, record.sent);
            }
            self.scoreboard.mark_sacked(number);
            facts.sack.any = true;
            facts.sack.delivered += 1;
            facts.delivery.take(&mut self.rate, &record);
            self.scoreboard.use_snapshot(number);
        }
        if is_dsack {
            self.scoreboard.unmark_retransmitted(number);
        }
    }
}
