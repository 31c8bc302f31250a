//! Charts: a few lines over time on the common frame.

use tcplab_units::Instant;
use tcplab_units::rounded::decimal;

use crate::path_data::{STROKES, dots, polyline};
use crate::plane::{ACROSS, CHART_ROWS, Figure, Graph, Layer};
use crate::scale::Scale;
use crate::series::Series;
use crate::view::{Unit, View};

/// What to draw.
#[derive(Debug, Clone, PartialEq)]
pub struct Chart<'a> {
    /// What it shows.
    pub title: &'a str,
    /// The values' unit.
    pub unit: &'a str,
    /// A second unit on the right: how many of it make one, and its name.
    pub right: Option<(f64, &'a str)>,
    /// The lines, the lowermost first.
    pub series: &'a [Series],
    /// Values above are outside the graph at first; the line is cut and the legend names its peak.
    pub at_most: Option<f64>,
}

/// Moments that a chart marks, each a dot.
#[derive(Debug, Clone, PartialEq)]
pub struct Marks {
    /// CSS class, for colour and shape; it begins with `drop-`.
    pub class: &'static str,
    /// The name in the legend.
    pub label: String,
    /// When, and how far up.
    pub points: Vec<(Instant, f64)>,
}

/// Pixels.
const HEIGHT: i64 = 132;
/// An eighth of a pixel: closer points are thinned to their extremes.
const FINENESS: i64 = 8;

/// Draws lines over time. The axis starts at zero.
pub fn chart(chart: &Chart<'_>, view: &View<'_>) -> Figure {
    marked_chart(chart, &[], view)
}

/// Draws lines over time, and marks above them.
pub fn marked_chart(chart: &Chart<'_>, marks: &[Marks], view: &View<'_>) -> Figure {
    let high = high(chart);
    let scale = Scale::new(view.from, view.until, 0.0, high, CHART_ROWS);
    let column = (scale.columns / (ACROSS * FINENESS)).max(1);
    let mut layers: Vec<Layer> = chart
        .series
        .iter()
        .map(|series| {
            let points: Vec<_> = series
                .points
                .iter()
                .map(|(at, value)| (scale.x(*at), value.map(|v| scale.y(v))))
                .collect();
            let path = polyline(&points, series.steps, column);
            let label = match peak(series).filter(|peak| *peak > high) {
                Some(peak) => format!("{} (up to {} {})", series.label, brief(peak), chart.unit),
                None => series.label.clone(),
            };
            Layer { class: series.class, label, path, is_off: false }
        })
        .collect();
    // Two pixels across, half a pixel up.
    let cell = ((scale.columns * 2 / ACROSS).max(1), (scale.rows / (2 * HEIGHT)).max(1));
    layers.extend(marks.iter().map(|marks| {
        let places = marks.points.iter().map(|(at, value)| (scale.x(*at), scale.y(*value)));
        let path = dots(places.collect(), STROKES, cell);
        Layer { class: marks.class, label: marks.label.clone(), path, is_off: false }
    }));
    Graph {
        kind: "chart",
        id: "",
        title: chart.title,
        summary: summary(chart, marks),
        bands: view.bands,
        scale,
        unit: Unit::Named(chart.unit.to_string()),
        right: chart.right,
        height: HEIGHT,
        layers,
    }
    .figure()
}

/// The upper end of the axis.
pub(crate) fn high(chart: &Chart<'_>) -> f64 {
    let largest = chart.series.iter().filter_map(peak).fold(0.0, f64::max);
    let shown = chart.at_most.map_or(largest, |most| largest.min(most));
    if shown > 0.0 { shown * 1.06 } else { 1.0 }
}

fn peak(series: &Series) -> Option<f64> {
    series
        .points
        .iter()
        .filter_map(|(_, value)| *value)
        .fold(None, |most, v| Some(most.map_or(v, |m: f64| m.max(v))))
}

fn summary(chart: &Chart<'_>, marks: &[Marks]) -> String {
    let lines: Vec<String> = chart
        .series
        .iter()
        .filter_map(|s| {
            let peak = peak(s)?;
            let at: Option<&(Instant, _)> = s.points.iter().find(|(_, v)| *v == Some(peak));
            let when = at.map_or(0.0, |(at, _)| at.as_secs_f64());
            Some(format!("{} max {} {} (at {when:.1} s)", s.label, brief(peak), chart.unit))
        })
        .chain(marks.iter().map(|marks| marks.label.clone()))
        .collect();
    format!("{}: {}.", chart.title, lines.join("; "))
}

fn brief(value: f64) -> String {
    let decimals = match value {
        v if v < 10.0 => 2,
        v if v < 100.0 => 1,
        _ => 0,
    };
    decimal(value, decimals)
}
