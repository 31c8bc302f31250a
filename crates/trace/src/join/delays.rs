//! Delays before the clock offset is known.

use tcplab_units::{Instant, Span};

use super::hull::Hull;
use super::{Crossing, DelayPoint, Delays};

/// The first interval of a series.
const FINEST: i64 = 10_000_000;
/// As many samples are kept for quantiles.
const SAMPLES: usize = 2_048;
/// The number of parts of the time, to see how steady the minimum delay is.
const PARTS: usize = 8;

#[derive(Debug, Clone, Copy)]
struct Bin {
    count: u64,
    sum: i128,
    min: i64,
    max: i64,
}

const EMPTY: Bin = Bin { count: 0, sum: 0, min: i64::MAX, max: i64::MIN };

impl Bin {
    fn join(self, other: Bin) -> Bin {
        Bin {
            count: self.count + other.count,
            sum: self.sum + other.sum,
            min: self.min.min(other.min),
            max: self.max.max(other.max),
        }
    }
}

/// Delays by arrival, in nanoseconds: with the difference of the clocks in them.
#[derive(Debug, Default)]
pub(crate) struct RawDelays {
    pub(crate) low: Hull,
    /// The hull of the negated delays.
    high: Hull,
    start: Option<i64>,
    interval: i64,
    bins: Vec<Bin>,
    /// Every `every`-th, evenly.
    samples: Vec<(i64, i64)>,
    every: u64,
    seen: u64,
    /// Least and greatest.
    pub(crate) range: Option<(i64, i64)>,
}

impl RawDelays {
    /// A packet that arrived at `at` and seems to have taken `delay`; in the order of arrival.
    pub(crate) fn add(&mut self, at: i64, delay: i64) {
        self.low.add(at, delay);
        self.high.add(at, -delay);
        let (least, most) = self.range.unwrap_or((delay, delay));
        self.range = Some((least.min(delay), most.max(delay)));
        self.add_to_series(at, delay);
        self.every = self.every.max(1);
        if self.seen.is_multiple_of(self.every) {
            self.samples.push((at, delay));
            if self.samples.len() >= 2 * SAMPLES {
                let mut index = 0_u32;
                self.samples.retain(|_| {
                    index += 1;
                    index % 2 == 1
                });
                self.every *= 2;
            }
        }
        self.seen += 1;
    }

    fn add_to_series(&mut self, at: i64, delay: i64) {
        let one = Bin { count: 1, sum: delay.into(), min: delay, max: delay };
        let place = self.bin_at(at);
        self.bins[place] = self.bins[place].join(one);
    }

    /// The interval of a time, after those needed were added.
    fn bin_at(&mut self, at: i64) -> usize {
        let start = *self.start.get_or_insert(at);
        self.interval = self.interval.max(FINEST);
        let passed = (at - start).max(0);
        while passed / self.interval >= Crossing::POINTS as i64 {
            let pairs = self.bins.chunks(2);
            self.bins = pairs.map(|pair| pair.iter().copied().fold(EMPTY, Bin::join)).collect();
            self.interval *= 2;
        }
        let index = (passed / self.interval) as usize;
        if index >= self.bins.len() {
            self.bins.resize(index + 1, EMPTY);
        }
        index
    }

    /// All delays of several directions between the same captures: what concerns the clocks.
    pub(crate) fn gather<'a>(&mut self, all: impl Iterator<Item = &'a RawDelays>) {
        let (mut corners, mut bins) = (Vec::new(), Vec::new());
        for raw in all {
            corners.extend_from_slice(raw.low.corners());
            bins.extend(raw.bins().map(|(at, bin)| (at + raw.interval / 2, bin)));
        }
        corners.sort_unstable();
        bins.sort_unstable_by_key(|(at, _)| *at);
        for (x, y) in corners {
            self.low.add(x, y);
        }
        for (at, bin) in bins {
            let place = self.bin_at(at);
            self.bins[place] = self.bins[place].join(bin);
            self.seen += bin.count;
        }
    }

    /// When the first one arrived.
    pub(crate) fn start(&self) -> Option<i64> {
        self.start
    }

    fn bins(&self) -> impl Iterator<Item = (i64, Bin)> {
        let start = self.start.unwrap_or_default();
        let bins = self.bins.iter().enumerate().filter(|(_, bin)| bin.count > 0);
        bins.map(move |(index, bin)| (start + index as i64 * self.interval, *bin))
    }

    /// When they arrived, on average.
    pub(crate) fn mean_time(&self) -> f64 {
        let half = self.interval / 2;
        let weighted = self.bins().map(|(at, bin)| (at + half) as f64 * bin.count as f64);
        weighted.sum::<f64>() / self.seen.max(1) as f64
    }

    /// The possible error of the slope: how much the least delay, without `slope`, differs between
    /// eight parts of the time, over a quarter of the time, since these may rise or fall together
    /// by chance. No less than what the `resolution` of the delays hides.
    pub(crate) fn unsteadiness(&self, slope: f64, resolution: f64) -> Option<f64> {
        let span = self.bins.len() as f64 * self.interval as f64;
        if self.bins.len() < PARTS {
            return None;
        }
        let mut least = [f64::MAX; PARTS];
        let start = self.start.unwrap_or_default();
        for (at, bin) in self.bins() {
            let index = ((at - start) / self.interval) as usize * PARTS / self.bins.len();
            let middle = (at + self.interval / 2) as f64;
            least[index] = least[index].min(bin.min as f64 - slope * middle);
        }
        if least.contains(&f64::MAX) {
            return None;
        }
        let lowest = least.iter().copied().fold(f64::MAX, f64::min);
        let highest = least.iter().copied().fold(f64::MIN, f64::max);
        // Within an interval it is not known where the least lay.
        let blurred = slope.abs() * self.interval as f64;
        Some(4.0 * (highest - lowest + blurred + resolution) / span)
    }

    /// The delays, `slope` and `offset` of the clocks at time zero being known.
    pub(crate) fn corrected(&self, slope: f64, offset: f64) -> Option<Delays> {
        let min = self.low.floor(slope)? - offset;
        let max = -self.high.floor(-slope)? - offset;
        let mut sorted: Vec<f64> =
            self.samples.iter().map(|&(at, y)| y as f64 - slope * at as f64 - offset).collect();
        sorted.sort_by(f64::total_cmp);
        let at = |part: usize| {
            let rank = (sorted.len() * part).div_ceil(100).max(1);
            sorted[rank - 1].clamp(min, max)
        };
        Some(Delays { min: span(min), median: span(at(50)), p95: span(at(95)), max: span(max) })
    }

    pub(crate) fn series(&self, slope: f64, offset: f64) -> Vec<DelayPoint> {
        let point = |(at, bin): (i64, Bin)| {
            let shift = slope * (at + self.interval / 2) as f64 + offset;
            DelayPoint {
                at: Instant::from_nanos(at.max(0) as u64),
                packets: bin.count,
                min: span(bin.min as f64 - shift),
                mean: span(bin.sum as f64 / bin.count as f64 - shift),
                max: span(bin.max as f64 - shift),
            }
        };
        self.bins().map(point).collect()
    }
}

fn span(nanos: f64) -> Span {
    Span::from_nanos(nanos.round().max(0.0) as u64)
}
