//! The axis of measured values.

use tcplab_units::rounded::decimal;

use crate::looks::AxisLooks;
use crate::scale::Ticks;

/// Values further apart than this factor are drawn on a logarithmic axis.
pub(crate) const DECADES: f64 = 30.0;
/// From end to end of a logarithmic axis where the values do not say.
const LOG_REACH: f64 = 1_000.0;

/// A range of values, evenly or by their logarithm.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Axis {
    pub(crate) low: f64,
    pub(crate) high: f64,
    pub(crate) is_log: bool,
}

impl Axis {
    /// Holds all of `values` with a little room around them; zero is on it only if it lies near.
    pub(crate) fn over(values: impl IntoIterator<Item = f64>) -> Axis {
        Axis::reaching(values, &AxisLooks::default())
    }

    /// As [`Self::over`] of the values that the reader wants to see, with the ends and the scale
    /// that the reader has set.
    pub(crate) fn reaching(values: impl IntoIterator<Item = f64>, looks: &AxisLooks) -> Axis {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for value in values.into_iter().filter(|it| it.is_finite() && looks.holds(*it)) {
            (low, high) = (low.min(value), high.max(value));
        }
        if low > high {
            return Axis { low: 0.0, high: 1.0, is_log: false }.within(looks);
        }
        if looks.is_log.unwrap_or(low > 0.0 && high / low >= DECADES) {
            return Axis { low: low / 1.1, high: high * 1.1, is_log: true }.within(looks);
        }
        // Small relative differences must not look large.
        let size = high.abs().max(low.abs());
        let room = (high - low).max(if size > 0.0 { size * 0.01 } else { 1.0 });
        let (from, until) = (low - room * 0.06, high + room * 0.06);
        let from = if low >= 0.0 && low < room * 0.5 { 0.0 } else { from };
        Axis { low: from, high: until, is_log: false }.within(looks)
    }

    /// With the ends and the scale that the reader has set. A logarithmic axis begins above zero.
    pub(crate) fn within(self, looks: &AxisLooks) -> Axis {
        let (low, high) = (looks.from.unwrap_or(self.low), looks.until.unwrap_or(self.high));
        let is_log = looks.is_log.unwrap_or(self.is_log && low > 0.0) && high > 0.0;
        let low = if is_log && low <= 0.0 { high / LOG_REACH } else { low };
        Axis { low, high, is_log }.not_empty(looks)
    }

    /// Moves the end that nobody has set where there are no values between the two.
    fn not_empty(self, looks: &AxisLooks) -> Axis {
        let Axis { low, high, is_log } = self;
        if low < high {
            return self;
        }
        let step = low.abs().max(high.abs()).max(1.0);
        match looks.until {
            Some(high) if is_log => Axis { low: high / LOG_REACH, high, is_log },
            Some(high) => Axis { low: high - step, high, is_log },
            None if is_log => Axis { low, high: low * LOG_REACH, is_log },
            None => Axis { low, high: low + step, is_log },
        }
    }

    /// Whether a value is between the ends, which belong to it.
    pub(crate) fn holds(self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }

    /// From 0 at the low end to 1 at the high one.
    pub(crate) fn share(self, value: f64) -> f64 {
        if self.is_log {
            return (value.max(self.low) / self.low).ln() / (self.high / self.low).ln();
        }
        (value - self.low) / (self.high - self.low)
    }

    /// The value at such a share.
    pub(crate) fn value(self, share: f64) -> f64 {
        if self.is_log {
            return self.low * (self.high / self.low).powf(share);
        }
        self.low + share * (self.high - self.low)
    }

    /// Ticks with their labels, about `most`.
    pub(crate) fn marks(self, most: usize) -> Vec<(f64, String)> {
        if !self.is_log {
            let ticks = Ticks::between(self.low, self.high, most);
            return ticks.at.iter().map(|at| (*at, ticks.label(*at))).collect();
        }
        let decades = (self.high / self.low).log10();
        if decades < 1.0 {
            let ticks = Ticks::between(self.low, self.high, most);
            return ticks.at.iter().map(|at| (*at, ticks.label(*at))).collect();
        }
        let steps: &[f64] = match () {
            () if decades > 3.0 || decades * 3.0 > most as f64 + 1.0 => &[1.0],
            () => &[1.0, 2.0, 5.0],
        };
        let first = self.low.log10().floor() as i32;
        let last = self.high.log10().ceil() as i32;
        (first..=last)
            .flat_map(|power| steps.iter().map(move |step| (step * 10f64.powi(power), power)))
            .filter(|(at, _)| (self.low..=self.high).contains(at))
            .map(|(at, power)| (at, decimal(at, usize::try_from(-power).unwrap_or(0))))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_zero_is_on_the_axis_and_decades_are_logarithmic() {
        let near = Axis::over([1.0, 4.0]);
        assert!(near.low == 0.0 && near.high > 4.0 && !near.is_log);
        let far = Axis::over([90.0, 100.0]);
        assert!(far.low > 85.0 && far.low < 90.0);
        assert!(Axis::over([0.1, 10.0]).is_log && !Axis::over([0.0, 10.0]).is_log);
        assert_eq!(Axis::over([]), Axis { low: 0.0, high: 1.0, is_log: false });
        for one in [0.0, 5.0, -5.0] {
            let alike = Axis::over([one, one]);
            assert!(alike.low <= one && alike.high > one, "{alike:?}");
            assert!((0.0..=1.0).contains(&alike.share(one)));
        }
    }

    #[test]
    #[expect(clippy::float_cmp, reason = "what is set is kept exactly")]
    fn reader_sets_ends_and_scale() {
        let looks = |from, until, is_log| AxisLooks { from, until, is_log, label: None };
        let values = [1.0, 4.0, 50.0];
        let axis = |looks: &AxisLooks| Axis::reaching(values, looks);
        let part = axis(&looks(Some(2.0), None, None));
        assert_eq!((part.low, part.is_log), (2.0, false));
        assert!(part.high > 50.0, "{part:?}");
        let part = axis(&looks(None, Some(5.0), None));
        assert_eq!((part.low, part.high), (0.0, 5.0), "by the values that are shown");
        assert!(!axis(&looks(None, None, Some(false))).is_log);
        assert!(axis(&looks(None, None, None)).is_log);
        // Zero has no place on it.
        let log = Axis::reaching([-1.0, 0.0, 5.0, 6.0], &looks(None, None, Some(true)));
        assert!(log.is_log && log.low > 4.0 && log.high > 6.0, "{log:?}");
        let log = axis(&looks(Some(0.0), Some(10.0), Some(true)));
        assert_eq!((log.high, log.is_log), (10.0, true));
        assert!(log.low > 0.0, "{log:?}");
        for (from, until) in [(Some(90.0), None), (None, Some(0.5)), (Some(0.0), Some(0.5))] {
            for is_log in [None, Some(true), Some(false)] {
                let empty = axis(&looks(from, until, is_log));
                assert!(empty.low < empty.high, "{empty:?}");
                assert_eq!(until.unwrap_or(empty.high), empty.high, "{empty:?}");
                let low = from.filter(|_| !empty.is_log).unwrap_or(empty.low);
                assert_eq!(low, empty.low, "{empty:?}");
            }
        }
        let none = Axis::reaching([-1.0], &looks(None, None, Some(true)));
        assert!(none.low < none.high && (!none.is_log || none.low > 0.0), "{none:?}");
    }
}
