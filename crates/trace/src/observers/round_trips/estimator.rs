//! The smoothed RTT and the retransmission timeout as Linux keeps them.

use tcplab_units::{Offset, Span};

use crate::fold::folded;

/// `tcp_rto_min`: the least that the timeout exceeds the smoothed RTT by, microseconds.
const LEAST: u64 = 200_000;
/// `TCP_RTO_MAX`, microseconds.
const MOST: u64 = 120_000_000;

/// RFC 6298 section 2 in `tcp_rtt_estimator`'s fixed point, microseconds: the smoothed RTT
/// eightfold, deviations fourfold. Two things differ from the RFC: a sample far below the smoothed
/// round trip raises the deviation by an eighth only of what one far above does, and the timeout
/// follows the largest deviation of the last flights, which it forgets by a quarter each flight.
#[derive(Debug, Default)]
pub(crate) struct Estimator {
    /// `srtt_us`; 0 before the first sample.
    smoothed: u64,
    /// `mdev_us`.
    deviation: u64,
    /// `mdev_max_us`: the largest deviation since this flight began.
    largest: u64,
    /// `rttvar_us`.
    margin: u64,
    /// `rtt_seq`: once this is acknowledged, the flight is over.
    flight_end: Offset,
}
folded! { Estimator { smoothed, deviation, largest, margin, flight_end } }

impl Estimator {
    /// A sample by an ACK of everything before `una`, when the highest byte sent ended at `high`.
    pub(crate) fn sample(&mut self, sample: Span, una: Offset, high: Offset) {
        // What would overflow the kernel's 32 bits, an hour or more, is no round trip.
        let sample = sample.as_micros().min(u64::from(u32::MAX) >> 3);
        if self.smoothed == 0 {
            self.smoothed = sample << 3;
            self.deviation = sample << 1;
            self.margin = self.deviation.max(LEAST);
            self.largest = self.margin;
            self.flight_end = high;
        } else {
            self.smooth(sample);
            if self.deviation > self.largest {
                self.largest = self.deviation;
                self.margin = self.margin.max(self.largest);
            }
            if una > self.flight_end {
                self.margin -= self.margin.saturating_sub(self.largest) >> 2;
                self.flight_end = high;
                self.largest = LEAST;
            }
        }
        self.smoothed = self.smoothed.max(1);
    }

    fn smooth(&mut self, sample: u64) {
        let before = self.smoothed >> 3;
        self.smoothed = self.smoothed + sample - before;
        let (error, quarter) = (sample.abs_diff(before), self.deviation >> 2);
        let falls = sample < before;
        if error > quarter && falls {
            self.deviation += (error - quarter) >> 3;
        } else {
            self.deviation = self.deviation + error - quarter;
        }
    }

    pub(crate) fn smoothed(&self) -> Span {
        Span::from_micros(self.smoothed >> 3)
    }
    /// The mean deviation, which `ss` shows behind the smoothed RTT.
    pub(crate) fn variation(&self) -> Span {
        Span::from_micros(self.deviation >> 2)
    }
    /// The timeout without backoff, to the microsecond: the kernel rounds up to its tick.
    pub(crate) fn timeout(&self) -> Span {
        Span::from_micros(((self.smoothed >> 3) + self.margin).min(MOST))
    }
}
