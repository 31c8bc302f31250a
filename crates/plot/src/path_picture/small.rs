//! A small picture of what a path will do, to find it among others: scales are the same for all.

use tcplab_units::Instant;

use super::{Drawing, PanePlan, PathPicture, Shape, Steps, bars};
use crate::frame::{Frame, Window};
use crate::plane::CHART_ROWS;
use crate::scale::Scale;

/// Pixels.
const WIDTH: i64 = 150;
const GAP: i64 = 3;

/// A pane: its height, and the values at its floor and its top. Scales are logarithmic.
struct Strip {
    height: i64,
    low: f64,
    high: f64,
}

/// Rate in bit/s, delay in ms, loss in percent: from the top.
const STRIPS: [Strip; 3] = [
    Strip { height: 32, low: 50e3, high: 20e9 },
    Strip { height: 32, low: 0.02, high: 5_000.0 },
    Strip { height: 18, low: 0.01, high: 20.0 },
];

/// Draws the outlook of a path without words, for a page with the style sheet and colours of its
/// own for `ground` and `floor` of the panes: rate, delay and loss from the top, each on one
/// logarithmic scale for all paths.
pub fn small_path_picture(picture: &PathPicture<'_>) -> String {
    let drawing = Drawing::of(picture);
    let height = STRIPS.iter().map(|strip| strip.height + GAP).sum::<i64>() - GAP;
    let mut svg = format!(
        concat!(
            r#"<svg class="path-picture small" viewBox="0 0 {width} {height}" "#,
            r#"width="{width}" height="{height}" aria-hidden="true">"#,
        ),
        width = WIDTH,
        height = height,
    );
    let mut top = 0;
    for (strip, plan) in STRIPS.iter().zip(&drawing.panes) {
        let frame = Frame { left: 0, top, across: WIDTH, height: strip.height, width: WIDTH };
        drawing.strip(&mut svg, frame, strip, plan);
        top += strip.height + GAP;
    }
    svg.push_str("</svg>");
    svg
}

impl Drawing {
    fn strip(&self, svg: &mut String, frame: Frame, strip: &Strip, plan: &PanePlan) {
        let Frame { top, height, .. } = frame;
        let scale = Scale::new(Instant::ZERO, self.until, 0.0, 1.0, CHART_ROWS);
        let window = Window::whole(&scale);
        svg.push_str(&format!(r#"<path class="ground" d="M0 {top}h{WIDTH}v{height}h-{WIDTH}Z"/>"#));
        for (way, outages) in &self.outages {
            let class = format!("outage {}", way.class());
            svg.push_str(&bars(&class, outages, frame, &window, (top, height)));
        }
        let Scale { columns, rows, .. } = scale;
        svg.push_str(&frame.plane(&format!("0 0 {columns} {rows}")));
        for shape in &plan.shapes {
            let placed = strip.placed(shape, plan.size);
            // What is nothing all the time needs no line.
            if placed.high.iter().all(|(_, share)| *share == 0.0) {
                continue;
            }
            let path = placed.path(&scale);
            svg.push_str(&format!(r#"<path class="{}" d="{path}"/>"#, shape.class));
        }
        let floor = frame.bottom();
        svg.push_str(&format!(r#"</svg><path class="floor" d="M0 {floor}h{WIDTH}"/>"#));
    }
}

impl Strip {
    /// With the shares of the height in place of the values.
    fn placed(&self, shape: &Shape, size: f64) -> Shape {
        let placed = |steps: &Steps| -> Steps {
            steps.iter().map(|(at, value)| (*at, self.share(value * size))).collect()
        };
        let Shape { class, low, high } = shape;
        Shape { class: class.clone(), low: low.as_ref().map(placed), high: placed(high) }
    }

    fn share(&self, value: f64) -> f64 {
        if value <= self.low {
            return 0.0;
        }
        ((value / self.low).ln() / (self.high / self.low).ln()).min(1.0)
    }
}
