//! Values on the scale that they are compared on.

use tcplab_scenario::{MetricInfo, MetricKind};
use tcplab_stats::standard_deviation;

/// So much of a value may be rounding: what is closer together is equal, lest ranks break ties by
/// noise.
const ROUNDING: f64 = 1e-12;

/// The values of both sides, or their logarithms where they are compared by ratios.
pub(super) struct Scaled {
    pub(super) is_ratio: bool,
    pub(super) values: [Vec<f64>; 2],
    /// By how much B exceeds A in each pair; nothing where there are no pairs.
    pub(super) apart: Vec<f64>,
}

impl Scaled {
    pub(super) fn of(info: &MetricInfo, values: &[Vec<f64>; 2], is_paired: bool) -> Scaled {
        let is_ratio = is_by_ratio(info, values);
        let scale = |value: &f64| if is_ratio { value.ln() } else { *value };
        let [mut a, mut b] = values.each_ref().map(|of| of.iter().map(scale).collect::<Vec<_>>());
        let largest = a.iter().chain(&b).map(|value| value.abs());
        // A logarithm is as uncertain as its number is relative to itself.
        let rounding = ROUNDING * largest.fold(f64::from(u8::from(is_ratio)), f64::max);
        let mut apart = Vec::new();
        if is_paired {
            apart = b.iter().zip(&a).map(|(b, a)| b - a).collect();
            without_rounding(&mut apart.iter_mut().collect::<Vec<_>>(), rounding);
        } else {
            without_rounding(&mut a.iter_mut().chain(&mut b).collect::<Vec<_>>(), rounding);
        }
        Scaled { is_ratio, values: [a, b], apart }
    }

    /// The standard deviation that a test has to do with: of the differences of pairs, or of the
    /// values of both sides around their own means.
    pub(super) fn spread(&self, is_paired: bool) -> f64 {
        if is_paired {
            return standard_deviation(&self.apart).unwrap_or_default();
        }
        let parts = self.values.each_ref().map(|values| {
            let free = values.len().saturating_sub(1) as f64;
            (free, free * standard_deviation(values).unwrap_or_default().powi(2))
        });
        let free: f64 = parts.iter().map(|(free, _)| free).sum();
        let squares: f64 = parts.iter().map(|(_, squares)| squares).sum();
        if free > 0.0 { (squares / free).sqrt() } else { 0.0 }
    }
}

/// Whether a metric is compared by ratios: positive amounts, whose differences grow with them.
/// Counts and shares are compared by differences, in their unit and in points.
fn is_by_ratio(info: &MetricInfo, values: &[Vec<f64>; 2]) -> bool {
    let is_amount =
        info.kind == MetricKind::Number && !matches!(info.unit, "" | "segments" | "packets" | "%");
    is_amount && values.iter().flatten().all(|value| *value > 0.0)
}

/// Makes sizes equal that differ from the next smaller one by no more than rounding.
fn without_rounding(values: &mut [&mut f64], rounding: f64) {
    values.sort_by(|a, b| a.abs().total_cmp(&b.abs()));
    let (mut common, mut last) = (0.0_f64, 0.0);
    for value in values {
        let size = value.abs();
        if size - last > rounding {
            common = size;
        }
        last = size;
        **value = if common == 0.0 { 0.0 } else { common.copysign(**value) };
    }
}
