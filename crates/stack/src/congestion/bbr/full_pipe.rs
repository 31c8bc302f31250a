//! Whether the pipe is full.

use super::units::UNIT;

/// It is once bandwidth grew by less than a quarter (`bbr_full_bw_thresh`)…
const GROWTH: u64 = UNIT * 5 / 4;
/// …in this many rounds (`bbr_full_bw_cnt`).
const ROUNDS: u32 = 3;

/// Watches the bandwidth grow from round to round (`bbr_check_full_bw_reached`).
#[derive(Debug, Default)]
pub(super) struct FullPipe {
    is_full: bool,
    /// The last bandwidth that was a quarter above the one before.
    bandwidth: u64,
    /// Rounds since.
    rounds: u32,
}

impl FullPipe {
    /// Whether the pipe is full; once it is, it remains so.
    pub(super) fn is_full(&self) -> bool {
        self.is_full
    }

    /// At the end of a round.
    pub(super) fn end_round(&mut self, bandwidth: u64) {
        if self.is_full {
            return;
        }
        if bandwidth >= self.bandwidth * GROWTH / UNIT {
            self.bandwidth = bandwidth;
            self.rounds = 0;
        } else {
            self.rounds += 1;
            self.is_full = self.rounds >= ROUNDS;
        }
    }

    /// A timeout: whatever comes now counts as growth.
    pub(super) fn forget_bandwidth(&mut self) {
        self.bandwidth = 0;
    }

    /// The slowdown was spurious: watching restarts.
    pub(super) fn begin_again(&mut self) {
        self.bandwidth = 0;
        self.rounds = 0;
    }
}
