//! Duplicate acknowledgements, on connections without SACK (RFC 5681, 6582).

use crate::congestion::State;
use crate::sender::Sender;

impl Sender {
    /// Each stands for a segment that has arrived (`tcp_add_reno_sack`).
    pub(in crate::sender) fn add_duplicates(&mut self, count: u32) {
        if count == 0 {
            return;
        }
        let before = self.board.sacked_out;
        self.board.sacked_out += count;
        self.check_plenty(0);
        self.rate.delivered += u64::from(self.board.sacked_out.saturating_sub(before));
    }

    /// `count` segments were acknowledged: the first filled the hole, the others are those that the
    /// duplicates stood for (`tcp_remove_reno_sacks`).
    pub(in crate::sender) fn remove_duplicates(&mut self, count: u32) {
        if count > 0 {
            let sacked = self.board.sacked_out;
            self.rate.delivered += u64::from(count.saturating_sub(sacked).max(1));
            self.board.sacked_out = sacked.saturating_sub(count - 1);
        }
        self.check_plenty(count);
    }

    /// More duplicates than segments can have arrived: it is reordering
    /// (`tcp_check_reno_reordering`).
    fn check_plenty(&mut self, more: u32) {
        if self.limit_duplicates() {
            let distance = self.board.packets_out() + more;
            self.reordering = distance.min(self.config.recovery.most_reordering);
            self.counters.reorderings += 1;
        }
    }

    /// `tcp_limit_reno_sacked`.
    pub(in crate::sender) fn limit_duplicates(&mut self) -> bool {
        let packets = self.board.packets_out();
        let holes = self.board.lost_out.max(1).min(packets);
        let too_many = self.board.sacked_out + holes > packets;
        if too_many {
            self.board.sacked_out = packets - holes;
        }
        too_many
    }

    /// The first segment is lost at the threshold, and at each partial acknowledgement (RFC 6582
    /// section 3.2; `tcp_newreno_mark_lost`).
    pub(super) fn mark_by_duplicates(&mut self, advanced: bool) {
        let reached =
            self.window.state < State::Recovery && self.board.sacked_out >= self.reordering;
        let partial = self.window.state == State::Recovery && advanced;
        if reached || partial {
            let first = self.board.first();
            if !self.board.get(first).is_lost() {
                self.mark_lost(first);
            }
        }
    }
}
