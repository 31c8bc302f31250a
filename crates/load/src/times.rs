//! How long things took: as histograms that keep three digits of every value.

use std::time::Duration;

use hdrhistogram::Histogram;
use serde::Serialize;

/// The longest time that is told apart; timeouts are far below.
const LONGEST: u64 = 3_600_000_000_000;
const DIGITS: u8 = 3;

/// Times, in nanoseconds.
#[derive(Debug, Clone)]
pub(crate) struct Times {
    histogram: Histogram<u64>,
}

impl Times {
    pub(crate) fn new() -> Times {
        let histogram = Histogram::new_with_bounds(1, LONGEST, DIGITS);
        Times { histogram: histogram.expect("the bounds make sense") }
    }

    pub(crate) fn record(&mut self, time: Duration) {
        self.histogram.saturating_record(time.as_nanos().clamp(1, LONGEST.into()) as u64);
    }

    pub(crate) fn add(&mut self, other: &Times) {
        self.histogram.add(&other.histogram).expect("the bounds are the same");
    }

    pub(crate) fn summary(&self) -> Summary {
        let histogram = &self.histogram;
        let at = |quantile| histogram.value_at_quantile(quantile);
        Summary {
            count: histogram.len(),
            min: if histogram.is_empty() { 0 } else { histogram.min() },
            mean: histogram.mean(),
            deviation: histogram.stdev(),
            p50: at(0.5),
            p75: at(0.75),
            p90: at(0.9),
            p99: at(0.99),
            p999: at(0.999),
            max: histogram.max(),
        }
    }
}

/// What times came to, in nanoseconds, each to three digits.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Summary {
    /// How many there are.
    pub count: u64,
    /// The shortest.
    #[serde(rename = "min_ns")]
    pub min: u64,
    /// Their mean.
    #[serde(rename = "mean_ns")]
    pub mean: f64,
    /// Their standard deviation.
    #[serde(rename = "deviation_ns")]
    pub deviation: f64,
    /// Half of them are no longer.
    #[serde(rename = "p50_ns")]
    pub p50: u64,
    /// Three quarters.
    #[serde(rename = "p75_ns")]
    pub p75: u64,
    /// Nine in ten.
    #[serde(rename = "p90_ns")]
    pub p90: u64,
    /// 99 in 100.
    #[serde(rename = "p99_ns")]
    pub p99: u64,
    /// 999 in 1000.
    #[serde(rename = "p999_ns")]
    pub p999: u64,
    /// The longest.
    #[serde(rename = "max_ns")]
    pub max: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_the_values_to_three_digits() {
        let mut times = Times::new();
        let mut half = Times::new();
        for micros in 1..=10_000_u64 {
            let part = if micros % 2 == 0 { &mut times } else { &mut half };
            part.record(Duration::from_micros(micros));
        }
        times.add(&half);
        let summary = times.summary();
        assert_eq!(summary.count, 10_000);
        for (told, micros) in [
            (summary.min, 1.0),
            (summary.p50, 5_000.0),
            (summary.p75, 7_500.0),
            (summary.p90, 9_000.0),
            (summary.p99, 9_900.0),
            (summary.p999, 9_990.0),
            (summary.max, 10_000.0),
            (summary.mean as u64, 5_000.5),
        ] {
            assert!((told as f64 / 1e3 / micros - 1.0).abs() < 0.001, "{told} {micros}");
        }
        assert_eq!(Times::new().summary(), Summary::default());
    }
}
