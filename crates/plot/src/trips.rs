//! RTT over time, and over the sequence numbers of the data.

use tcplab_trace::Flow;
use tcplab_units::rounded::{decimal, grouped};
use tcplab_units::{Instant, Span};

use crate::path_data::STROKES;
use crate::plane::Figure;
use crate::points::{Point, PointLayer, Points};
use crate::round_trips::{RoundTrip, RttKind, round_trips};
use crate::scale::Scale;
use crate::view::{Band, Unit, View};

/// Draws the samples of [`round_trips`], each at the time of its ACK; none without samples. Kinds
/// that are not `shown` are hidden layers.
pub fn round_trips_over_time(
    title: &str,
    flow: &Flow,
    shown: &[RttKind],
    view: &View<'_>,
) -> Option<Figure> {
    let drawing = Drawing::of(flow, shown)?;
    let scale = Scale::of_round_trips(view.from, view.until, drawing.high());
    let since = |at: Instant| micros(at.since(scale.from()));
    let place = |sample: &RoundTrip| (scale.x(sample.at), since(sample.at));
    let until = since(scale.until());
    Some(drawing.figure(title, view.bands, (scale, until), "", place))
}

/// Draws the samples of [`round_trips`], each where its segment begins; none without samples. Kinds
/// that are not `shown` are hidden layers.
pub fn round_trips_by_sequence(title: &str, flow: &Flow, shown: &[RttKind]) -> Option<Figure> {
    let drawing = Drawing::of(flow, shown)?;
    // Also what has no sample, so that it is seen.
    let end = flow.segments.iter().map(|s| s.range.end.as_u64()).max()?;
    let scale = Scale::of_sequence(end, drawing.high());
    let place = |sample: &RoundTrip| (scale.x_of_sequence(sample.sequence), sample.sequence);
    let range = format!(" up to sequence number {}", grouped(end));
    Some(drawing.figure(title, &[], (scale, end), &range, place))
}

struct Drawing<'a> {
    samples: Vec<RoundTrip>,
    shown: &'a [RttKind],
}

impl Drawing<'_> {
    fn of<'a>(flow: &Flow, shown: &'a [RttKind]) -> Option<Drawing<'a>> {
        let samples = round_trips(flow);
        (!samples.is_empty()).then_some(Drawing { samples, shown })
    }

    /// The upper edge.
    fn high(&self) -> Span {
        let longest = self.samples.iter().map(|sample| sample.span).max().unwrap_or(Span::ZERO);
        longest + longest / 16
    }

    /// `place` gives the column of a sample, and its microseconds or bytes from the left edge;
    /// `until` are those of the right edge.
    fn figure(
        self,
        title: &str,
        bands: &[Band],
        (scale, until): (Scale, u64),
        range: &str,
        place: impl Fn(&RoundTrip) -> (i64, u64),
    ) -> Figure {
        let high = micros(self.high());
        let point = |sample: &RoundTrip| {
            let (x, exact) = place(sample);
            let y = scale.y(milliseconds(sample.span));
            Point { place: (x, y), exact: (exact, micros(sample.span)) }
        };
        let layers = RttKind::ALL.map(|kind| PointLayer {
            class: kind.class(),
            label: kind.label(),
            budget: STROKES,
            is_off: !self.shown.contains(&kind),
            points: self.samples.iter().filter(|it| it.kind == kind).map(point).collect(),
        });
        let figure = Points {
            title,
            summary: summary(title, &self.samples, range),
            bands,
            scale,
            unit: Unit::Named("ms".into()),
            layers: layers.into(),
            edges: (until, high),
        };
        figure.figure()
    }
}

fn summary(title: &str, samples: &[RoundTrip], range: &str) -> String {
    let kinds = RttKind::ALL.iter().filter_map(|kind| {
        let spans = || samples.iter().filter(|it| it.kind == *kind).map(|it| it.span);
        let (shortest, longest) = (spans().min()?, spans().max()?);
        Some(format!(
            "{}: {} to {} ms{range}; samples: {}",
            kind.label(),
            decimal(milliseconds(shortest), 2),
            decimal(milliseconds(longest), 2),
            grouped(spans().count() as u64),
        ))
    });
    format!("{title}. {}.", kinds.collect::<Vec<_>>().join(". "))
}

fn milliseconds(span: Span) -> f64 {
    span.as_secs_f64() * 1e3
}

fn micros(span: Span) -> u64 {
    span.as_nanos() / 1_000
}
