//! What probes came to, in bounded memory however long it takes.

use serde::{Deserialize, Serialize};
use std::time::Duration;

use tcplab_units::Durations;

use super::clock::{Clock, Sample};
use super::event::{ProbeEvent, Way};
use super::points::Points;
use crate::times::Times;

/// Points of the series; at least half as many after neighbours are joined.
const POINTS: usize = 4_096;
/// Samples that quantiles of each way are taken from; then every second one is kept.
const SAMPLES: usize = 1 << 18;

/// Names of the phases, in order of time.
const NAMES: [&str; 3] = ["idle", "under load", "after the load"];

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
    /// Before, during and after a load.
    parts: [Part; 3],
    /// When a load began, and when it ended; nanoseconds.
    loaded: [Option<i64>; 2],
}

/// Probes that were sent before, during or after a load.
#[derive(Debug, Clone, Default)]
struct Part {
    rtt: Times,
    sent: u64,
    lost: u64,
    /// Of the lost: there, and back. Of others it is not known.
    lost_ways: [u64; 2],
}

impl Part {
    fn add(&mut self, other: &Part) {
        self.rtt.add(&other.rtt);
        self.sent += other.sent;
        self.lost += other.lost;
        self.lost_ways = std::array::from_fn(|way| self.lost_ways[way] + other.lost_ways[way]);
    }
}

impl Record {
    /// For probes every `interval`.
    pub(crate) fn new(interval: Duration) -> Record {
        Record::of(interval, POINTS, SAMPLES)
    }

    /// With so many points and samples at most.
    pub(crate) fn of(interval: Duration, points: usize, samples: usize) -> Record {
        Record {
            points: Points::of_all(nanos(interval).max(100_000_000), points),
            samples: Vec::new(),
            most: samples,
            stride: 1,
            seen: 0,
            parts: Default::default(),
            loaded: [None; 2],
        }
    }

    /// Takes what was learnt.
    pub(crate) fn take(&mut self, event: &ProbeEvent) {
        match *event {
            ProbeEvent::Answered(sample) => self.answered(sample),
            ProbeEvent::Lost { at, way } => {
                let part = &mut self.parts[self.part(at)];
                part.sent += 1;
                part.lost += 1;
                if let Some(way) = way {
                    part.lost_ways[way as usize] += 1;
                }
            }
            ProbeEvent::Explained { there, back, .. } => self.explained([there, back]),
            ProbeEvent::LoadBegan { at } => self.loaded[0] = Some(at),
            ProbeEvent::LoadEnded { at } => self.loaded[1] = Some(at),
            ProbeEvent::Carried { .. } => {}
        }
        self.points.take(event);
    }

