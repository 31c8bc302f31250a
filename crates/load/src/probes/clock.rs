//! The clock of another host, from times that both put on datagrams.
//!
//! A sample has four times: sent and received by the client's clock, received and sent by the
//! server's. Their sum is the RTT, whatever the clocks say. Half of their difference is the
//! offset of the server's clock, wrong by at most half the RTT (RFC 5905, section 8). So the
//! sample with the least RTT decides; over a long time the samples with the least RTT of each
//! window say how fast the offset changes.

use serde::{Deserialize, Serialize};

/// Windows that the drift is taken from.
const WINDOWS: usize = 64;
/// Fewer windows, or a shorter time (nanoseconds), say nothing about drift.
const LEAST_WINDOWS: usize = 5;
const LEAST_TIME: i64 = 5_000_000_000;
/// Clocks of hosts drift by 10 to 50 ppm: a nanosecond in so many, where it is not measured.
const ASSUMED_DRIFT: i64 = 20_000;

/// One probe that was answered. Times in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sample {
    /// When it was sent, since the beginning.
    pub at: i64,
    /// From the client's clock as it was sent to the server's as it arrived.
    pub there: i64,
    /// From the server's clock as the answer was sent to the client's as it arrived.
    pub back: i64,
}

impl Sample {
    /// Nanoseconds on the way, both ways together.
    pub fn rtt(&self) -> i64 {
        self.there.saturating_add(self.back)
    }

    /// The offset of the server's clock, if both ways took equally long.
    fn offset(&self) -> i64 {
        self.there.saturating_sub(self.back) / 2
    }
}

/// How the server's clock differs from the client's.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Clock {
    /// Server's minus client's clock at the beginning.
    pub offset_ns: i64,
    /// By how much each way may be wrong: half of the least RTT, and what clocks may drift in this
    /// time where the drift is not known; 0 if both are one clock.
    pub bound_ns: i64,
    /// How fast the offset grows, nanoseconds each second (10^-9); none if the time was too short
    /// to tell. 0 where it cannot be told from none.
    pub drift_ppb: Option<f64>,
    /// By how much the drift may be wrong.
    pub drift_bound_ppb: Option<f64>,
    /// Whether both hosts have one clock, so that each way is exact.
    pub is_same: bool,
}

impl Clock {
    /// Both hosts read one clock.
    pub fn same() -> Clock {
        Clock {
            offset_ns: 0,
            bound_ns: 0,
            drift_ppb: Some(0.0),
            drift_bound_ppb: Some(0.0),
            is_same: true,
        }
    }

    /// Estimates it from samples in order of time; none without a sample.
    pub fn estimate(samples: &[Sample]) -> Option<Clock> {
        let best = samples.iter().min_by_key(|sample| sample.rtt())?;
        let (drift, bound) = drift(samples, best.rtt()).unzip();
        // What may be chance is no drift.
        let drift = drift.map(|it| if it.abs() > bound.unwrap_or(0.0) { it } else { 0.0 });
        let since = (best.at as f64 * drift.unwrap_or(0.0)) as i64;
        let drifted = match (drift, samples) {
            (None, [first, .., last]) => last.at.saturating_sub(first.at) / ASSUMED_DRIFT,
            _ => 0,
        };
        Some(Clock {
            offset_ns: best.offset().saturating_sub(since),
            bound_ns: (best.rtt().max(0) / 2).saturating_add(drifted),
            drift_ppb: drift.map(|it| it * 1e9),
            drift_bound_ppb: bound.map(|it| it * 1e9),
            is_same: false,
        })
    }

    /// Both ways of a sample by one clock, nanoseconds: there and back.
    pub fn ways(&self, sample: &Sample) -> (i64, i64) {
        let grown = (sample.at as f64 * self.drift_ppb.unwrap_or(0.0) / 1e9) as i64;
        let offset = self.offset_ns.saturating_add(grown);
        (sample.there.saturating_sub(offset), sample.back.saturating_add(offset))
    }
}

/// The drift and by how much it may be wrong, as shares. Samples with the least RTT of each window
/// take part whose RTT is near the least of all: of others the two ways may differ.
fn drift(samples: &[Sample], least: i64) -> Option<(f64, f64)> {
    let (first, last) = (samples.first()?.at, samples.last()?.at);
    let time = last.saturating_sub(first);
    if time < LEAST_TIME {
        return None;
    }
    let mut windows: [Option<Sample>; WINDOWS] = [None; WINDOWS];
    for sample in samples {
        let share = (sample.at - first) as f64 / time as f64;
        let window = &mut windows[((share * WINDOWS as f64) as usize).min(WINDOWS - 1)];
        if window.is_none_or(|other| sample.rtt() < other.rtt()) {
            *window = Some(*sample);
        }
    }
    let room = (least / 10).max(50_000);
    let near: Vec<Sample> =
        windows.into_iter().flatten().filter(|it| it.rtt().saturating_sub(least) <= room).collect();
    let span = near.last()?.at - near.first()?.at;
    if near.len() < LEAST_WINDOWS || span < time / 2 {
        return None;
    }
    // The median of the slopes of far pairs (Theil and Sen); an offset is wrong by at most `wrong`.
    let pairs = near.iter().enumerate().flat_map(|(index, one)| {
        near[index + 1..]
            .iter()
            .filter(|other| other.at - one.at >= span / 2)
            .map(|other| (other.offset() - one.offset()) as f64 / (other.at - one.at) as f64)
    });
    let mut slopes: Vec<f64> = pairs.collect();
    slopes.sort_by(f64::total_cmp);
    let wrong = near.iter().map(|it| it.rtt().saturating_sub(least)).max()? as f64 / 2.0;
    Some((slopes[slopes.len() / 2], 4.0 * wrong / span as f64))
}

#[cfg(test)]
mod tests;
