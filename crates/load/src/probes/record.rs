//! What probes came to, in bounded memory however long it takes.

use serde::{Deserialize, Serialize};
use std::time::Duration;

use tcplab_units::Durations;

use super::clock::{Clock, Sample};
use crate::times::Times;

/// Points of the series; twice as many are kept before neighbours are joined.
const POINTS: usize = 2_048;
/// Samples that quantiles of each way are taken from; then every second one is kept.
const SAMPLES: usize = 1 << 18;

/// All that was measured.
#[derive(Debug)]
pub(crate) struct Record {
    /// Nanoseconds of a point.
    width: i64,
    points: Vec<Point>,
    samples: Vec<Sample>,
    /// One of so many samples is kept.
    stride: u64,
    seen: u64,
    rtt: [Times; 2],
    /// From when on there is load, nanoseconds.
    loaded_from: Option<i64>,
}

/// Probes that were sent in a stretch of time.
#[derive(Debug, Clone, Copy, Default)]
struct Point {
    sent: u64,
    lost: u64,
    /// Of the answered: how many, and the sums of their times.
    answered: i64,
    sums: [i128; 3],
    least: Option<Sample>,
    most: Option<Sample>,
}

impl Record {
    /// For probes every `interval`; from `loaded_from` on they count as under load.
    pub(crate) fn new(interval: Duration, loaded_from: Option<Duration>) -> Record {
        Record {
            width: nanos(interval).max(100_000_000),
            points: Vec::new(),
            samples: Vec::new(),
            stride: 1,
            seen: 0,
            rtt: [Times::default(), Times::default()],
            loaded_from: loaded_from.map(nanos),
        }
    }

    /// A probe that was sent at `at` is lost.
    pub(crate) fn lost(&mut self, at: Duration) {
        let point = self.point(nanos(at));
        point.sent += 1;
        point.lost += 1;
    }

