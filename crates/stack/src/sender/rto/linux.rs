//! Linux's timeout: `SRTT + max(least, deviation)` (`tcp_rtt_estimator`).

use super::policy::{Estimate, Measurement, RtoPolicy};

/// The deviation that counts is the largest of the round; it falls by a quarter each round.
#[derive(Debug)]
pub(super) struct Linux {
    /// The least deviation (`tcp_rto_min_us`), µs.
    least: i64,
    /// The deviation that counts (`rttvar_us`), µs.
    rttvar: i64,
    /// The largest deviation of this round (`mdev_max_us`), µs.
    largest: i64,
    /// The round ends when this position is acknowledged (`rtt_seq`).
    round: u64,
}

impl Linux {
    pub(super) fn new(least: i64) -> Linux {
        Linux { least, rttvar: 0, largest: least, round: 0 }
    }
}

impl RtoPolicy for Linux {
    fn measure(&mut self, estimate: &mut Estimate, measurement: Measurement) {
        if estimate.srtt8 == 0 {
            estimate.begin(measurement.bounded());
            self.rttvar = estimate.deviation4.max(self.least);
            self.largest = self.rttvar;
            self.round = measurement.nxt;
            return;
        }
        estimate.update(measurement.bounded(), true);
        if estimate.deviation4 > self.largest {
            self.largest = estimate.deviation4;
            self.rttvar = self.rttvar.max(self.largest);
        }
        if measurement.una > self.round {
            if self.largest < self.rttvar {
                self.rttvar -= (self.rttvar - self.largest) >> 2;
            }
            self.round = measurement.nxt;
            self.largest = self.least;
        }
    }

    fn timeout(&self, estimate: &Estimate) -> i64 {
        (estimate.srtt8 >> 3) + self.rttvar
    }

    fn assume(&mut self, deviation4: i64) {
        self.rttvar = deviation4;
        self.largest = deviation4;
    }

    fn measures_sacked(&self) -> bool {
        true
    }
}
