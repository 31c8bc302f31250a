//! Strips: the values of trials on one line, with their mean and its interval.

use tcplab_units::rounded::decimal;

use crate::scale::Ticks;
use crate::svg::escape;

/// Pixels.
const WIDTH: f64 = 280.0;
const HEIGHT: f64 = 26.0;
const MARGIN: f64 = 9.0;
/// With more values those at the same pixel are one dot, which bounds the size.
const MANY: usize = 200;

/// The scale several strips share.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StripScale {
    low: f64,
    high: f64,
}

/// The least width as a share of the largest value: small relative differences must not look large.
const LEAST_SHARE: f64 = 0.02;
/// A scale of this share of its largest value starts at zero.
const SHARE_FROM_ZERO: f64 = 0.4;

impl StripScale {
    /// Contains all `values`, and `intervals` as far as the values' range: those of few trials are
    /// so wide that they would hide everything else.
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

    /// The spanned share of the largest value, 0 to 1; 1 if zero is on the scale.
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

/// A dot for each value (for each pixel, of very many), a bar for the interval of the mean (with an
/// arrowhead where it is cut), a diamond for the mean.
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
    svg.push_str(&format!(r#"<path class="rule" d="M0 {middle}H{WIDTH}"/>"#));
    if let Some((low, high)) = interval.filter(|(l, h)| l.is_finite() && h.is_finite()) {
        let (from, to) = (scale.x(low).max(0.0), scale.x(high).min(WIDTH));
        let (y, width) = (middle - 6.0, (to - from).max(1.0));
        svg.push_str(&format!(
            r#"<rect class="interval" x="{from:.1}" y="{y}" width="{width:.1}" height="12"/>"#
        ));
        // An arrowhead where it extends beyond the strip.
        let y = middle - 4.0;
        if scale.x(low) < 0.0 {
            svg.push_str(&format!(r#"<path class="cut" d="M5 {y}l-4 4 4 4"/>"#));
        }
        if scale.x(high) > WIDTH {
            svg.push_str(&format!(r#"<path class="cut" d="M{} {y}l4 4-4 4"/>"#, WIDTH - 5.0));
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
        svg.push_str(&format!(r#"<circle class="trial" cx="{x:.1}" cy="{middle}" r="3.5"/>"#));
    }
    if mean.is_finite() {
        let x = scale.x(mean);
        svg.push_str(&format!(r#"<path class="mean" d="M{x:.1} {}l4 9-4 9-4-9z"/>"#, middle - 9.0));
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
        svg.push_str(&format!(r#"<path class="rule" d="M{x:.1} 0v4"/>"#));
        svg.push_str(&format!(r#"<text x="{x:.1}" y="15">{label}</text>"#));
    }
    svg.push_str("</svg>");
    svg
}
