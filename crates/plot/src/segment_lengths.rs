//! The length of each data segment over time.

use tcplab_trace::{Flow, Segment};
use tcplab_units::rounded::grouped;

use crate::path_data::STROKES;
use crate::plane::Figure;
use crate::points::{Point, PointLayer, Points};
use crate::scale::Scale;
use crate::segment_layers::{KINDS, budget};
use crate::view::{Unit, View};

/// Draws the bytes of payload of each segment that has some, in the colours of the time-sequence
/// graph.
pub fn segment_lengths(title: &str, flow: &Flow, view: &View<'_>) -> Figure {
    let data: Vec<&Segment> = flow.segments.iter().filter(|s| length(s) > 0).collect();
    let longest = data.iter().map(|s| length(s)).max().unwrap_or(0);
    let high = longest + longest / 16;
    let scale = Scale::of_bytes(view.from, view.until, high);
    let point = |segment: &Segment| Point {
        place: (scale.x(segment.at), scale.y(length(segment) as f64)),
        exact: (segment.at.since(scale.from()).as_nanos() / 1_000, length(segment)),
    };
    let points = |which: &dyn Fn(&Segment) -> bool| -> Vec<&Segment> {
        data.iter().copied().filter(|segment| which(segment)).collect()
    };
    let layer = |class, label, budget, chosen: Vec<&Segment>| PointLayer {
        class,
        label,
        budget,
        is_off: false,
        points: chosen.into_iter().map(point).collect(),
    };
    let mut layers: Vec<PointLayer> = KINDS
        .iter()
        .map(|kind| {
            let chosen = points(&|segment| kind.has(segment));
            layer(kind.class, kind.label, budget(&chosen), chosen)
        })
        .collect();
    layers.push(layer("drop", "lost on the path", STROKES, points(&|segment| segment.dropped)));
    Points {
        title,
        summary: summary(title, &data, longest),
        bands: view.bands,
        scale,
        unit: Unit::Bytes,
        layers,
        edges: (scale.until().since(scale.from()).as_nanos() / 1_000, high),
    }
    .figure()
}

/// Bytes of payload.
fn length(segment: &Segment) -> u64 {
    segment.payload.as_u64()
}

fn summary(title: &str, data: &[&Segment], longest: u64) -> String {
    let longest_ones = data.iter().filter(|s| length(s) == longest).count();
    format!(
        "{title}: {} segments, {} of them the longest, {} bytes; the shortest {} bytes.",
        grouped(data.len() as u64),
        grouped(longest_ones as u64),
        grouped(longest),
        grouped(data.iter().map(|s| length(s)).min().unwrap_or(0)),
    )
}
