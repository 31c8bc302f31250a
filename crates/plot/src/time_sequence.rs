//! The time-sequence graph: every data segment and acknowledgement of a flow in its place.

use tcplab_trace::{Flow, Range, Segment};
use tcplab_units::Instant;
use tcplab_units::rounded::grouped;

use crate::coverage::Coverage;
use crate::path_data::{PathData, STROKES, Stroke, polyline, strokes};
use crate::plane::{ACROSS, Figure, Graph, Layer};
use crate::pyramid::{LayerLevels, Mark, line as line_at_levels, strokes as strokes_at_levels};
use crate::scale::Scale;
use crate::segment_layers::{KINDS, budget};
use crate::view::{Unit, View};

/// Pixels.
const HEIGHT: i64 = 330;

/// Draws `flow` as captured; `title` names the capture point, `id` the layers for panes (letters,
/// digits and hyphens; may be empty).
pub fn time_sequence(id: &str, title: &str, flow: &Flow, view: &View<'_>) -> Figure {
    let highest = flow.segments.iter().map(|s| s.range.end.as_u64()).max().unwrap_or(1);
    let edge = window_edges(flow).iter().map(|(_, edge)| *edge).max().unwrap_or(0);
    // The window's edge may be far ahead of the data, which keep four fifths of the height.
    let high = (highest + highest / 25).max(edge.min(highest + highest / 4));
    let scale = Scale::of_bytes(view.from, view.until, high);
    let plot = Plot { flow, scale };
    let figure = Graph {
        kind: "time-sequence",
        id,
        title,
        summary: summary(title, flow),
        bands: view.bands,
        scale,
        unit: Unit::Bytes,
        right: None,
        height: HEIGHT,
        layers: plot.layers(),
    }
    .figure();
    let levels = if plot.is_crowded() { plot.levels(edge.max(highest)) } else { Vec::new() };
    Figure { levels, ..figure }
}

struct Plot<'a> {
    flow: &'a Flow,
    scale: Scale,
}

