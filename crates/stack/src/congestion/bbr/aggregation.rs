//! How far acknowledgements come in heaps.

use tcplab_units::Instant;

use super::BW_UNIT;

/// Rounds after which the older of two maxima is forgotten (`bbr_extra_acked_win_rtts`).
const ROUNDS: u32 = 5;
/// An epoch ends when it has seen so many segments (`bbr_ack_epoch_acked_reset_thresh`).
const MOST_ACKED: u64 = 1 << 20;
/// A heap counts for as much as comes in this time at most (`bbr_extra_acked_max_us`), µs.
const LONGEST: u64 = 100_000;

/// Measures by how many segments a heap of acknowledgements is ahead of the bandwidth
/// (`bbr_update_ack_aggregation`): so many more have to be in flight to keep sending between two.
#[derive(Debug, Default)]
pub(super) struct Aggregation {
    epoch: Instant,
    acked: u64,
    /// The largest in this stretch of rounds and in the one before, or the other way round.
    extra: [u64; 2],
    current: usize,
    rounds: u32,
}

impl Aggregation {
    /// A new epoch begins: nothing was in flight.
    pub(super) fn restart(&mut self, now: Instant) {
        self.epoch = now;
        self.acked = 0;
    }

    /// `acked` segments came by `now`, at an estimated `bandwidth`.
    pub(super) fn update(
        &mut self,
        now: Instant,
        round_start: bool,
        bandwidth: u64,
        acked: u32,
        cwnd: u32,
    ) {
        if round_start {
            self.rounds += 1;
            if self.rounds >= ROUNDS {
                self.rounds = 0;
                self.current = 1 - self.current;
                self.extra[self.current] = 0;
            }
        }
        let acked = u64::from(acked);
        let mut expected = scaled(bandwidth, now.since(self.epoch).as_micros());
        if self.acked <= expected || self.acked + acked >= MOST_ACKED {
            self.restart(now);
            expected = 0;
        }
        self.acked = (self.acked + acked).min(MOST_ACKED - 1);
        let extra = (self.acked - expected).min(cwnd.into());
        self.extra[self.current] = self.extra[self.current].max(extra);
    }

    /// So many segments more in flight (`bbr_ack_aggregation_cwnd`).
    pub(super) fn allowance(&self, bandwidth: u64) -> u32 {
        self.extra[0].max(self.extra[1]).min(scaled(bandwidth, LONGEST)) as u32
    }
}

/// Segments that come in `micros` µs.
fn scaled(bandwidth: u64, micros: u64) -> u64 {
    (u128::from(bandwidth) * u128::from(micros) / u128::from(BW_UNIT)) as u64
}
