//! Several flows on the page of their trial.

use tcplab_plot::{Chart, Figure, Series, View, chart};
use tcplab_quantities::{self as q, Quantity};
use tcplab_results::{FlowRow, Trial};
use tcplab_scenario::metrics;
use tcplab_units::rounded::{figures, grouped};
use tcplab_units::{Instant, Span};

use crate::summary::subject::part;

/// Flows with a line each; others share one.
const LINES: [&str; 6] = ["flow-1", "flow-2", "flow-3", "flow-4", "flow-5", "flow-6"];
const OTHERS: &str = "flow-others";

pub(crate) struct FlowsView {
    pub(crate) rows: Vec<FlowLine>,
    /// Goodput of each over time.
    pub(crate) figure: Figure,
    /// The subject of the other figures.
    pub(crate) subject: String,
}

pub(crate) struct FlowLine {
    pub(crate) name: String,
    pub(crate) is_background: bool,
    /// By [`COLUMNS`].
    pub(crate) cells: Vec<String>,
}

/// The columns for a flow.
pub(crate) const COLUMNS: [Quantity; 9] = [
    q::CONNECTIONS,
    q::START_SECONDS,
    q::TRANSFERRED_BYTES,
    q::TRANSFER_TIME_SECONDS,
    q::GOODPUT_MBIT_PER_SECOND,
    q::RESPONSE_TIME_MS,
    q::RETRANSMISSIONS,
    q::TIMEOUTS,
    q::LOST_SEGMENTS,
];

impl FlowsView {
    /// None of a trial with one connection.
    pub(crate) fn of(trial: &Trial) -> Option<FlowsView> {
        trial.flows.iter().any(|flow| !flow.background).then_some(())?;
        Some(FlowsView {
            subject: part(trial)?,
            rows: trial.flows.iter().map(line).collect(),
            figure: figure(&trial.flows),
        })
    }
}

fn line(flow: &FlowRow) -> FlowLine {
    let text = |value: Option<f64>| value.map_or_else(|| "–".into(), figures);
    let start = flow.connections.first().map(|it| it.start_s);
    let cells = vec![
        grouped(flow.connections.len() as u64),
        text(start),
        grouped(flow.bytes()),
        text(flow.median(metrics::TRANSFER_TIME)),
        text(flow.median(metrics::GOODPUT)),
        text(flow.median(metrics::RESPONSE_TIME)),
        text(flow.sum(metrics::RETRANSMISSIONS)),
        text(flow.sum(metrics::TIMEOUTS)),
        text(flow.sum(metrics::LOST)),
    ];
    FlowLine { name: flow.name.clone(), is_background: flow.background, cells }
}

/// A line for each flow; flows without a line of their own share one.
fn figure(flows: &[FlowRow]) -> Figure {
    let own = if flows.len() > LINES.len() { LINES.len() - 1 } else { flows.len() };
    let mut series: Vec<Series> = flows[..own]
        .iter()
        .zip(LINES)
        .map(|(flow, class)| {
            let aside = if flow.background { ", background" } else { "" };
            of(&[flow], class, format!("{}{aside}", flow.name))
        })
        .collect();
    let others: Vec<&FlowRow> = flows[own..].iter().collect();
    if !others.is_empty() {
        series.push(of(&others, OTHERS, format!("{} others, summed", others.len())));
    }
    let until = series.iter().filter_map(|line| line.points.last()).map(|(at, _)| *at).max();
    let view = View { from: Instant::ZERO, until: until.unwrap_or(Instant::ZERO), bands: &[] };
    let title = "Received by each flow";
    chart(&Chart { title, unit: "Mbit/s", right: None, series: &series, at_most: None }, &view)
}

/// The received data of these flows, in steps.
fn of(flows: &[&FlowRow], class: &'static str, label: String) -> Series {
    let interval = flows.iter().map(|flow| flow.series.interval_s).fold(0.0, f64::max);
    let count = flows.iter().map(|flow| flow.series.bytes.len()).max().unwrap_or(0);
    let bytes =
        |n: usize| -> u64 { flows.iter().filter_map(|flow| flow.series.bytes.get(n)).sum() };
    let at = |n: usize| Instant::ZERO + Span::from_secs_f64(interval * n as f64);
    // No line before the first byte and after the last.
    let first = (0..count).find(|n| bytes(*n) > 0).unwrap_or(count);
    let last = (0..count).rfind(|n| bytes(*n) > 0).map_or(first, |last| last + 1);
    let rate = |n: usize| Some(bytes(n) as f64 * 8e-6 / interval);
    let mut points: Vec<_> = (first..last).map(|n| (at(n), rate(n))).collect();
    points.push((at(last), None));
    Series { class, label, points, steps: true }
}
