//! Counting what is SACKed above a hole (RFC 6675, and RFC 3517 before it).

use crate::sender::Sender;

impl Sender {
    /// Whether it takes as many acknowledgements as segments.
    pub(in crate::sender) fn counts_duplicates(&self) -> bool {
        self.sack && self.config.recovery.counts_duplicates
    }

    /// Whether the highest SACKed is farther ahead than reordering explains
    /// (`tcp_force_fast_retransmit`).
    pub(in crate::sender) fn is_far_ahead(&self) -> bool {
        let reach = u64::from(self.reordering) * u64::from(self.window.mss);
        self.highest_sacked() > self.window.una + reach
    }

    /// What has the duplicate threshold of SACKed segments above it is lost (RFC 6675 section 4:
    /// IsLost; `tcp_update_scoreboard`); as recovery begins, the first segment in any case. Where
    /// duplicates are counted, all below the highest SACKed is.
    pub(in crate::sender) fn mark_by_sack(&mut self, begins: bool) {
        if !self.sack {
            return;
        }
        let above = if self.counts_duplicates() { 1 } else { self.reordering };
        let sacked = self.board.sacked_out;
        let lost = if sacked >= above {
            self.board.mark_counted(sacked - above, false)
        } else if begins {
            self.board.mark_counted(1, true)
        } else {
            0
        };
        self.window.lost += u64::from(lost);
    }
}