impl Plot<'_> {
    /// The lowermost first: a loss is above its segment and wider.
    fn layers(&self) -> Vec<Layer> {
        let layer =
            |class, label: &str, path| Layer { class, label: label.into(), path, is_off: false };
        let below = [
            layer("edge", "right edge of the window", self.edge()),
            layer("acks", "acknowledged", self.stairs()),
            layer("sack", "newly SACKed", self.sacked()),
        ];
        let segments = KINDS
            .map(|kind| layer(kind.class, kind.label, self.segments(|segment| kind.has(segment))));
        let above = [
            layer("drop", self.lost(), self.dropped()),
            layer("dsack", "received twice (D-SACK)", self.received_twice()),
            layer("triple", "third duplicate ACK", self.third_duplicates()),
        ];
        below.into_iter().chain(segments).chain(above).collect()
    }

    /// Whether the SVG joins strokes.
    fn is_crowded(&self) -> bool {
        self.flow.segments.len() > STROKES || self.flow.acks.len() > STROKES
    }

    /// The same layers as `layers`, at all levels of detail.
    fn levels(&self, most: u64) -> Vec<LayerLevels> {
        let edges = (self.micros(self.scale.until()), most);
        let segments = KINDS.map(|kind| {
            let chosen = self.flow.segments.iter().filter(|s| kind.has(s));
            strokes_at_levels(kind.class, chosen.map(|s| self.mark(s.at, s.range)).collect(), edges)
        });
        let of_acks = |class, marks| strokes_at_levels(class, marks, edges);
        let edge: Vec<(u64, u64)> =
            window_edges(self.flow).into_iter().map(|(at, it)| (self.micros(at), it)).collect();
        let below = [
            line_at_levels("edge", &edge, edges),
            line_at_levels("acks", &self.acknowledged(), edges),
            of_acks("sack", self.newly_reported()),
        ];
        let above = [
            of_acks("drop", self.dropped_marks()),
            of_acks("dsack", self.doubled_marks()),
            of_acks("triple", self.triple_marks()),
        ];
        let levels = below.into_iter().chain(segments).chain(above);
        levels.filter(|layer| !layer.levels[0].tiles.is_empty()).collect()
    }

    fn micros(&self, at: Instant) -> u64 {
        at.since(self.scale.from()).as_nanos() / 1_000
    }

    fn mark(&self, at: Instant, range: Range) -> Mark {
        Mark::new(self.scale.from(), at, range.start.as_u64(), range.end.as_u64())
    }

    fn acknowledged(&self) -> Vec<(u64, u64)> {
        let mut highest = 0;
        let point = |ack: &tcplab_trace::Ack| {
            highest = highest.max(ack.ack.as_u64());
            (self.micros(ack.at), highest)
        };
        self.flow.acks.iter().map(point).collect()
    }

    fn newly_reported(&self) -> Vec<Mark> {
        let mut known = Coverage::default();
        let mut new = Vec::new();
        for ack in &self.flow.acks {
            known.add(Range { start: tcplab_units::Offset::ZERO, end: ack.ack });
            for block in &ack.sack {
                let blocks = known.add(*block);
                new.extend(
                    blocks
                        .into_iter()
                        .map(|(start, end)| Mark::new(self.scale.from(), ack.at, start, end)),
                );
            }
        }
        new
    }

    fn dropped_marks(&self) -> Vec<Mark> {
        let segments = self.flow.segments.iter().filter(|s| s.dropped);
        let segments = segments.map(|s| self.mark(s.at, s.range));
        let acks = self.flow.acks.iter().filter(|a| a.dropped);
        segments.chain(acks.map(|ack| self.level(ack))).collect()
    }

    fn doubled_marks(&self) -> Vec<Mark> {
        let acks = self.flow.acks.iter();
        acks.filter_map(|ack| Some(self.mark(ack.at, ack.dsack?))).collect()
    }

    fn triple_marks(&self) -> Vec<Mark> {
        self.flow.third_duplicates().map(|ack| self.level(ack)).collect()
    }

    /// An ACK as a stroke without height.
    fn level(&self, ack: &tcplab_trace::Ack) -> Mark {
        Mark::new(self.scale.from(), ack.at, ack.ack.as_u64(), ack.ack.as_u64())
    }

    fn y(&self, bytes: u64) -> i64 {
        self.scale.y(bytes as f64)
    }

    /// Columns of two pixels.
    fn widest(&self) -> i64 {
        (self.scale.columns * 2 / ACROSS).max(1)
    }

    /// All points of a line, unless there are very many; then a quarter pixel apart.
    fn thinned(&self, points: &[(i64, Option<i64>)]) -> String {
        let column = if points.len() <= STROKES { 1 } else { self.widest() / 8 };
        polyline(points, true, column.max(1))
    }

    fn stroke(&self, at: Instant, start: u64, end: u64) -> Stroke {
        Stroke { x: self.scale.x(at), from: self.y(start), to: self.y(end) }
    }

    fn range(&self, at: Instant, range: Range) -> Stroke {
        self.stroke(at, range.start.as_u64(), range.end.as_u64())
    }

    /// Retransmissions are drawn separately, unless a page draws their levels instead.
    fn segments(&self, which: impl Fn(&Segment) -> bool) -> String {
        let chosen: Vec<&Segment> = self.flow.segments.iter().filter(|s| which(s)).collect();
        let budget = budget(&chosen);
        strokes(
            chosen.into_iter().map(|s| self.range(s.at, s.range)).collect(),
            budget,
            self.widest(),
        )
    }

    /// Packets that are lost after a capture point are captured there.
    fn lost(&self) -> &'static str {
        if self.flow.segments.iter().any(|s| s.dropped) {
            "lost on the path"
        } else {
            "ACK lost on the path"
        }
    }

    /// Drops of the path: segments at the sender's capture point, ACKs at the receiver's.
    fn dropped(&self) -> String {
        let segments =
            self.flow.segments.iter().filter(|s| s.dropped).map(|s| self.range(s.at, s.range));
        let acks = self
            .flow
            .acks
            .iter()
            .filter(|a| a.dropped)
            .map(|a| self.stroke(a.at, a.ack.as_u64(), a.ack.as_u64()));
        strokes(segments.chain(acks).collect(), STROKES, self.widest())
    }

    fn stairs(&self) -> String {
        let mut highest = 0;
        let mut points = Vec::new();
        for ack in &self.flow.acks {
            highest = highest.max(ack.ack.as_u64());
            points.push((self.scale.x(ack.at), Some(self.y(highest))));
        }
        self.thinned(&points)
    }

    fn edge(&self) -> String {
        let points: Vec<_> = window_edges(self.flow)
            .into_iter()
            .map(|(at, edge)| (self.scale.x(at), Some(self.y(edge))))
            .collect();
        self.thinned(&points)
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
        strokes(new, STROKES, self.widest())
    }

    fn third_duplicates(&self) -> String {
        let mut path = PathData::default();
        for ack in self.flow.third_duplicates() {
            let Stroke { x, from, to } = self.stroke(ack.at, ack.ack.as_u64(), ack.ack.as_u64());
            path.stroke(x, from, to);
        }
        path.finish()
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

/// The right edge of the window, by ACKs.
fn window_edges(flow: &Flow) -> Vec<(Instant, u64)> {
    let edge = |a: &tcplab_trace::Ack| Some((a.at, a.ack.as_u64() + a.window?.as_u64()));
    flow.acks.iter().filter_map(edge).collect()
}

fn summary(title: &str, flow: &Flow) -> String {
    let repeated = flow.segments.iter().filter(|s| s.kind.is_retransmission()).count() as u64;
    let lost = flow.segments.iter().filter(|s| s.dropped).count() as u64;
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
