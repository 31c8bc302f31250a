//! By how much B differs from A: one estimate for all columns, that B's trials could have.

use tcplab_scenario::{MetricInfo, MetricKind};
use tcplab_stats::{Interval, Shift};

use crate::comparison::Estimator;

/// A difference from A's median, in the metric's unit.
pub(super) struct Estimate {
    pub(super) estimator: Estimator,
    pub(super) difference: f64,
    /// Cut to what is possible, and as wide as holds the difference.
    pub(super) interval: Option<(f64, f64)>,
    /// That of the rank test, not cut: what equivalence is judged by.
    pub(super) whole: Option<(f64, f64)>,
}

impl Estimate {
    /// Of a shift of the values, or of their logarithms. Where A's median, changed by it, is beyond
    /// all trials of B, it is the difference of the medians: where most fall from 25 to 1 and some
    /// from 30 to 1, the shift may be −26.
    pub(super) fn of(
        shift: Shift,
        is_ratio: bool,
        medians: [f64; 2],
        (info, values): (&MetricInfo, &[Vec<f64>; 2]),
    ) -> Estimate {
        let [a, b] = medians;
        let from_a = |shift: f64| amount(is_ratio, a, shift);
        let shifted = from_a(shift.estimate);
        let rounding = 1e-9 * a.abs().max(b.abs());
        let (least, most) = range(&values[1]);
        let is_of_b = (least - rounding..=most + rounding).contains(&(a + shifted));
        let (estimator, difference) =
            if is_of_b { (Estimator::Shift, shifted) } else { (Estimator::Medians, b - a) };
        let whole = shift.interval.map(|Interval { low, high }| (from_a(low), from_a(high)));
        let (least, most) = possible(info, values);
        let cut = |end: f64| end.clamp(least - a, most - a);
        let interval =
            whole.map(|(low, high)| (cut(low).min(difference), cut(high).max(difference)));
        Estimate { estimator, difference: unsigned_zero(difference), interval, whole }
    }
}

/// A shift of the scaled values as a difference from A's median, in the metric's unit.
pub(super) fn amount(is_ratio: bool, median: f64, shift: f64) -> f64 {
    unsigned_zero(if is_ratio { median * shift.exp_m1() } else { shift })
}

/// Zero has no sign in a file.
fn unsigned_zero(value: f64) -> f64 {
    value + 0.0
}

fn range(values: &[f64]) -> (f64, f64) {
    let ends = (f64::INFINITY, f64::NEG_INFINITY);
    values.iter().fold(ends, |(least, most), value| (least.min(*value), most.max(*value)))
}

/// What values of a metric are possible, so that no interval leaves them: what was never negative
/// is not, and no share exceeds the whole.
fn possible(info: &MetricInfo, values: &[Vec<f64>; 2]) -> (f64, f64) {
    let whole = match info.kind {
        MetricKind::Truth => 1.0,
        _ if info.unit == "%" => 100.0,
        _ => f64::INFINITY,
    };
    let (least, most) = range(&values.concat());
    let floor = if least >= 0.0 { 0.0 } else { f64::NEG_INFINITY };
    (floor, if most <= whole { whole } else { f64::INFINITY })
}
