//! A series over time in bounded memory: of all time in points that become wider, or of the latest
//! time in points that keep their width.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::clock::{Clock, Sample};
use super::event::{ProbeEvent, Way};
use crate::bulk::Direction;

/// Points of one width, in order of time.
#[derive(Debug)]
pub(crate) struct Points {
    /// Nanoseconds of a point.
    width: i64,
    /// The most that are kept.
    most: usize,
    /// Whether all time is kept; else the latest.
    is_whole: bool,
    /// The number of the first that is kept.
    first: i64,
    kept: VecDeque<Point>,
    /// Until when it is known what was carried: up, and down.
    carried_until: [i64; 2],
}

/// Probes that were sent in a stretch of time.
#[derive(Debug, Clone, Copy, Default)]
struct Point {
    sent: u64,
    lost: u64,
    /// Of the lost: there, and back. Of others it is not known.
    lost_ways: [u64; 2],
    /// Of the answered: how many, and the sums of their times.
    answered: i64,
    sums: [i128; 3],
    least: Option<Sample>,
    most: Option<Sample>,
    /// Bytes that a load carried: up, and down. None where there was none.
    carried: [Option<u64>; 2],
}

impl Points {
    /// Of all time: neighbours are joined when there are more than `most`.
    pub(crate) fn of_all(width: i64, most: usize) -> Points {
        let kept = VecDeque::new();
        Points { width, most, is_whole: true, first: 0, kept, carried_until: [0; 2] }
    }

    /// The latest `most` points.
    pub(crate) fn of_latest(width: i64, most: usize) -> Points {
        Points { is_whole: false, ..Points::of_all(width, most) }
    }

    /// Takes what was learnt of a probe or a load.
    pub(crate) fn take(&mut self, event: &ProbeEvent) {
        match *event {
            ProbeEvent::Answered(sample) => self.answered(sample),
            ProbeEvent::Lost { at, way } => {
                let Some(point) = self.at(at) else { return };
                point.sent += 1;
                point.lost += 1;
                if let Some(way) = way {
                    point.lost_ways[way as usize] += 1;
                }
            }
            ProbeEvent::Explained { from, until, there, back } => {
                self.explained(from, until, [there, back]);
            }
            ProbeEvent::Carried { from, until, direction, bytes } => {
                self.carried(from, until, direction, bytes);
            }
            ProbeEvent::LoadBegan { .. } | ProbeEvent::LoadEnded { .. } => {}
        }
    }

