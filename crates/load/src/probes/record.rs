//! What probes came to, in bounded memory however long it takes.

use serde::{Deserialize, Serialize};
use std::time::Duration;

use tcplab_units::Durations;

use super::clock::{Clock, Sample};
use super::event::ProbeEvent;
use super::points::Points;
use crate::times::Times;

/// Points of the series; at least half as many after neighbours are joined.
const POINTS: usize = 4_096;
/// Samples that quantiles of each way are taken from; then every second one is kept.
const SAMPLES: usize = 1 << 18;

/// All that was measured.
#[derive(Debug)]
pub(crate) struct Record {
    points: Points,
    samples: Vec<Sample>,
    /// The most that are kept.
    most: usize,
    /// One of so many samples is kept.
    stride: u64,
    seen: u64,
    rtt: [Times; 2],
    /// From when on there is load, nanoseconds.
    loaded_from: Option<i64>,
}

impl Record {
    /// For probes every `interval`; from `loaded_from` on they count as under load.
    pub(crate) fn new(interval: Duration, loaded_from: Option<Duration>) -> Record {
        Record::of(interval, loaded_from, POINTS, SAMPLES)
    }

    /// With so many points and samples at most.
    pub(crate) fn of(
        interval: Duration,
        loaded_from: Option<Duration>,
        points: usize,
        samples: usize,
    ) -> Record {
        Record {
            points: Points::of_all(nanos(interval).max(100_000_000), points),
            samples: Vec::new(),
            most: samples,
            stride: 1,
            seen: 0,
            rtt: [Times::default(), Times::default()],
            loaded_from: loaded_from.map(nanos),
        }
    }

    /// Takes what was learnt.
    pub(crate) fn take(&mut self, event: &ProbeEvent) {
        if let ProbeEvent::Answered(sample) = event {
            self.answered(*sample);
        }
        self.points.take(event);
    }

    fn answered(&mut self, sample: Sample) {
        let is_loaded = self.is_loaded(sample.at);
        self.rtt[usize::from(is_loaded)].record(span(sample.rtt()));
        if self.seen.is_multiple_of(self.stride) {
            if self.samples.len() >= self.most {
                let mut index = 0;
                self.samples.retain(|_| {
                    index += 1;
                    index % 2 == 1
                });
                self.stride *= 2;
            }
            self.samples.push(sample);
        }
        self.seen += 1;
    }

    fn is_loaded(&self, at: i64) -> bool {
        self.loaded_from.is_some_and(|from| at >= from)
    }

    /// The server's clock by what has been seen so far.
    pub(crate) fn clock(&self) -> Option<Clock> {
        Clock::estimate(&self.points.least())
    }

    /// Times without load, and under load if there was any.
    pub(crate) fn phases(&self, clock: &Clock) -> Vec<Phase> {
        let phase = |is_loaded: bool| {
            let (mut there, mut back) = (Times::default(), Times::default());
            for sample in self.samples.iter().filter(|it| self.is_loaded(it.at) == is_loaded) {
                let ways = clock.ways(sample);
                there.record(span(ways.0));
                back.record(span(ways.1));
            }
            Phase {
                name: if is_loaded { "under load" } else { "idle" }.into(),
                rtt: self.rtt[usize::from(is_loaded)].summary(),
                there: there.summary(),
                back: back.summary(),
            }
        };
        [false, true].into_iter().map(phase).filter(|it| it.rtt.count > 0).collect()
    }

    /// The series over all time.
    pub(crate) fn points(&self) -> &Points {
        &self.points
    }

    /// Samples that the quantiles of each way are taken from.
    pub(crate) fn samples(&self) -> u64 {
        self.samples.len() as u64
    }

    /// The RTTs so far.
    pub(crate) fn rtts(&self) -> Durations {
        let mut all = self.rtt[0].clone();
        all.add(&self.rtt[1]);
        all.summary()
    }
}

/// Nanoseconds of a time.
pub(crate) fn nanos(time: Duration) -> i64 {
    i64::try_from(time.as_nanos()).unwrap_or(i64::MAX)
}

/// A way that a wrong clock makes negative counts as none.
fn span(nanos: i64) -> Duration {
    Duration::from_nanos(u64::try_from(nanos).unwrap_or(0))
}

/// Latencies of a part of the measurement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Phase {
    /// `idle`, or `under load`.
    pub name: String,
    /// Both ways together.
    pub rtt: Durations,
    /// To the server.
    pub there: Durations,
    /// From the server.
    pub back: Durations,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_bounded_over_days() {
        let interval = Duration::from_millis(100);
        let mut record = Record::new(interval, None);
        let probes = 1_200_000_u64;
        for number in 0..probes {
            let at = interval * number as u32;
            if number % 100 == 0 {
                record.take(&ProbeEvent::Lost { at: nanos(at), way: None });
                continue;
            }
            // One spike, a millisecond there, two back, and a clock that is a second ahead.
            let spike = if number == 777_777 { 500_000_000 } else { 0 };
            let (there, back) = (1_001_000_000 + spike, 2_000_000 - 1_000_000_000);
            let sample = Sample { at: nanos(at), there, back };
            record.take(&ProbeEvent::Answered(sample));
        }
        assert!(record.samples.len() <= SAMPLES);
        let clock = Clock { offset_ns: 1_000_000_000, ..Clock::same() };
        let series = record.points().series(&clock, i64::MAX);
        assert!((POINTS / 2..=POINTS).contains(&series.len()), "{}", series.len());
        assert_eq!(series.iter().map(|it| it.sent).sum::<u64>(), probes);
        assert_eq!(series.iter().map(|it| it.lost).sum::<u64>(), probes / 100);
        let highest = series.iter().filter_map(|it| it.rtt_max_ms).fold(0.0, f64::max);
        assert!((highest - 503.0).abs() < 1e-6, "a spike is kept: {highest}");
        let [idle] = &record.phases(&clock)[..] else { panic!("there was no load") };
        assert_eq!(idle.rtt.count, probes - probes / 100);
        assert!(idle.there.p50.abs_diff(1_000_000) < 2_000, "{idle:?}");
        assert!(idle.back.p999.abs_diff(2_000_000) < 4_000, "{idle:?}");
        assert_eq!(record.points().least_way(&clock), 1_000_000);
    }

    #[test]
    fn load_divides_the_times() {
        let mut record = Record::new(Duration::from_millis(10), Some(Duration::from_secs(1)));
        for (at, way) in [(0, 5), (999, 5), (1_000, 50), (1_500, 50)] {
            let sample = Sample { at: at * 1_000_000, there: way * 1_000_000, back: 1_000_000 };
            record.take(&ProbeEvent::Answered(sample));
        }
        let phases = record.phases(&Clock::same());
        let found: Vec<_> = phases
            .iter()
            .map(|it| (it.name.as_str(), it.rtt.count, it.there.p50 / 900_000))
            .collect();
        assert_eq!(found, [("idle", 2, 5), ("under load", 2, 55)]);
    }
}
