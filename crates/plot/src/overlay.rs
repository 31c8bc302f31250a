//! Two transfers on one graph: the data that each sent, over the time since its beginning.

use tcplab_trace::{Flow, Segment};
use tcplab_units::{Instant, Span};

use crate::path_data::{STROKES, Stroke, strokes};
use crate::plane::{ACROSS, Figure, Graph, Layer};
use crate::scale::Scale;
use crate::view::Unit;

/// Pixels.
const HEIGHT: i64 = 330;

/// A transfer to compare.
#[derive(Debug, Clone, Copy)]
pub struct OverlaidFlow<'a> {
    /// What to call it.
    pub name: &'a str,
    /// Its data.
    pub flow: &'a Flow,
    /// When it began.
    pub began: Instant,
}

/// Draws the data of A over that of B, retransmissions thick, for as long as the longer one took.
pub fn overlay(title: &str, both: [OverlaidFlow<'_>; 2], lasting: Span) -> Figure {
    let end =
        |laid: &OverlaidFlow<'_>| laid.flow.segments.iter().map(|s| s.range.end.as_u64()).max();
    let highest = both.iter().filter_map(end).max().unwrap_or(1);
    let until = Instant::ZERO + lasting;
    let scale = Scale::of_bytes(Instant::ZERO, until, highest + highest / 25);
    let layers = both.iter().zip([("side-a", "again-a"), ("side-b", "again-b")]);
    let layers = layers.flat_map(|(laid, (class, again))| {
        let draw = |which: &dyn Fn(&Segment) -> bool, budget| {
            let chosen = laid.flow.segments.iter().filter(|segment| which(segment));
            let stroke = |segment: &Segment| Stroke {
                x: scale.x(Instant::ZERO + segment.at.since(laid.began)),
                from: scale.y(segment.range.start.as_u64() as f64),
                to: scale.y(segment.range.end.as_u64() as f64),
            };
            strokes(chosen.map(stroke).collect(), budget, (scale.columns * 2 / ACROSS).max(1))
        };
        let is_again = |segment: &Segment| segment.kind.is_retransmission();
        [
            Layer {
                class,
                label: laid.name.into(),
                path: draw(&|segment| !is_again(segment), STROKES),
                is_off: false,
            },
            Layer {
                class: again,
                label: format!("{}: retransmission", laid.name),
                path: draw(&is_again, usize::MAX),
                is_off: false,
            },
        ]
    });
    Graph {
        kind: "time-sequence",
        id: "",
        title,
        summary: format!("{title}: {} and {}.", both[0].name, both[1].name),
        bands: &[],
        scale,
        unit: Unit::Bytes,
        right: None,
        height: HEIGHT,
        layers: layers.collect(),
    }
    .figure()
}