    fn answered(&mut self, sample: Sample) {
        let part = &mut self.parts[self.part(sample.at)];
        part.sent += 1;
        part.rtt.record(span(sample.rtt()));
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

    /// The lost probes of which the way was not known were lost on these, the first ones there.
    fn explained(&mut self, mut ways: [u64; 2]) {
        for part in &mut self.parts {
            let mut open = part.lost - part.lost_ways.iter().sum::<u64>();
            for (way, left) in ways.iter_mut().enumerate() {
                let now = open.min(*left);
                part.lost_ways[way] += now;
                (*left, open) = (*left - now, open - now);
            }
        }
    }

    fn part(&self, at: i64) -> usize {
        match self.loaded {
            [Some(from), until] if at >= from => {
                if until.is_some_and(|until| at >= until) {
                    2
                } else {
                    1
                }
            }
            _ => 0,
        }
    }

    /// No load carried anything: all counts as idle.
    pub(crate) fn forget_load(&mut self) {
        self.loaded = [None; 2];
        let [idle, others @ ..] = &mut self.parts;
        for other in others {
            idle.add(&std::mem::take(other));
        }
    }

    /// The server's clock by what has been seen so far.
    pub(crate) fn clock(&self) -> Option<Clock> {
        Clock::estimate(&self.points.least())
    }

    /// Times and losses without load, and under load and after it if there was any.
    pub(crate) fn phases(&self, clock: &Clock) -> Vec<Phase> {
        let phase = |index: usize| {
            let Part { rtt, sent, lost, lost_ways } = &self.parts[index];
            let (mut there, mut back) = (Times::default(), Times::default());
            for sample in self.samples.iter().filter(|it| self.part(it.at) == index) {
                let ways = clock.ways(sample);
                there.record(span(ways.0));
                back.record(span(ways.1));
            }
            Phase {
                name: NAMES[index].into(),
                sent: *sent,
                lost: *lost,
                lost_there: lost_ways[Way::There as usize],
                lost_back: lost_ways[Way::Back as usize],
                rtt: rtt.summary(),
                there: there.summary(),
                back: back.summary(),
            }
        };
        (0..NAMES.len()).map(phase).filter(|it| it.sent > 0).collect()
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
        let mut all = self.parts[0].rtt.clone();
        self.parts[1..].iter().for_each(|part| all.add(&part.rtt));
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

/// Latencies and losses of a part of the measurement.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Phase {
    /// `idle`, `under load`, or `after the load`.
    pub name: String,
    /// Probes sent; 0 in results of older versions.
    #[serde(default)]
    pub sent: u64,
    /// Of these, without an answer in time.
    #[serde(default)]
    pub lost: u64,
    /// Of the lost, on their way to the server; which way others were lost is in `lost_back`, or
    /// not known.
    #[serde(default)]
    pub lost_there: u64,
    /// Of the lost, those whose answers were lost or late.
    #[serde(default)]
    pub lost_back: u64,
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
        let mut record = Record::new(interval);
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

    fn answered(at: i64, there: i64) -> ProbeEvent {
        let [at, there] = [at, there].map(|it| it * 1_000_000);
        ProbeEvent::Answered(Sample { at, there, back: 1_000_000 })
    }

    fn found(record: &Record) -> Vec<(String, u64, u64)> {
        let phases = record.phases(&Clock::same());
        phases.into_iter().map(|it| (it.name, it.rtt.count, it.there.p50 / 900_000)).collect()
    }

    #[test]
    fn load_divides_the_times_from_its_begin_to_its_end() {
        let mut record = Record::new(Duration::from_millis(10));
        let [began, ended] = [1_000_000_000, 1_600_000_000];
        for event in [
            answered(0, 5),
            answered(999, 5),
            ProbeEvent::LoadBegan { at: began },
            answered(1_000, 50),
            answered(1_500, 50),
            ProbeEvent::LoadEnded { at: ended },
            answered(1_599, 50),
            answered(1_600, 20),
        ] {
            record.take(&event);
        }
        let [idle, loaded, after] = NAMES.map(String::from);
        assert_eq!(found(&record), [(idle.clone(), 2, 5), (loaded, 3, 55), (after, 1, 22)]);
        record.forget_load();
        assert_eq!(found(&record), [(idle, 6, 22)]);
        assert_eq!(record.rtts().count, 6);
    }

    #[test]
    fn losses_are_counted_in_their_phase_and_explained_in_order() {
        let mut record = Record::new(Duration::from_millis(10));
        record.take(&ProbeEvent::LoadBegan { at: 1_000_000_000 });
        let lost = |at: i64, way| ProbeEvent::Lost { at: at * 1_000_000, way };
        for event in [
            lost(10, Some(Way::Back)),
            lost(980, None),
            lost(990, None),
            lost(1_000, None),
            lost(1_010, None),
            answered(1_020, 3),
            ProbeEvent::Explained { from: 980_000_000, until: 1_010_000_000, there: 3, back: 1 },
        ] {
            record.take(&event);
        }
        let phases = record.phases(&Clock::same());
        let found: Vec<_> =
            phases.iter().map(|it| (it.sent, it.lost, it.lost_there, it.lost_back)).collect();
        assert_eq!(found, [(3, 3, 2, 1), (3, 2, 1, 1)]);
    }
}
