//! The axis of measured values.

use tcplab_units::rounded::decimal;

use crate::scale::Ticks;

/// Values further apart than this factor are drawn on a logarithmic axis.
pub(crate) const DECADES: f64 = 30.0;

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
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for value in values.into_iter().filter(|value| value.is_finite()) {
            (low, high) = (low.min(value), high.max(value));
        }
        if low > high {
            return Axis { low: 0.0, high: 1.0, is_log: false };
        }
        if low > 0.0 && high / low >= DECADES {
            return Axis { low: low / 1.1, high: high * 1.1, is_log: true };
        }
        // Small relative differences must not look large.
        let size = high.abs().max(low.abs());
        let room = (high - low).max(if size > 0.0 { size * 0.01 } else { 1.0 });
        let (from, until) = (low - room * 0.06, high + room * 0.06);
        let from = if low >= 0.0 && low < room * 0.5 { 0.0 } else { from };
        Axis { low: from, high: until, is_log: false }
    }

    /// From 0 at the low end to 1 at the high one.
    pub(crate) fn share(self, value: f64) -> f64 {
        if self.is_log {
            return (value.max(self.low) / self.low).ln() / (self.high / self.low).ln();
        }
        (value - self.low) / (self.high - self.low)
    }

    /// Ticks with their labels, about `most`.
    pub(crate) fn marks(self, most: usize) -> Vec<(f64, String)> {
        if !self.is_log {
            let ticks = Ticks::between(self.low, self.high, most);
            return ticks.at.iter().map(|at| (*at, ticks.label(*at))).collect();
        }
        let decades = (self.high / self.low).log10();
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
}
