//! What tells of a loss.

mod by_sack;
mod duplicates;
mod rack;

use tcplab_units::Instant;

use super::Sender;
use super::ack::Facts;
pub(super) use rack::Rack;

use crate::config::Detection;

impl Sender {
    /// Marks what this acknowledgement shows to be lost (`tcp_identify_packet_loss`).
    pub(super) fn identify_losses(&mut self, now: Instant, facts: &mut Facts) {
        if self.board.is_empty() {
            return;
        }
        let repetitions = self.board.retrans_out;
        if !self.sack {
            self.mark_by_duplicates(facts.advanced);
        } else if self.is_rack() && self.rack_mark(now) {
            facts.set_timer = false;
        }
        facts.lost_repetition |= repetitions > self.board.retrans_out;
    }

    /// Whether fast recovery is due (`tcp_time_to_recover`).
    pub(super) fn is_time_to_recover(&self) -> bool {
        if self.board.lost_out > 0 {
            return true;
        }
        if self.is_rack() || self.config.recovery.detection == Detection::TimerOnly {
            return false;
        }
        if self.counts_duplicates() {
            return self.dupacks >= self.config.recovery.dupthresh;
        }
        self.board.sacked_out >= self.reordering
    }

    /// Holds a segment for lost.
    pub(super) fn mark_lost(&mut self, number: u64) {
        if self.board.mark_lost(number) {
            self.window.lost += 1;
        }
    }
}
