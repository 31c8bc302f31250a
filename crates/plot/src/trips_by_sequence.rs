//! RTT over the sequence numbers of the data.

use tcplab_trace::Flow;
use tcplab_units::Span;
use tcplab_units::rounded::{decimal, grouped};

use crate::path_data::STROKES;
use crate::plane::Figure;
use crate::points::{Point, PointLayer, Points};
use crate::round_trips::samples;
use crate::scale::Scale;
use crate::view::Unit;

/// Draws the samples of [`crate::round_trips`], each where its segment begins; none without
/// samples.
pub fn round_trips_by_sequence(title: &str, flow: &Flow) -> Option<Figure> {
    let samples = samples(flow);
    let longest = samples.iter().map(|sample| sample.span).max()?;
    let shortest = samples.iter().map(|sample| sample.span).min()?;
    // Also what has no sample, so that it is seen.
    let end = flow.segments.iter().map(|s| s.range.end.as_u64()).max()?;
    let high = longest + longest / 16;
    let scale = Scale::of_sequence(end, high);
    let points = samples.iter().map(|sample| Point {
        place: (scale.x_of_sequence(sample.sequence), scale.y(milliseconds(sample.span))),
        exact: (sample.sequence, micros(sample.span)),
    });
    let layer =
        PointLayer { class: "rtt", label: "RTT", budget: STROKES, points: points.collect() };
    let figure = Points {
        title,
        summary: format!(
            "{title}: {} to {} ms up to sequence number {}; samples: {}.",
            decimal(milliseconds(shortest), 2),
            decimal(milliseconds(longest), 2),
            grouped(end),
            grouped(samples.len() as u64),
        ),
        bands: &[],
        scale,
        unit: Unit::Named("ms".into()),
        layers: vec![layer],
        edges: (end, micros(high)),
    };
    Some(figure.figure())
}

fn milliseconds(span: Span) -> f64 {
    span.as_secs_f64() * 1e3
}

fn micros(span: Span) -> u64 {
    span.as_nanos() / 1_000
}
