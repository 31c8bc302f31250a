//! A measurement while it goes on, for those who watch it: fine for the latest time, coarse for all
//! time, in memory that does not grow.

use std::time::Duration;

use tcplab_units::Durations;

use super::clock::Clock;
use super::event::ProbeEvent;
use super::points::{Points, SeriesPoint};
use super::record::{Phase, Record, nanos};

/// Points of all time; at least half as many after neighbours are joined.
const POINTS: usize = 512;
/// Samples that quantiles of each way are taken from.
const SAMPLES: usize = 1 << 14;
/// Widths (nanoseconds) and counts of finer points: a minute, and half an hour.
const FINER: [(i64, usize); 2] = [(5_000_000_000, 360), (100_000_000, 600)];

/// What has been measured so far.
#[derive(Debug)]
pub struct LiveLatency {
    whole: Record,
    /// From coarse to fine.
    finer: Vec<Points>,
}

impl LiveLatency {
    /// For probes every `interval`.
    pub fn new(interval: Duration) -> LiveLatency {
        let finer = FINER.map(|(width, most)| Points::of_latest(width.max(nanos(interval)), most));
        let whole = Record::of(interval, POINTS, SAMPLES);
        LiveLatency { whole, finer: finer.into() }
    }

    /// Takes what has been learnt.
    pub fn take(&mut self, events: &[ProbeEvent]) {
        for event in events {
            self.whole.take(event);
            self.finer.iter_mut().for_each(|points| points.take(event));
        }
    }

    /// The server's clock by what is known; none before the first answer.
    pub fn clock(&self) -> Option<Clock> {
        self.whole.clock()
    }

    /// Latencies so far, without load, under load and after it.
    pub fn phases(&self, clock: &Clock) -> Vec<Phase> {
        self.whole.phases(clock)
    }

    /// All RTTs so far.
    pub fn rtts(&self) -> Durations {
        self.whole.rtts()
    }

    /// The series: for each time the finest points that there are, at most 1,500.
    pub fn series(&self, clock: &Clock) -> Vec<SeriesPoint> {
        let levels: Vec<&Points> = [self.whole.points()].into_iter().chain(&self.finer).collect();
        let mut series: Vec<SeriesPoint> = Vec::new();
        for (index, level) in levels.iter().enumerate() {
            let end = levels.get(index + 1).map_or(i64::MAX, |finer| finer.begin());
            // Coarse points end before finer ones begin, so there is a gap of less than one.
            series.extend(level.series(clock, end));
        }
        series
    }
}

#[cfg(test)]
mod tests {
    use super::super::clock::Sample;
    use super::*;

    #[test]
    fn hours_are_shown_by_few_points_that_are_fine_at_the_end() {
        let interval = Duration::from_millis(100);
        let mut live = LiveLatency::new(interval);
        let probes = 10 * 36_000_i64;
        for number in 0..probes {
            let sample = Sample { at: number * nanos(interval), there: 2_000_000, back: 1_000_000 };
            live.take(&[ProbeEvent::Answered(sample)]);
        }
        let series = live.series(&Clock::same());
        assert!((900..=1_500).contains(&series.len()), "{}", series.len());
        assert!(series.windows(2).all(|it| it[0].at_seconds < it[1].at_seconds));
        let near = |found: f64, wanted: f64| (found - wanted).abs() < 1e-6;
        assert!(near(series[0].at_seconds, 0.0) && near(series[0].rtt_mean_ms.unwrap(), 3.0));
        let [.., before, last] = &series[..] else { panic!("there are two") };
        assert!(near(last.at_seconds - before.at_seconds, 0.1) && near(last.at_seconds, 35_999.9));
        let [idle] = &live.phases(&Clock::same())[..] else { panic!("there was no load") };
        assert_eq!((idle.rtt.count, live.rtts().count), (probes as u64, probes as u64));
        assert!(idle.there.p50.abs_diff(2_000_000) < 4_000 && idle.there.count <= 1 << 14);
    }
}
