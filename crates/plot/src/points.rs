//! Graphs of points: each a dot, whatever is beside it.

use crate::path_data::{STROKES, dots};
use crate::plane::{ACROSS, Figure, Graph, Layer};
use crate::pyramid::{LayerLevels, Level, Mark, strokes as strokes_at_levels};
use crate::scale::Scale;
use crate::view::{Band, Unit};

/// Pixels.
const HEIGHT: i64 = 132;
/// Levels of a layer with more points are left out, but the coarsest: a page of any capture is
/// some megabytes.
const MOST_POINTS: usize = 1 << 18;

/// What to draw.
pub(crate) struct Points<'a> {
    pub(crate) title: &'a str,
    /// For screen readers.
    pub(crate) summary: String,
    pub(crate) bands: &'a [Band],
    pub(crate) scale: Scale,
    pub(crate) unit: Unit,
    /// The lowermost first.
    pub(crate) layers: Vec<PointLayer>,
    /// The right and the upper edge in the units of [`Point::exact`].
    pub(crate) edges: (u64, u64),
}

/// Points of one kind.
pub(crate) struct PointLayer {
    pub(crate) class: &'static str,
    pub(crate) label: &'static str,
    /// Up to this number each is drawn by itself.
    pub(crate) budget: usize,
    /// Hidden until the reader asks for it.
    pub(crate) is_off: bool,
    pub(crate) points: Vec<Point>,
}

/// One point.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Point {
    /// Column and row of the plane.
    pub(crate) place: (i64, i64),
    /// Microseconds or bytes from the left edge, and the value in whole units.
    pub(crate) exact: (u64, u64),
}

impl Points<'_> {
    /// With levels of detail where a layer has very many points.
    pub(crate) fn figure(self) -> Figure {
        let is_crowded = self.layers.iter().any(|layer| layer.points.len() > STROKES);
        let levels = if is_crowded { self.layers.as_slice() } else { &[] };
        let levels = levels.iter().filter(|layer| !layer.points.is_empty()).map(|layer| {
            let mark = |point: &Point| {
                let (x, value) = point.exact;
                Mark { x, low: value, high: value }
            };
            let marks = layer.points.iter().map(mark).collect();
            kept(strokes_at_levels(layer.class, marks, self.edges))
        });
        let levels = levels.collect();
        // Two pixels across and half a pixel down.
        let coarsest =
            ((self.scale.columns * 2 / ACROSS).max(1), (self.scale.rows / (2 * HEIGHT)).max(1));
        let layers = self.layers.into_iter().map(|layer| {
            let places = layer.points.iter().map(|point| point.place).collect();
            let path = dots(places, layer.budget, coarsest);
            let PointLayer { class, label, is_off, .. } = layer;
            Layer { class, label: label.into(), path, is_off }
        });
        let graph = Graph {
            kind: "points",
            id: "",
            title: self.title,
            summary: self.summary,
            bands: self.bands,
            scale: self.scale,
            unit: self.unit,
            right: None,
            height: HEIGHT,
            layers: layers.collect(),
        };
        Figure { levels, ..graph.figure() }
    }
}

/// Without the levels that have too many points.
fn kept(layer: LayerLevels) -> LayerLevels {
    let count = |level: &Level| level.tiles.iter().map(|tile| tile.count).sum::<usize>();
    let coarsest = layer.levels.len() - 1;
    let too_many = layer.levels.iter().take(coarsest).filter(|it| count(it) > MOST_POINTS).count();
    LayerLevels { levels: layer.levels.into_iter().skip(too_many).collect(), ..layer }
}
