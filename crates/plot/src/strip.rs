//! Strips: the values of a few trials on one line, with their mean and its interval.

use crate::plane::put;
use crate::scale::{Ticks, decimal};
use crate::svg::escape;

/// Pixels.
const WIDTH: f64 = 280.0;
const HEIGHT: f64 = 26.0;
const MARGIN: f64 = 9.0;

/// The scale several strips share.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StripScale {
    low: f64,
    high: f64,
}

impl StripScale {
    /// Holds all of `values`; none of them, or only one place, gives a scale around it.
    pub fn over(values: impl IntoIterator<Item = f64>) -> StripScale {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for value in values.into_iter().filter(|v| v.is_finite()) {
            (low, high) = (low.min(value), high.max(value));
        }
        match (low, high) {
            (low, high) if low > high => StripScale { low: 0.0, high: 1.0 },
            (low, high) if (high - low) <= low.abs() * 1e-9 => {
                let around = if low == 0.0 { 1.0 } else { low.abs() * 0.05 };
                StripScale { low: low - around, high: high + around }
            }
            (low, high) => StripScale { low, high },
        }
    }

    fn x(self, value: f64) -> f64 {
        MARGIN + (value - self.low) / (self.high - self.low) * (WIDTH - 2.0 * MARGIN)
    }
}

/// A dot per value, a bar for the interval of the mean, a diamond for the mean.
pub fn strip(
    label: &str,
    values: &[f64],
    mean: f64,
    interval: Option<(f64, f64)>,
    scale: StripScale,
) -> String {
    let middle = HEIGHT / 2.0;
    let mut svg = format!(
        r#"<svg class="strip" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{0}"><title>{0}</title>"#,
        escape(label)
    );
    put(&mut svg, &format!(r#"<path class="rule" d="M0 {middle}H{WIDTH}"/>"#));
    if let Some((low, high)) = interval.filter(|(l, h)| l.is_finite() && h.is_finite()) {
        // A wide interval of few trials may leave the strip; it is cut at the edges.
        let (from, to) = (scale.x(low).max(0.0), scale.x(high).min(WIDTH));
        put(
            &mut svg,
            &format!(
                r#"<rect class="interval" x="{from:.1}" y="{}" width="{:.1}" height="12" rx="2"/>"#,
                middle - 6.0,
                (to - from).max(1.0),
            ),
        );
    }
    for value in values.iter().filter(|v| v.is_finite()) {
        let x = scale.x(*value);
        put(&mut svg, &format!(r#"<circle class="trial" cx="{x:.1}" cy="{middle}" r="3.5"/>"#));
    }
    if mean.is_finite() {
        let x = scale.x(mean);
        put(
            &mut svg,
            &format!(r#"<path class="mean" d="M{x:.1} {}l4 9-4 9-4-9z"/>"#, middle - 9.0),
        );
    }
    svg.push_str("</svg>");
    svg
}

/// The numbers under strips that share a scale.
pub fn strip_axis(scale: StripScale, unit: &str) -> String {
    let ticks = Ticks::between(scale.low, scale.high, 4);
    let mut svg = format!(
        r#"<svg class="strip axis" viewBox="0 0 {WIDTH} 18" role="img" aria-label="scale from {} to {} {}">"#,
        decimal(scale.low, ticks.decimals),
        decimal(scale.high, ticks.decimals),
        escape(unit),
    );
    for at in &ticks.at {
        let (x, label) = (scale.x(*at), ticks.label(*at));
        put(&mut svg, &format!(r#"<path class="rule" d="M{x:.1} 0v4"/>"#));
        put(&mut svg, &format!(r#"<text x="{x:.1}" y="15">{label}</text>"#));
    }
    svg.push_str("</svg>");
    svg
}
