//! Panes: parts of a figure's plane, shown again beside one another without drawing them twice.

use tcplab_units::Instant;

use crate::frame::{Frame, Window};
#[cfg(doc)]
use crate::plane::Figure;
use crate::plane::Plane;
use crate::svg::escape;
use crate::view::Band;

/// What to show.
#[derive(Debug, Clone, Copy)]
pub struct Pane<'a> {
    /// Its title, for screen readers.
    pub title: &'a str,
    /// The plane it is a part of.
    pub plane: &'a Plane,
    /// Its left and right edge; by default the plane's.
    pub time: Option<(Instant, Instant)>,
    /// Its lower and upper edge in the axis's unit; by default the plane's.
    pub values: Option<(f64, f64)>,
    /// Interruptions to label.
    pub bands: &'a [Band],
    /// Pixels, axes included.
    pub size: (i64, i64),
    /// The layers, from [`Figure::layers`], if the page does not contain the figure.
    pub layers: Option<&'a str>,
}

/// Pixels around the plane.
const LEFT: i64 = 34;
const RIGHT: i64 = 12;
const TOP: i64 = 22;
const BOTTOM: i64 = 22;

/// Draws a pane. Without layers of its own the page must contain its plane's figure.
pub fn pane(pane: &Pane<'_>) -> String {
    let (width, height) = pane.size;
    let scale = &pane.plane.scale;
    let whole = Window::whole(scale);
    let (from, until) = pane.time.map_or((whole.from, whole.until), |(from, until)| {
        (from.as_secs_f64(), until.as_secs_f64())
    });
    let (low, high) = pane.values.unwrap_or((whole.low, whole.high));
    let window = Window { from, until, low, high, ..whole };
    let frame = Frame {
        left: LEFT,
        top: TOP,
        across: width - LEFT - RIGHT,
        height: height - TOP - BOTTOM,
        width,
    };
    let mut svg = format!(
        r#"<svg class="pane" viewBox="0 0 {width} {height}" role="img" aria-label="{}">"#,
        escape(pane.title)
    );
    frame.axes(&mut svg, &window, &pane.plane.unit, None);
    frame.band_labels(&mut svg, &window, pane.bands);
    let column = scale.columns as f64 / (whole.until - whole.from).max(1e-9);
    let row = scale.rows as f64 / (whole.high - whole.low).max(1e-300);
    let view_box = format!(
        "{:.0} {:.0} {:.0} {:.0}",
        (from - whole.from) * column,
        (whole.high - high) * row,
        ((until - from) * column).max(1.0),
        ((high - low) * row).max(1.0),
    );
    svg.push_str(&frame.plane(&view_box));
    match pane.layers {
        Some(layers) => svg.push_str(&format!(r#"<g class="layers">{layers}</g>"#)),
        None => svg.push_str(&format!(r##"<use href="#{}"/>"##, escape(&pane.plane.id))),
    }
    svg.push_str("</svg></svg>");
    svg
}