    /// A probe was answered.
    pub(crate) fn answered(&mut self, sample: Sample) {
        let is_loaded = self.is_loaded(sample.at);
        self.rtt[usize::from(is_loaded)].record(span(sample.rtt()));
        if self.seen.is_multiple_of(self.stride) {
            if self.samples.len() >= SAMPLES {
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
        let point = self.point(sample.at);
        point.sent += 1;
        point.answered += 1;
        for (sum, value) in point.sums.iter_mut().zip([sample.at, sample.there, sample.back]) {
            *sum += i128::from(value);
        }
        if point.least.is_none_or(|it| sample.rtt() < it.rtt()) {
            point.least = Some(sample);
        }
        if point.most.is_none_or(|it| sample.rtt() > it.rtt()) {
            point.most = Some(sample);
        }
    }

    fn is_loaded(&self, at: i64) -> bool {
        self.loaded_from.is_some_and(|from| at >= from)
    }

    fn point(&mut self, at: i64) -> &mut Point {
        while at / self.width >= 2 * POINTS as i64 {
            let joined = self.points.chunks(2);
            self.points =
                joined.map(|it| it.iter().copied().fold(Point::default(), join)).collect();
            self.width *= 2;
        }
        let index = (at.max(0) / self.width) as usize;
        if self.points.len() <= index {
            self.points.resize(index + 1, Point::default());
        }
        &mut self.points[index]
    }

    /// The server's clock by what has been seen so far.
    pub(crate) fn clock(&self) -> Option<Clock> {
        let least: Vec<Sample> = self.points.iter().filter_map(|point| point.least).collect();
        Clock::estimate(&least)
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

    /// The series, each way by this clock.
    pub(crate) fn series(&self, clock: &Clock) -> Vec<SeriesPoint> {
        let milliseconds = |nanos: i64| nanos as f64 / 1e6;
        let filled = self.points.iter().enumerate().filter(|(_, point)| point.sent > 0);
        filled
            .map(|(index, point)| {
                let mean = |sum: i128| (sum / i128::from(point.answered.max(1))) as i64;
                let [at, there, back] = point.sums.map(mean);
                let ways = clock.ways(&Sample { at, there, back });
                let known = |value: i64| (point.answered > 0).then(|| milliseconds(value));
                SeriesPoint {
                    at_seconds: (index as i64 * self.width) as f64 / 1e9,
                    sent: point.sent,
                    lost: point.lost,
                    rtt_min_ms: point.least.map(|it| milliseconds(it.rtt())),
                    rtt_mean_ms: known(there.saturating_add(back)),
                    rtt_max_ms: point.most.map(|it| milliseconds(it.rtt())),
                    there_mean_ms: known(ways.0),
                    back_mean_ms: known(ways.1),
                }
            })
            .collect()
    }

    /// The least of both ways over all times, nanoseconds: below 0 where a clock was set.
    pub(crate) fn least_way(&self, clock: &Clock) -> i64 {
        let ends = self.points.iter().flat_map(|it| [it.least, it.most]).flatten();
        let least = |it: Sample| {
            let ways = clock.ways(&it);
            ways.0.min(ways.1)
        };
        ends.map(least).min().unwrap_or(0)
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

/// Two neighbours as one.
fn join(one: Point, other: Point) -> Point {
    let least = [one.least, other.least].into_iter().flatten().min_by_key(Sample::rtt);
    let most = [one.most, other.most].into_iter().flatten().max_by_key(Sample::rtt);
    Point {
        sent: one.sent + other.sent,
        lost: one.lost + other.lost,
        answered: one.answered + other.answered,
        sums: std::array::from_fn(|index| one.sums[index] + other.sums[index]),
        least,
        most,
    }
}

fn nanos(time: Duration) -> i64 {
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

/// Probes that were sent in a stretch of time. Milliseconds; none where none was answered.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SeriesPoint {
    /// Where it begins, since the beginning of the measurement.
    pub at_seconds: f64,
    /// Probes sent.
    pub sent: u64,
    /// Of these, without an answer.
    pub lost: u64,
    /// The shortest RTT.
    pub rtt_min_ms: Option<f64>,
    /// The mean.
    pub rtt_mean_ms: Option<f64>,
    /// The longest.
    pub rtt_max_ms: Option<f64>,
    /// The mean to the server.
    pub there_mean_ms: Option<f64>,
    /// The mean from the server.
    pub back_mean_ms: Option<f64>,
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
                record.lost(at);
                continue;
            }
            // One spike, a millisecond there, two back, and a clock that is a second ahead.
            let spike = if number == 777_777 { 500_000_000 } else { 0 };
            let (there, back) = (1_001_000_000 + spike, 2_000_000 - 1_000_000_000);
            let sample = Sample { at: nanos(at), there, back };
            record.answered(sample);
        }
        assert!(record.points.len() <= 2 * POINTS && record.samples.len() <= SAMPLES);
        let clock = Clock { offset_ns: 1_000_000_000, ..Clock::same() };
        let series = record.series(&clock);
        assert_eq!(series.iter().map(|it| it.sent).sum::<u64>(), probes);
        assert_eq!(series.iter().map(|it| it.lost).sum::<u64>(), probes / 100);
        let highest = series.iter().filter_map(|it| it.rtt_max_ms).fold(0.0, f64::max);
        assert!((highest - 503.0).abs() < 1e-6, "a spike is kept: {highest}");
        let [idle] = &record.phases(&clock)[..] else { panic!("there was no load") };
        assert_eq!(idle.rtt.count, probes - probes / 100);
        assert!(idle.there.p50.abs_diff(1_000_000) < 2_000, "{idle:?}");
        assert!(idle.back.p999.abs_diff(2_000_000) < 4_000, "{idle:?}");
        assert_eq!(record.least_way(&clock), 1_000_000);
    }

    #[test]
    fn load_divides_the_times() {
        let mut record = Record::new(Duration::from_millis(10), Some(Duration::from_secs(1)));
        for (at, way) in [(0, 5), (999, 5), (1_000, 50), (1_500, 50)] {
            let sample = Sample { at: at * 1_000_000, there: way * 1_000_000, back: 1_000_000 };
            record.answered(sample);
        }
        let phases = record.phases(&Clock::same());
        let found: Vec<_> = phases
            .iter()
            .map(|it| (it.name.as_str(), it.rtt.count, it.there.p50 / 900_000))
            .collect();
        assert_eq!(found, [("idle", 2, 5), ("under load", 2, 55)]);
    }
}
