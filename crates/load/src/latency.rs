//! Latencies while a load runs: a coarse histogram that threads count into without waiting.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Parts of a power of two: a bucket is at most 25 % wide.
const PARTS: u32 = 4;
/// Up to 2^40 ns, 18 minutes.
const BUCKETS: usize = (40 * PARTS) as usize;

/// Counts by bucket.
#[derive(Debug)]
pub(crate) struct LatencyGauge([AtomicU64; BUCKETS]);

impl Default for LatencyGauge {
    fn default() -> LatencyGauge {
        LatencyGauge([const { AtomicU64::new(0) }; BUCKETS])
    }
}

impl LatencyGauge {
    pub(crate) fn record(&self, latency: Duration) {
        self.0[bucket(latency.as_nanos() as u64)].fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn read(&self) -> Latencies {
        Latencies { counts: self.0.iter().map(|it| it.load(Ordering::Relaxed)).collect() }
    }
}

/// The power of two, and the two bits below its highest.
fn bucket(nanos: u64) -> usize {
    let nanos = nanos.max(u64::from(PARTS));
    let power = nanos.ilog2();
    let part = (nanos >> (power - PARTS.ilog2())) as u32 % PARTS;
    ((power * PARTS + part) as usize).min(BUCKETS - 1)
}

/// Where a bucket ends, nanoseconds.
fn end_of(bucket: usize) -> u64 {
    let (power, part) = (bucket as u32 / PARTS, bucket as u64 % u64::from(PARTS));
    (u64::from(PARTS) + part + 1) << power.saturating_sub(PARTS.ilog2())
}

/// Latencies of the good answers so far, to 25 %.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Latencies {
    counts: Vec<u64>,
}

impl Latencies {
    /// The time that a share of them stays below; none if there are none.
    pub fn quantile(&self, share: f64) -> Option<Duration> {
        let total: u64 = self.counts.iter().sum();
        let wanted = ((total as f64 * share).ceil() as u64).max(1);
        let mut below = 0;
        let place = self.counts.iter().position(|count| {
            below += count;
            below >= wanted
        })?;
        Some(Duration::from_nanos(end_of(place)))
    }

    /// From the first bucket that has any to the last: where it ends, and how many it has.
    pub fn buckets(&self) -> impl Iterator<Item = (Duration, u64)> + '_ {
        let has_any = |count: &u64| *count > 0;
        let first = self.counts.iter().position(has_any).unwrap_or(0);
        let end = self.counts.iter().rposition(has_any).map_or(0, |last| last + 1);
        (first..end).map(|at| (Duration::from_nanos(end_of(at)), self.counts[at]))
    }
}

impl FromIterator<Duration> for Latencies {
    fn from_iter<T: IntoIterator<Item = Duration>>(times: T) -> Latencies {
        let gauge = LatencyGauge::default();
        times.into_iter().for_each(|time| gauge.record(time));
        gauge.read()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_at_most_a_quarter_too_long() {
        let gauge = LatencyGauge::default();
        assert_eq!(gauge.read().quantile(0.5), None);
        assert_eq!(gauge.read().buckets().count(), 0);
        for micros in 1..=1_000 {
            gauge.record(Duration::from_micros(micros));
        }
        let latencies = gauge.read();
        for (share, micros) in [(0.5, 500.0), (0.9, 900.0), (0.99, 990.0), (1.0, 1_000.0)] {
            let found = latencies.quantile(share).unwrap().as_secs_f64() * 1e6 / micros;
            assert!((1.0..=1.26).contains(&found), "{share}: {found}");
        }
        assert_eq!(latencies.buckets().map(|(_, count)| count).sum::<u64>(), 1_000);
    }

    #[test]
    fn buckets_are_in_order_and_hold_what_is_below_their_end() {
        for nanos in [0, 1, 4, 5, 7, 8, 1_000, 123_456_789, u64::MAX] {
            let place = bucket(nanos);
            assert!(nanos < end_of(place) || place == BUCKETS - 1, "{nanos}");
            assert!(place == 0 || nanos >= end_of(place - 1) || nanos < 8, "{nanos}");
        }
    }
}
