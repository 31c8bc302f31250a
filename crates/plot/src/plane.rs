//! The frame all graphs share: axes, shaded interruptions, and a plane of layers.
//!
//! The plane is a nested `<svg>` with a coordinate system of its own, in whole units of 10 µs and,
//! for sequence numbers, of a byte ([`Scale`]). Zooming is choosing another part of it to show, so
//! places stay exact however close one looks. Strokes keep their width on the screen
//! (`vector-effect` in the style sheet). The layers are a group with a name, so that a
//! [`crate::pane`] can show a part of them a second time without repeating them.

use tcplab_units::Instant;

use crate::frame::{Frame, Window};
use crate::path_data::PathData;
use crate::pyramid::LayerLevels;
use crate::scale::{Across, Scale};
use crate::svg::escape;
use crate::view::{Band, Unit};

/// Rows of the plane of a chart.
pub(crate) const CHART_ROWS: i64 = 32_768;

/// Pixels of the whole graph and around the plane.
const WIDTH: i64 = 1000;
const LEFT: i64 = 56;
const RIGHT: i64 = 52;
const TOP: i64 = 24;
const BOTTOM: i64 = 24;
/// Pixels across the plane, before a page stretches it.
pub(crate) const ACROSS: i64 = WIDTH - LEFT - RIGHT;

/// A graph and the key to its layers.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// What it shows.
    pub title: String,
    /// One `<svg>` element that needs the style sheet only.
    pub svg: String,
    /// Its layers in the order to show.
    pub legend: Vec<Key>,
    /// Its layers, for panes.
    pub plane: Plane,
    /// The layers at several levels of detail, if `svg` joins strokes; a page draws these instead.
    pub levels: Vec<LayerLevels>,
}

impl Figure {
    /// The strokes of its layers, for a pane on another page.
    pub fn layers(&self) -> &str {
        let inside = self.svg.split_once(r#"<g class="layers""#);
        let inside = inside.and_then(|(_, rest)| Some(rest.split_once('>')?.1));
        inside.and_then(|rest| rest.split_once("</g>")).map_or("", |(layers, _)| layers)
    }
}

/// One entry of a legend.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    /// The layer's CSS class.
    pub class: &'static str,
    /// What it means.
    pub label: String,
    /// Whether the layer is hidden until the reader asks for it.
    pub is_off: bool,
}

/// The layers of a figure by name, and their scale.
#[derive(Debug, Clone, PartialEq)]
pub struct Plane {
    pub(crate) id: String,
    pub(crate) scale: Scale,
    pub(crate) unit: Unit,
}

impl Plane {
    /// Its right edge.
    pub fn until(&self) -> Instant {
        self.scale.until()
    }

    /// Its upper edge, in the axis's own unit.
    pub fn high(&self) -> f64 {
        self.scale.high
    }
}

/// A graph before it is written.
pub(crate) struct Graph<'a> {
    /// CSS class of the kind of graph.
    pub(crate) kind: &'static str,
    /// Name of the group of layers, for panes; may be empty.
    pub(crate) id: &'a str,
    pub(crate) title: &'a str,
    /// For screen readers.
    pub(crate) summary: String,
    /// Interruptions; none where time is not across.
    pub(crate) bands: &'a [Band],
    /// In the axis's own unit.
    pub(crate) scale: Scale,
    pub(crate) unit: Unit,
    pub(crate) right: Option<(f64, &'a str)>,
    /// Pixels of the plane.
    pub(crate) height: i64,
    pub(crate) layers: Vec<Layer>,
}

/// Strokes of one kind: one `<path>`.
pub(crate) struct Layer {
    pub(crate) class: &'static str,
    pub(crate) label: String,
    pub(crate) path: String,
    /// As [`Key::is_off`].
    pub(crate) is_off: bool,
}

impl Graph<'_> {
    pub(crate) fn figure(self) -> Figure {
        let frame =
            Frame { left: LEFT, top: TOP, across: ACROSS, height: self.height, width: WIDTH };
        let window = Window::whole(&self.scale);
        let mut svg = self.opening();
        frame.axes(&mut svg, &window, &self.unit, self.right);
        frame.band_labels(&mut svg, &window, self.bands);
        let Scale { columns, rows, .. } = self.scale;
        svg.push_str(&frame.plane(&format!("0 0 {columns} {rows}")));
        let id = if self.id.is_empty() { String::new() } else { format!(r#" id="{}""#, self.id) };
        svg.push_str(&format!(r#"<g class="layers"{id}>"#));
        self.bands(&mut svg);
        let mut legend = Vec::new();
        for layer in self.layers.into_iter().filter(|l| !l.path.is_empty()) {
            let Layer { class, label, path, is_off } = layer;
            let off = if is_off { " off" } else { "" };
            svg.push_str(&format!(r#"<path class="{class}{off}" d="{path}"/>"#));
            legend.push(Key { class, label, is_off });
        }
        svg.push_str("</g></svg></svg>");
        if !self.bands.is_empty() {
            legend.push(Key { class: "band", label: "interruption".into(), is_off: false });
        }
        let plane = Plane { id: self.id.to_string(), scale: self.scale, unit: self.unit };
        Figure { title: self.title.to_string(), svg, legend, plane, levels: Vec::new() }
    }

    fn opening(&self) -> String {
        let (x0, x1) = self.scale.edges();
        let mut svg = format!(
            concat!(
                r#"<svg class="graph {kind}" viewBox="0 0 {width} {height}" role="img" "#,
                r#"aria-label="{label}" data-x="{x0} {x1}" data-y="{y0} {y1}" data-unit="{unit}""#,
            ),
            kind = self.kind,
            width = WIDTH,
            height = self.height + TOP + BOTTOM,
            label = escape(&self.summary),
            x0 = x0,
            x1 = x1,
            y0 = self.scale.low,
            y1 = self.scale.high,
            unit = match &self.unit {
                Unit::Bytes => "bytes".into(),
                Unit::Named(name) => escape(name),
                Unit::Rows(_) => "".into(),
            },
        );
        if self.scale.across == Across::Sequence {
            svg.push_str(r#" data-across="sequence""#);
        }
        if let Unit::Rows(names) = &self.unit {
            svg.push_str(&format!(r#" data-rows="{}""#, escape(&names.join("|"))));
        }
        if let Some((factor, unit)) = self.right {
            svg.push_str(&format!(r#" data-right="{factor} {}""#, escape(unit)));
        }
        svg.push_str(&format!("><title>{}</title>", escape(self.title)));
        svg
    }

    fn bands(&self, svg: &mut String) {
        let mut path = PathData::default();
        let rows = self.scale.rows;
        let (from, until) = (self.scale.from(), self.scale.until());
        for band in self.bands.iter().filter(|band| band.until > from && band.from < until) {
            let (x0, x1) = (self.scale.x(band.from), self.scale.x(band.until));
            path.move_to(x0, 0);
            path.line_to(x1.max(x0 + 1), 0);
            path.line_to(x1.max(x0 + 1), rows);
            path.line_to(x0, rows);
        }
        let path = path.finish();
        if !path.is_empty() {
            svg.push_str(&format!(r#"<path class="band" d="{path}"/>"#));
        }
    }
}