    fn answered(&mut self, sample: Sample) {
        let Some(point) = self.at(sample.at) else { return };
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

    /// Of the probes that were lost in this time it is now known on which way.
    fn explained(&mut self, from: i64, until: i64, mut ways: [u64; 2]) {
        let places = from.max(0) / self.width..=until.max(0) / self.width;
        for place in places.start().max(&self.first) - self.first..=places.end() - self.first {
            let point = usize::try_from(place).ok().and_then(|it| self.kept.get_mut(it));
            let Some(point) = point else { return };
            let mut open = point.lost - point.lost_ways.iter().sum::<u64>();
            for (way, left) in ways.iter_mut().enumerate() {
                let now = open.min(*left);
                point.lost_ways[way] += now;
                (*left, open) = (*left - now, open - now);
            }
        }
    }

    /// Divides bytes among the points of this time.
    fn carried(&mut self, from: i64, until: i64, direction: Direction, bytes: u64) {
        self.carried_until[direction as usize] = until;
        let (span, mut begin, mut left) = ((until - from).max(1), from.max(0), bytes);
        // What is late by more than is kept counts where it ends.
        begin = begin.max(until - self.width.saturating_mul(self.most as i64));
        loop {
            let end = (begin / self.width + 1).saturating_mul(self.width).min(until);
            let share = (i128::from(bytes) * i128::from(end - begin) / i128::from(span)) as u64;
            let now = if end >= until { left } else { share.min(left) };
            left -= now;
            if let Some(point) = self.at(begin) {
                *point.carried[direction as usize].get_or_insert(0) += now;
            }
            if end >= until {
                return;
            }
            begin = end;
        }
    }

    /// The point of this time; none where it is not kept any more.
    fn at(&mut self, at: i64) -> Option<&mut Point> {
        while self.is_whole && at / self.width >= self.most as i64 {
            let joined = self.kept.make_contiguous().chunks(2);
            self.kept = joined.map(|it| it.iter().copied().fold(Point::default(), join)).collect();
            self.width *= 2;
        }
        let place = at.max(0) / self.width;
        let beyond = place - self.first - self.most as i64 + 1;
        if beyond > 0 {
            let gone =
                usize::try_from(beyond).map_or(self.kept.len(), |it| it.min(self.kept.len()));
            self.kept.drain(..gone);
            self.first += beyond;
        }
        let index = usize::try_from(place - self.first).ok()?;
        if self.kept.len() <= index {
            self.kept.resize(index + 1, Point::default());
        }
        self.kept.get_mut(index)
    }

    /// The sample with the least RTT of each point.
    pub(crate) fn least(&self) -> Vec<Sample> {
        self.kept.iter().filter_map(|point| point.least).collect()
    }

    /// The least of both ways over all times, nanoseconds: below 0 where a clock was set.
    pub(crate) fn least_way(&self, clock: &Clock) -> i64 {
        let ends = self.kept.iter().flat_map(|it| [it.least, it.most]).flatten();
        let least = |it: Sample| {
            let ways = clock.ways(&it);
            ways.0.min(ways.1)
        };
        ends.map(least).min().unwrap_or(0)
    }

    /// Where the first point begins, nanoseconds.
    pub(crate) fn begin(&self) -> i64 {
        self.first.saturating_mul(self.width)
    }

    /// The series until `end` (nanoseconds), each way by this clock.
    pub(crate) fn series(&self, clock: &Clock, end: i64) -> Vec<SeriesPoint> {
        let numbered = (self.first..).zip(&self.kept);
        let within = numbered.take_while(|(number, _)| (number + 1) * self.width <= end);
        let is_filled = |point: &Point| point.sent > 0 || point.carried.iter().any(Option::is_some);
        let filled = within.filter(|(_, point)| is_filled(point));
        filled.map(|(number, point)| self.shown(number, point, clock)).collect()
    }

    fn shown(&self, number: i64, point: &Point, clock: &Clock) -> SeriesPoint {
        let milliseconds = |nanos: i64| nanos as f64 / 1e6;
        let mean = |sum: i128| (sum / i128::from(point.answered.max(1))) as i64;
        let [at, there, back] = point.sums.map(mean);
        let ways = clock.ways(&Sample { at, there, back });
        let known = |value: i64| (point.answered > 0).then(|| milliseconds(value));
        let begin = number * self.width;
        let rate = |direction: Direction| {
            let way = direction as usize;
            // Of the last point it is known for a part of its time.
            let nanos = (self.carried_until[way] - begin).clamp(1, self.width);
            point.carried[way].map(|bytes| bytes as f64 * 8e9 / nanos as f64)
        };
        SeriesPoint {
            at_seconds: begin as f64 / 1e9,
            sent: point.sent,
            lost: point.lost,
            lost_there: point.lost_ways[Way::There as usize],
            lost_back: point.lost_ways[Way::Back as usize],
            rtt_min_ms: point.least.map(|it| milliseconds(it.rtt())),
            rtt_mean_ms: known(there.saturating_add(back)),
            rtt_max_ms: point.most.map(|it| milliseconds(it.rtt())),
            there_mean_ms: known(ways.0),
            back_mean_ms: known(ways.1),
            upload_bits_per_second: rate(Direction::Upload),
            download_bits_per_second: rate(Direction::Download),
        }
    }
}

/// Two neighbours as one.
fn join(one: Point, other: Point) -> Point {
    let least = [one.least, other.least].into_iter().flatten().min_by_key(Sample::rtt);
    let most = [one.most, other.most].into_iter().flatten().max_by_key(Sample::rtt);
    let sum = |one: [u64; 2], other: [u64; 2]| [one[0] + other[0], one[1] + other[1]];
    let carried = |way: usize| match (one.carried[way], other.carried[way]) {
        (None, None) => None,
        (one, other) => Some(one.unwrap_or(0) + other.unwrap_or(0)),
    };
    Point {
        sent: one.sent + other.sent,
        lost: one.lost + other.lost,
        lost_ways: sum(one.lost_ways, other.lost_ways),
        answered: one.answered + other.answered,
        sums: std::array::from_fn(|index| one.sums[index] + other.sums[index]),
        least,
        most,
        carried: [carried(0), carried(1)],
    }
}

/// Probes that were sent in a stretch of time. Milliseconds; none where none was answered.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct SeriesPoint {
    /// Where it begins, since the beginning of the measurement.
    pub at_seconds: f64,
    /// Probes sent.
    pub sent: u64,
    /// Of these, without an answer.
    pub lost: u64,
    /// Of the lost, on their way to the server; which way others were lost is in `lost_back`, or
    /// not known.
    #[serde(default)]
    pub lost_there: u64,
    /// Of the lost, those whose answers were lost.
    #[serde(default)]
    pub lost_back: u64,
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
    /// What a load carried to its server; none without one.
    #[serde(default)]
    pub upload_bits_per_second: Option<f64>,
    /// What a load carried from its server.
    #[serde(default)]
    pub download_bits_per_second: Option<f64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    const WIDTH: i64 = 100_000_000;

