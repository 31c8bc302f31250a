//! The time-sequence graph: every data segment and acknowledgement of a flow in its place.

use tcplab_trace::{Flow, Range, Segment, SegmentKind};
use tcplab_units::Instant;

use crate::coverage::Coverage;
use crate::path_data::{PathData, STROKES, Stroke, polyline, strokes};
use crate::plane::{Figure, Graph, Layer, View};
use crate::scale::{Scale, byte_unit, grouped};

/// Pixels.
const HEIGHT: i64 = 300;
/// A sixteenth of a pixel: steps of the stairs finer than that are thinned.
const STAIR: i64 = 4;

/// Draws `flow` as its tap saw it; `title` says which end that was.
pub fn time_sequence(title: &str, flow: &Flow, view: &View<'_>) -> Figure {
    let highest = flow.segments.iter().map(|s| s.range.end.as_u64()).max().unwrap_or(1) as f64;
    let edge = window_edges(flow).iter().map(|(_, edge)| *edge).max().unwrap_or(0) as f64;
    let (unit_size, unit) = byte_unit(highest);
    // The edge may run far ahead of the data; the data keep four fifths of the height.
    let high = (highest * 1.04).max(edge.min(highest * 1.25));
    let scale = Scale { from: view.from, until: view.until, low: 0.0, high: high / unit_size };
    let plot = Plot { flow, scale, unit_size };
    Graph {
        kind: "time-sequence",
        title,
        summary: summary(title, flow),
        view: *view,
        scale,
        unit,
        right: None,
        height: HEIGHT,
        layers: plot.layers(),
    }
    .figure()
}

/// Whether a capture's comment says that the path dropped the packet.
fn dropped(comment: Option<&str>) -> bool {
    comment.is_some_and(|text| text.contains("drop"))
}

fn repeats(kind: SegmentKind) -> bool {
    kind != SegmentKind::New
}

struct Plot<'a> {
    flow: &'a Flow,
    scale: Scale,
    unit_size: f64,
}

impl Plot<'_> {
    fn layers(&self) -> Vec<Layer> {
        use SegmentKind::{
            AfterTimeoutRetransmission, FastRetransmission, FillsHole, New, TimeoutRetransmission,
        };
        let layer = |class, label: &str, path| Layer { class, label: label.into(), path };
        let dropped_new = |s: &Segment| s.kind == New && dropped(s.comment.as_deref());
        vec![
            layer("edge", "edge of the advertised window", self.edge()),
            layer("acks", "acknowledged", self.stairs()),
            layer("sack", "newly reported by SACK", self.sacked()),
            layer("data", "data", self.segments(|s| s.kind == New && !dropped_new(s))),
            layer("drop", "dropped by the path", self.dropped()),
            layer("fast", "retransmission", self.segments(|s| s.kind == FastRetransmission)),
            layer("fills", "fills a hole", self.segments(|s| s.kind == FillsHole)),
            layer(
                "after",
                "retransmission after a timeout",
                self.segments(|s| s.kind == AfterTimeoutRetransmission),
            ),
            layer(
                "timeout",
                "retransmission by timeout",
                self.segments(|s| s.kind == TimeoutRetransmission),
            ),
            layer("dsack", "received twice (D-SACK)", self.received_twice()),
        ]
    }

    fn y(&self, bytes: u64) -> i64 {
        self.scale.y(bytes as f64 / self.unit_size)
    }

    fn stroke(&self, at: Instant, start: u64, end: u64) -> Stroke {
        Stroke { x: self.scale.x(at), from: self.y(start), to: self.y(end) }
    }

    fn range(&self, at: Instant, range: Range) -> Stroke {
        self.stroke(at, range.start.as_u64(), range.end.as_u64())
    }

    /// Retransmissions are drawn each for itself: in their layers no budget joins columns.
    fn segments(&self, which: impl Fn(&Segment) -> bool) -> String {
        let chosen: Vec<&Segment> = self.flow.segments.iter().filter(|s| which(s)).collect();
        let budget = if chosen.iter().any(|s| repeats(s.kind)) { usize::MAX } else { STROKES };
        strokes(chosen.into_iter().map(|s| self.range(s.at, s.range)).collect(), budget)
    }

    /// What the path dropped: segments at the sender's tap, acknowledgements at the receiver's.
    fn dropped(&self) -> String {
        let segments = self
            .flow
            .segments
            .iter()
            .filter(|s| dropped(s.comment.as_deref()))
            .map(|s| self.range(s.at, s.range));
        let acks = self
            .flow
            .acks
            .iter()
            .filter(|a| dropped(a.comment.as_deref()))
            .map(|a| self.stroke(a.at, a.ack.as_u64(), a.ack.as_u64()));
        strokes(segments.chain(acks).collect(), STROKES)
    }

    fn stairs(&self) -> String {
        let mut highest = 0;
        let mut points = Vec::new();
        for ack in &self.flow.acks {
            highest = highest.max(ack.ack.as_u64());
            points.push((self.scale.x(ack.at), Some(self.y(highest))));
        }
        polyline(&points, true, STAIR)
    }

    fn edge(&self) -> String {
        let points: Vec<_> = window_edges(self.flow)
            .into_iter()
            .map(|(at, edge)| (self.scale.x(at), Some(self.y(edge))))
            .collect();
        polyline(&points, true, STAIR)
    }

    fn sacked(&self) -> String {
        let mut known = Coverage::default();
        let mut new = Vec::new();
        for ack in &self.flow.acks {
            known.add(Range { start: tcplab_units::Offset::ZERO, end: ack.ack });
            for block in &ack.sack {
                for (start, end) in known.add(*block) {
                    new.push(self.stroke(ack.at, start, end));
                }
            }
        }
        strokes(new, STROKES)
    }

    fn received_twice(&self) -> String {
        let mut path = PathData::default();
        for ack in &self.flow.acks {
            if let Some(range) = ack.dsack {
                let stroke = self.range(ack.at, range);
                path.stroke(stroke.x, stroke.from, stroke.to);
            }
        }
        path.finish()
    }
}

/// The right edge of the advertised window: it only moves where an acknowledgement says so.
fn window_edges(flow: &Flow) -> Vec<(Instant, u64)> {
    let edge = |a: &tcplab_trace::Ack| Some((a.at, a.ack.as_u64() + a.window?.as_u64()));
    flow.acks.iter().filter_map(edge).collect()
}

fn summary(title: &str, flow: &Flow) -> String {
    let repeated = flow.segments.iter().filter(|s| repeats(s.kind)).count() as u64;
    let lost = flow.segments.iter().filter(|s| dropped(s.comment.as_deref())).count() as u64;
    let end = flow.segments.iter().map(|s| s.range.end.as_u64()).max().unwrap_or(0);
    format!(
        "{title}: {} segments up to sequence number {}, {} of them retransmissions, {} marked as \
         dropped; {} acknowledgements.",
        grouped(flow.segments.len() as u64),
        grouped(end),
        grouped(repeated),
        grouped(lost),
        grouped(flow.acks.len() as u64),
    )
}
