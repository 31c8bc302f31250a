//! The frame all graphs share: axes, shaded interruptions, and a plane of layers.
//!
//! The plane is a nested `<svg>` with a coordinate system of its own, [`PLANE_WIDTH`] by
//! [`PLANE_HEIGHT`] whole units. Zooming is choosing another part of it to show; one unit is a
//! 64th of a pixel at first, so places stay true to a quarter pixel up to sixteenfold zoom.
//! Strokes keep their width on the screen (`vector-effect` in the style sheet).

use std::fmt::Write as _;

use tcplab_units::Instant;

use crate::path_data::PathData;
use crate::scale::{Scale, Ticks, spoken};
use crate::svg::escape;

/// Units across the plane.
pub(crate) const PLANE_WIDTH: i64 = WIDTH_OF_PLANE * 64;
/// Units down the plane.
pub(crate) const PLANE_HEIGHT: i64 = 32_768;

/// Pixels of the whole graph and around the plane.
const WIDTH: i64 = 1000;
const LEFT: i64 = 56;
const RIGHT: i64 = 52;
const TOP: i64 = 24;
const BOTTOM: i64 = 24;
const WIDTH_OF_PLANE: i64 = WIDTH - LEFT - RIGHT;

/// A graph and the key to its layers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Figure {
    /// What it shows.
    pub title: String,
    /// One `<svg>` element, complete in itself but for the style sheet.
    pub svg: String,
    /// What each layer means, in the order to show.
    pub legend: Vec<Key>,
}

/// One entry of a legend.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    /// The layer's CSS class.
    pub class: &'static str,
    /// What it means.
    pub label: String,
}

/// What graphs of one trial have in common: the stretch of time and what happened to the path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct View<'a> {
    /// The left edge.
    pub from: Instant,
    /// The right edge.
    pub until: Instant,
    /// When the path let nothing through.
    pub interruptions: &'a [(Instant, Instant)],
}

/// A graph before it is written.
pub(crate) struct Graph<'a> {
    /// CSS class of the kind of graph.
    pub(crate) kind: &'static str,
    pub(crate) title: &'a str,
    /// For those who cannot see it.
    pub(crate) summary: String,
    pub(crate) view: View<'a>,
    /// In the axis's own unit.
    pub(crate) scale: Scale,
    /// Name of the unit of the left axis.
    pub(crate) unit: &'a str,
    /// How much one left unit is on the right axis, and the right unit's name.
    pub(crate) right: Option<(f64, &'a str)>,
    /// Pixels of the plane.
    pub(crate) height: i64,
    pub(crate) layers: Vec<Layer>,
}

/// Strokes of one meaning, one `<path>`.
pub(crate) struct Layer {
    pub(crate) class: &'static str,
    pub(crate) label: String,
    pub(crate) path: String,
}