    fn lost(at: i64, way: Option<Way>) -> ProbeEvent {
        ProbeEvent::Lost { at, way }
    }

    fn series(points: &Points) -> Vec<SeriesPoint> {
        points.series(&Clock::same(), i64::MAX)
    }

    #[test]
    fn latest_points_take_the_place_of_the_first() {
        let mut points = Points::of_latest(WIDTH, 10);
        for number in 0..25 {
            points.take(&lost(number * WIDTH, None));
        }
        let starts: Vec<f64> = series(&points).iter().map(|it| it.at_seconds * 10.0).collect();
        assert_eq!(starts.len(), 10, "{starts:?}");
        assert!((starts[0] - 15.0).abs() < 1e-9 && points.begin() == 15 * WIDTH);
        // One that is too late is not kept, and one after a long sleep leaves nothing else.
        points.take(&lost(0, None));
        assert_eq!(series(&points).len(), 10);
        points.take(&lost(1 << 60, None));
        assert_eq!(series(&points).len(), 1);
    }

    #[test]
    fn losses_are_explained_later() {
        let mut points = Points::of_all(WIDTH, 100);
        points.take(&lost(0, Some(Way::Back)));
        for number in 1..=6 {
            points.take(&lost(number * WIDTH / 2, None));
        }
        let explained =
            ProbeEvent::Explained { from: WIDTH / 2, until: 3 * WIDTH, there: 4, back: 2 };
        points.take(&explained);
        let ways: Vec<_> = series(&points).iter().map(|it| (it.lost_there, it.lost_back)).collect();
        assert_eq!(ways, [(1, 1), (2, 0), (1, 1), (0, 1)]);
        // More than were lost cannot be explained.
        points.take(&explained);
        assert_eq!(series(&points)[1].lost_there, 2);
    }

    #[test]
    fn bytes_are_divided_by_time() {
        for mut points in [Points::of_all(WIDTH, 100), Points::of_latest(WIDTH, 100)] {
            let direction = Direction::Upload;
            points.take(&ProbeEvent::Carried {
                from: WIDTH / 2,
                until: 5 * WIDTH / 2,
                direction,
                bytes: 4_000,
            });
            let rates = series(&points);
            let rates: Vec<f64> = rates.iter().filter_map(|it| it.upload_bits_per_second).collect();
            // The first half of the first point had none; the last is half over.
            assert_eq!(rates, [80_000.0, 160_000.0, 160_000.0]);
            assert_eq!(series(&points)[0].download_bits_per_second, None);
        }
    }
}
