//! Durations in a histogram with three digits.

use std::time::Duration;

use hdrhistogram::Histogram;
use tcplab_units::Durations;

/// Longer times count as this; timeouts are far shorter.
const LONGEST: u64 = 3_600_000_000_000;
const DIGITS: u8 = 3;

/// Times, in nanoseconds.
#[derive(Debug, Clone)]
pub(crate) struct Times {
    histogram: Histogram<u64>,
}

impl Default for Times {
    fn default() -> Times {
        let histogram = Histogram::new_with_bounds(1, LONGEST, DIGITS);
        Times { histogram: histogram.expect("valid bounds") }
    }
}

impl Times {
    pub(crate) fn record(&mut self, time: Duration) {
        self.histogram.saturating_record(time.as_nanos().clamp(1, LONGEST.into()) as u64);
    }

    pub(crate) fn add(&mut self, other: &Times) {
        self.histogram.add(&other.histogram).expect("equal bounds");
    }

    pub(crate) fn summary(&self) -> Durations {
        let histogram = &self.histogram;
        let at = |quantile| histogram.value_at_quantile(quantile);
        Durations {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_have_three_digits() {
        let mut times = Times::default();
        let mut half = Times::default();
        for micros in 1..=10_000_u64 {
            let part = if micros % 2 == 0 { &mut times } else { &mut half };
            part.record(Duration::from_micros(micros));
        }
        times.add(&half);
        let summary = times.summary();
        assert_eq!(summary.count, 10_000);
        for (found, micros) in [
            (summary.min, 1.0),
            (summary.p50, 5_000.0),
            (summary.p75, 7_500.0),
            (summary.p90, 9_000.0),
            (summary.p99, 9_900.0),
            (summary.p999, 9_990.0),
            (summary.max, 10_000.0),
            (summary.mean as u64, 5_000.5),
        ] {
            assert!((found as f64 / 1e3 / micros - 1.0).abs() < 0.001, "{found} {micros}");
        }
        assert_eq!(Times::default().summary(), Durations::default());
    }
}
