//! What acknowledgements and timers say of segments: SACKed, lost, retransmitted.

use super::record::{EVER, LOST, PASSED, RETRANSMITTED, SACKED};
use super::{Counted, Scoreboard, Snapshot};

impl Scoreboard {
    /// The peer has it.
    pub(crate) fn mark_sacked(&mut self, number: u64) {
        let record = self.record(number);
        debug_assert!(!record.is_sacked());
        let was = record.marks;
        record.marks |= SACKED | PASSED;
        let (start, end) = (record.start, record.end());
        if was & LOST != 0 {
            // A retransmission of a segment not marked lost still counts as in flight.
            let record = self.record(number);
            record.marks &= !(LOST | RETRANSMITTED);
            self.lost_out -= 1;
            self.retrans_out -= u32::from(was & RETRANSMITTED != 0);
        }
        self.sacked_out += 1;
        self.counted.sacked += u32::from(number < self.counted.number);
        self.runs.insert(start, end);
        self.unlist(number);
    }

    /// Its retransmission was spurious and has arrived (D-SACK).
    pub(crate) fn unmark_retransmitted(&mut self, number: u64) {
        let record = self.record(number);
        if record.is_retransmitted() {
            record.marks &= !RETRANSMITTED;
            self.retrans_out -= 1;
        }
    }

    /// Marks it, or its retransmission, lost (`tcp_mark_skb_lost`).
    pub(crate) fn mark_lost(&mut self, number: u64) {
        let record = self.record(number);
        let was = record.marks;
        if was & SACKED != 0 || was & (LOST | RETRANSMITTED) == LOST {
            return;
        }
        let start = record.start;
        if was & LOST == 0 {
            record.marks |= LOST;
            self.lost_out += 1;
            self.lost_total += 1;
            if was & RETRANSMITTED != 0 {
                return;
            }
        } else {
            record.marks &= !RETRANSMITTED;
            self.retrans_out -= 1;
            self.lost_total += 1;
        }
        self.unlist(number);
        self.queue(start);
    }

    /// Marks it lost because what was sent later has arrived, once for each transmission
    /// (`tcp_rack_detect_loss`).
    pub(crate) fn mark_overdue(&mut self, number: u64) {
        self.mark_lost(number);
        self.unlist(number);
        self.record(number).marks |= PASSED;
    }

    /// It was retransmitted; a `probe` (`__tcp_retransmit_skb` alone) does not count as in flight.
    pub(crate) fn mark_retransmitted(
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
        if !probe && record.marks & RETRANSMITTED == 0 {
            record.marks |= RETRANSMITTED;
            self.retrans_out += 1;
        }
        if !self.get(number).is_sacked() {
            self.unlist(number);
            self.list(number);
        }
    }

    /// Marks lost by count: every segment that is not SACKed and has more than
    /// `sacked_out - packets` SACKed segments above it (`tcp_mark_head_lost`).
    pub(crate) fn mark_counted(&mut self, packets: u32) {
        let Counted { mut number, mut sacked } = self.counted;
        if number < self.first {
            (number, sacked) = (self.first, 0);
        }
        while number < self.behind() {
            let is_sacked = self.get(number).is_sacked();
            if sacked + u32::from(is_sacked) > packets {
                break;
            }
            if !self.get(number).is_lost() {
                self.mark_lost(number);
            }
            sacked += u32::from(is_sacked);
            number += 1;
        }
        self.counted = Counted { number, sacked };
    }

    /// Marks the first record lost, unless counting got past it.
    pub(crate) fn mark_head(&mut self) {
        if self.counted.number <= self.first && !self.is_empty() && !self.get(self.first).is_lost()
        {
            self.mark_lost(self.first);
        }
    }

    /// Removes all lost marks (undo); also those of `retransmissions`, on stacks that go on at the
    /// highest byte sent.
    pub(crate) fn forget_losses(&mut self, retransmissions: bool) {
        let cleared = if retransmissions { LOST | RETRANSMITTED } else { LOST };
        for record in &mut self.records {
            record.marks &= !cleared;
        }
        self.list_anew();
        self.lost_out = 0;
        if retransmissions {
            self.retrans_out = 0;
        }
        self.to_retransmit.clear();
        self.restart_count();
    }

    /// Removes all SACKed marks.
    pub(crate) fn forget_sacks(&mut self) {
        for record in &mut self.records {
            record.marks &= !SACKED;
        }
        self.list_anew();
        self.sacked_out = 0;
        self.runs.clear();
        self.restart_count();
    }
}
