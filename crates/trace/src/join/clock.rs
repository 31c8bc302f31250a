//! How two clocks stand to one another, by the delays of packets between them.

use tcplab_units::Span;

use super::ClockEstimate;
use super::delays::RawDelays;

/// From the delays of both directions, with the clock offset added and subtracted.
pub(crate) struct Clock {
    /// Per nanosecond.
    pub(crate) slope: f64,
    slope_error: Option<f64>,
    /// Nanoseconds at time zero.
    pub(crate) offset: f64,
    floors: [Option<f64>; 2],
    is_one: bool,
}

impl Clock {
    /// The one clock of both captures.
    pub(crate) fn one(towards_server: &RawDelays, towards_client: &RawDelays) -> Clock {
        let floors = [towards_server, towards_client].map(|raw| raw.low.floor(0.0));
        Clock { slope: 0.0, slope_error: Some(0.0), offset: 0.0, floors, is_one: true }
    }

    /// `resolution`: by how much a delay may be wrong since times are rounded, nanoseconds. None if
    /// no offset fits: with any, packets of one direction would arrive before they were sent.
    pub(crate) fn estimate(
        towards_server: &RawDelays,
        towards_client: &RawDelays,
        resolution: f64,
    ) -> Option<Clock> {
        let directions = [(towards_server, 1.0), (towards_client, -1.0)];
        // The direction whose floor is the steadier one: queues come and go on the other.
        let best = directions
            .iter()
            .filter_map(|&(raw, sign)| {
                let slope = raw.low.support(raw.mean_time())?.slope;
                Some((slope * sign, raw.unsteadiness(slope, resolution)?))
            })
            .min_by(|a, b| a.1.total_cmp(&b.1));
        // A skew indistinguishable from zero counts as zero; the true one may differ by as much.
        let (slope, slope_error) = match best {
            Some((slope, error)) if slope.abs() > error => (slope, Some(error)),
            Some((slope, error)) => (0.0, Some(slope.abs() + error)),
            None => (0.0, None),
        };
        let floors = directions.map(|(raw, sign)| raw.low.floor(slope * sign));
        let round_trip = floors[0].zip(floors[1]).map(|(there, back)| there + back);
        if round_trip.is_some_and(|trip| trip < -2.0 * resolution) {
            return None;
        }
        let offset = match floors {
            [Some(there), Some(back)] => f64::midpoint(there, -back),
            [Some(there), None] => there,
            [None, Some(back)] => -back,
            [None, None] => 0.0,
        };
        Some(Clock { slope, slope_error, offset, floors, is_one: false })
    }

    /// The result, with everything subtracted before.
    pub(crate) fn result(&self, rough: i64) -> ClockEstimate {
        let round_trip = match self.floors {
            [Some(there), Some(back)] => Some((there + back).max(0.0)),
            _ => None,
        };
        let nanos = |value: f64| Span::from_nanos(value.round() as u64);
        ClockEstimate {
            offset_nanos: (self.floors != [None, None])
                .then(|| rough.saturating_add(self.offset.round() as i64)),
            error: round_trip
                .map(|trip| if self.is_one { Span::ZERO } else { nanos((trip / 2.0).ceil()) }),
            least_round_trip: round_trip.map(nanos),
            is_one: self.is_one,
            skew_ppm: self.slope * 1e6,
            skew_error_ppm: self.slope_error.map(|error| error * 1e6),
        }
    }
}
