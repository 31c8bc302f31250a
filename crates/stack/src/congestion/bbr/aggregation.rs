//! How far acknowledgements come in heaps.

use tcplab_units::Instant;

use super::units::segments_in;
use crate::congestion::ticks::micros;

/// Rounds after which the older of two maxima is forgotten (`bbr_extra_acked_win_rtts`).
const ROUNDS: u32 = 5;
/// The number of segments that ends an epoch (`bbr_ack_epoch_acked_reset_thresh`).
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
        let mut expected = segments_in(bandwidth, micros(now) - micros(self.epoch));
        if self.acked <= expected || self.acked + acked >= MOST_ACKED {
            self.restart(now);
            expected = 0;
        }
        self.acked = (self.acked + acked).min(MOST_ACKED - 1);
        let extra = (self.acked - expected).min(cwnd.into());
        self.extra[self.current] = self.extra[self.current].max(extra);
    }

    /// The extra segments in flight (`bbr_ack_aggregation_cwnd`).
    pub(super) fn allowance(&self, bandwidth: u64) -> u32 {
        self.extra[0].max(self.extra[1]).min(segments_in(bandwidth, LONGEST)) as u32
    }
}

#[cfg(test)]
mod tests {
    use tcplab_units::Span;

    use super::super::units::BW_UNIT;
    use super::*;

    /// One segment each 1,024 µs: a rate without a remainder.
    const RATE: u64 = BW_UNIT / 1_024;

    /// Segments at that rate, in heaps of `heap`.
    fn after(heap: u32, heaps: u64) -> Aggregation {
        let mut aggregation = Aggregation::default();
        for i in 1..=heaps {
            let now = Instant::ZERO + Span::from_micros(1_024 * i * u64::from(heap));
            aggregation.update(now, i % 5 == 0, RATE, heap, 200);
        }
        aggregation
    }

    /// A heap is ahead of the bandwidth by its own size: it is counted from its own arrival.
    #[test]
    fn aggregation_burst_of_acks_sets_allowance() {
        assert_eq!(after(1, 100).allowance(RATE), 1);
        assert_eq!(after(20, 100).allowance(RATE), 20);
    }

    /// The data of 100 ms and the window are the bounds.
    #[test]
    fn aggregation_huge_burst_is_bounded() {
        assert_eq!(after(150, 20).allowance(RATE), 97);
        assert_eq!(after(150, 20).allowance(BW_UNIT), 150);
        assert_eq!(after(300, 20).allowance(BW_UNIT), 200);
    }

    /// Ten rounds later at the latest, a heap is forgotten.
    #[test]
    fn aggregation_old_burst_is_forgotten() {
        let mut aggregation = after(20, 10);
        let start = Instant::ZERO + Span::from_micros(1_024 * 200);
        for i in 1..=11 {
            aggregation.update(start + Span::from_micros(1_024 * 10 * i), true, RATE, 5, 200);
        }
        assert_eq!(aggregation.allowance(RATE), 5);
    }
}
