//! Strips: the values of trials on one line, with their mean and its interval.

use tcplab_units::rounded::decimal;

use crate::scale::Ticks;
use crate::svg::{escape, put};

/// Pixels.
const WIDTH: f64 = 280.0;
const HEIGHT: f64 = 26.0;
const MARGIN: f64 = 9.0;
/// Of more values than this those at the same pixel are one dot: ten thousand would lie upon one
/// another, and the strip is as large as it is wide.
const MANY: usize = 200;

/// The scale several strips share.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StripScale {
    low: f64,
    high: f64,
}

/// A scale is at least so wide, as a share of its largest value: what differs by less than a
/// small part of it must not look far apart.
const LEAST_SHARE: f64 = 0.02;
/// A scale as wide as this share of its largest value begins at zero.
const SHARE_FROM_ZERO: f64 = 0.4;

impl StripScale {
    /// Holds all of `values`, and of `intervals` what lies no further out than the values are
    /// apart: few trials give intervals so wide that nothing else could be seen.
    pub fn over(
        values: impl IntoIterator<Item = f64>,
        intervals: impl IntoIterator<Item = (f64, f64)>,
    ) -> StripScale {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for value in values.into_iter().filter(|v| v.is_finite()) {
            (low, high) = (low.min(value), high.max(value));
        }
        if low > high {
            return StripScale { low: 0.0, high: 1.0 };
        }
        let most = low.abs().max(high.abs());
        let least = if most == 0.0 { 1.0 } else { most * LEAST_SHARE };
        let room = (high - low).max(least);
        let wanted = intervals
            .into_iter()
            .filter(|(from, until)| from.is_finite() && until.is_finite())
            .fold((low, high), |(low, high), (from, until)| (low.min(from), high.max(until)));
        let (low, high) = (wanted.0.max(low - room), wanted.1.min(high + room));
        let around = ((least - (high - low)) / 2.0).max(0.0);
        let (low, high) = (low - around, high + around);
        if low > 0.0 && high - low > high * SHARE_FROM_ZERO {
            return StripScale { low: 0.0, high };
        }
        StripScale { low, high }
    }

    /// How much of its largest value the scale spans, from 0 to 1; 1 if zero is on it.
    pub fn share(self) -> f64 {
        if self.low <= 0.0 && self.high >= 0.0 {
            return 1.0;
        }
        (self.high - self.low) / self.low.abs().max(self.high.abs())
    }

    fn x(self, value: f64) -> f64 {
        MARGIN + (value - self.low) / (self.high - self.low) * (WIDTH - 2.0 * MARGIN)
    }
}

/// A dot per value (of very many: per pixel), a bar for the interval of the mean (with an arrowhead
/// where it is cut), a diamond for the mean.
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
        let (from, to) = (scale.x(low).max(0.0), scale.x(high).min(WIDTH));
        let (y, width) = (middle - 6.0, (to - from).max(1.0));
        put(
            &mut svg,
            &format!(
                r#"<rect class="interval" x="{from:.1}" y="{y}" width="{width:.1}" height="12"/>"#
            ),
        );
        // An arrowhead where it extends beyond the strip.
        let y = middle - 4.0;
        if scale.x(low) < 0.0 {
            put(&mut svg, &format!(r#"<path class="cut" d="M5 {y}l-4 4 4 4"/>"#));
        }
        if scale.x(high) > WIDTH {
            put(&mut svg, &format!(r#"<path class="cut" d="M{} {y}l4 4-4 4"/>"#, WIDTH - 5.0));
        }
    }
    let mut places: Vec<f64> =
        values.iter().filter(|value| value.is_finite()).map(|value| scale.x(*value)).collect();
    if places.len() > MANY {
        for x in &mut places {
            *x = x.round();
        }
        places.sort_by(f64::total_cmp);
        places.dedup();
    }
    for x in places {
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