impl Graph<'_> {
    pub(crate) fn figure(self) -> Figure {
        let height = self.height + TOP + BOTTOM;
        let mut svg = format!(
            concat!(
                r#"<svg class="graph {kind}" viewBox="0 0 {width} {height}" role="img" "#,
                r#"aria-label="{label}" data-x="{x0} {x1}" data-y="{y0} {y1}" data-unit="{unit}""#,
            ),
            kind = self.kind,
            width = WIDTH,
            height = height,
            label = escape(&self.summary),
            x0 = self.scale.from.as_secs_f64(),
            x1 = self.scale.until.as_secs_f64(),
            y0 = self.scale.low,
            y1 = self.scale.high,
            unit = escape(self.unit),
        );
        if let Some((factor, unit)) = self.right {
            put(&mut svg, &format!(r#" data-right="{factor} {}""#, escape(unit)));
        }
        put(&mut svg, &format!("><title>{}</title>", escape(self.title)));
        self.axes(&mut svg);
        put(
            &mut svg,
            &format!(
                concat!(
                    r#"<svg class="plane" x="{x}" y="{y}" width="{w}" height="{h}" "#,
                    r#"viewBox="0 0 {pw} {ph}" preserveAspectRatio="none">"#,
                ),
                x = LEFT,
                y = TOP,
                w = WIDTH_OF_PLANE,
                h = self.height,
                pw = PLANE_WIDTH,
                ph = PLANE_HEIGHT,
            ),
        );
        self.bands(&mut svg);
        let mut legend = Vec::new();
        for layer in self.layers.into_iter().filter(|l| !l.path.is_empty()) {
            put(&mut svg, &format!(r#"<path class="{}" d="{}"/>"#, layer.class, layer.path));
            legend.push(Key { class: layer.class, label: layer.label });
        }
        svg.push_str("</svg></svg>");
        if !self.view.interruptions.is_empty() {
            legend.push(Key { class: "band", label: "interruption".into() });
        }
        Figure { title: self.title.to_string(), svg, legend }
    }

    fn axes(&self, svg: &mut String) {
        let bottom = TOP + self.height;
        let right = LEFT + WIDTH_OF_PLANE;
        put(svg, r#"<g class="ticks">"#);
        let Scale { from, until, low, high } = self.scale;
        let times = Ticks::between(from.as_secs_f64(), until.as_secs_f64(), 12);
        for at in &times.at {
            let x = LEFT as f64
                + (at - from.as_secs_f64()) / until.since(from).as_secs_f64().max(1e-9)
                    * WIDTH_OF_PLANE as f64;
            put(svg, &format!(r#"<path d="M{x:.1} {TOP}V{bottom}"/>"#));
            let label = times.label(*at);
            put(
                svg,
                &format!(r#"<text class="time" x="{x:.1}" y="{}">{label} s</text>"#, bottom + 16),
            );
        }
        let most = (self.height / 36).max(2) as usize;
        let y = |value: f64, low: f64, high: f64| {
            bottom as f64 - (value - low) / (high - low).max(1e-300) * self.height as f64
        };
        let values = Ticks::between(low, high, most);
        for at in &values.at {
            let (y, label) = (y(*at, low, high), values.label(*at));
            put(svg, &format!(r#"<path d="M{LEFT} {y:.1}H{right}"/>"#));
            put(
                svg,
                &format!(
                    r#"<text class="value" x="{}" y="{:.1}">{label}</text>"#,
                    LEFT - 8,
                    y + 4.0
                ),
            );
        }
        if let Some((factor, _)) = self.right {
            let values = Ticks::between(low * factor, high * factor, most);
            for at in &values.at {
                let (y, label) = (y(*at, low * factor, high * factor), values.label(*at));
                let x = right + 8;
                put(
                    svg,
                    &format!(r#"<text class="other" x="{x}" y="{:.1}">{label}</text>"#, y + 4.0),
                );
            }
        }
        put(svg, "</g>");
        let unit = escape(self.unit);
        put(svg, &format!(r#"<text class="unit" x="0" y="14">{unit}</text>"#));
        if let Some((_, unit)) = self.right {
            let unit = escape(unit);
            put(svg, &format!(r#"<text class="far unit" x="{WIDTH}" y="14">{unit}</text>"#));
        }
        self.band_labels(svg);
    }

    /// The names of the interruptions above the plane, as far as they do not run into another.
    fn band_labels(&self, svg: &mut String) {
        put(svg, r#"<g class="band-labels">"#);
        let mut free_from = f64::MIN;
        for (start, end) in self.seen_interruptions() {
            let middle = i64::midpoint(self.scale.x(start), self.scale.x(end)) as f64 / 64.0;
            let x = LEFT as f64 + middle;
            let label = spoken(end.since(start));
            let half = label.chars().count() as f64 * 3.5 + 3.0;
            let hidden = if x - half < free_from { " hidden" } else { "" };
            if hidden.is_empty() {
                free_from = x + half;
            }
            let at = Instant::from_nanos(u64::midpoint(start.as_nanos(), end.as_nanos()));
            put(
                svg,
                &format!(
                    r#"<text class="band-label{hidden}" x="{x:.1}" y="{}" data-at="{}">{label}</text>"#,
                    TOP - 8,
                    at.as_secs_f64(),
                ),
            );
        }
        put(svg, "</g>");
    }

    fn bands(&self, svg: &mut String) {
        let mut path = PathData::default();
        for (start, end) in self.seen_interruptions() {
            let (x0, x1) = (self.scale.x(start), self.scale.x(end));
            path.move_to(x0, 0);
            path.line_to(x1.max(x0 + 1), 0);
            path.line_to(x1.max(x0 + 1), PLANE_HEIGHT);
            path.line_to(x0, PLANE_HEIGHT);
        }
        let path = path.finish();
        if !path.is_empty() {
            put(svg, &format!(r#"<path class="band" d="{path}"/>"#));
        }
    }

    fn seen_interruptions(&self) -> impl Iterator<Item = (Instant, Instant)> {
        let (from, until) = (self.view.from, self.view.until);
        self.view.interruptions.iter().copied().filter(move |(s, e)| *e > from && *s < until)
    }
}

pub(crate) fn put(svg: &mut String, text: &str) {
    svg.write_str(text).expect("a String takes what it is given");
}
