//! Values over time, drawn from an analysed flow.

use std::collections::BTreeMap;
use tcplab_quantities as q;
use tcplab_trace::{Flow, Range};
use tcplab_units::{Instant, Offset, Span};

use crate::coverage::Coverage;

/// One line of a chart.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// CSS class, for colour and dash.
    pub class: &'static str,
    /// The name in the legend.
    pub label: String,
    /// In order of time; `None` where there is no value.
    pub points: Vec<(Instant, Option<f64>)>,
    /// Whether a value holds until the next, else the line slopes.
    pub steps: bool,
}

/// The advertised window in bytes; empty if its scale is unknown.
pub fn advertised_window(flow: &Flow) -> Series {
    let mut points: Vec<(Instant, Option<f64>)> = Vec::new();
    for ack in &flow.acks {
        let window = ack.window.map(|w| w.as_u64() as f64);
        if points.last().is_none_or(|(_, last)| *last != window) {
            points.push((ack.at, window));
        }
    }
    if let (Some(ack), Some((_, last))) = (flow.acks.last(), points.last().copied()) {
        points.push((ack.at, last));
    }
    Series { class: "window", label: q::WINDOW_BYTES.label.into(), points, steps: true }
}

/// Bytes sent and neither acknowledged nor SACKed, after each segment; none once all are
/// acknowledged.
pub fn in_flight(flow: &Flow) -> Series {
    let mut points = Vec::new();
    let mut acks = flow.acks.iter().peekable();
    let mut high = None;
    let mut answered = |until: (Instant, u64), high: Option<Offset>, points: &mut Vec<_>| {
        let mut all = None;
        while let Some(ack) = acks.next_if(|ack| ack.order() < until) {
            all = all.or((high == Some(ack.ack)).then_some(ack.at));
        }
        points.extend(all.map(|at| (at, Some(0.0))));
    };
    for segment in &flow.segments {
        answered(segment.order(), high, &mut points);
        points.push((segment.at, Some(segment.in_flight.as_u64() as f64)));
        high = high.max(Some(segment.range.end));
    }
    answered((Instant::from_nanos(u64::MAX), u64::MAX), high, &mut points);
    Series { class: "flight", label: q::BYTES_IN_FLIGHT.label.into(), points, steps: false }
}

/// Over what a rate is averaged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Averaging {
    /// Each of equal parts of the time by itself.
    Parts(Span),
    /// At each time, the span that ends then.
    Moving(Span),
}

/// Data sent, with retransmissions, in Mbit/s.
pub fn sent_rate(flow: &Flow, averaging: Averaging) -> Series {
    rate("sent", "sent (throughput)", &sent_amounts(flow), averaging)
}

/// Data newly acknowledged or SACKed, in Mbit/s: each byte counts once, when the sender learns of
/// its arrival.
pub fn delivered_rate(flow: &Flow, averaging: Averaging) -> Series {
    rate("goodput", "acknowledged (goodput)", &delivered_amounts(flow), averaging)
}

/// Bytes of payload of each segment, when it was sent; copies were not.
pub fn sent_amounts(flow: &Flow) -> Vec<(Instant, u64)> {
    let sent = flow.segments.iter().filter(|segment| !segment.kind.is_copy());
    sent.map(|segment| (segment.at, segment.payload.as_u64())).collect()
}

/// Bytes that each ACK newly acknowledges or SACKs.
pub fn delivered_amounts(flow: &Flow) -> Vec<(Instant, u64)> {
    let mut coverage = Coverage::default();
    let Some(start) = flow.acks.first().map(|a| a.ack) else { return Vec::new() };
    let amounts = flow.acks.iter().map(|ack| {
        let reported = std::iter::once(Range { start, end: ack.ack }).chain(ack.sack.clone());
        let new = reported.flat_map(|r| coverage.add(r)).map(|(s, e)| e - s).sum();
        (ack.at, new)
    });
    amounts.collect()
}

fn rate(
    class: &'static str,
    label: &str,
    amounts: &[(Instant, u64)],
    averaging: Averaging,
) -> Series {
    let points = match averaging {
        Averaging::Parts(part) => binned(amounts.iter().copied(), part),
        Averaging::Moving(span) => moving(amounts, span),
    };
    Series { class, label: label.into(), points, steps: true }
}

/// At each time, the bytes of the `span` up to it, over the whole `span`: a step up with each
/// amount, and down when it is `span` old.
fn moving(amounts: &[(Instant, u64)], span: Span) -> Vec<(Instant, Option<f64>)> {
    let span = span.max(Span::from_nanos(1));
    let mut amounts: Vec<_> = amounts.iter().filter(|(_, bytes)| *bytes > 0).copied().collect();
    // A capture of several interfaces may step back in time.
    amounts.sort_by_key(|(at, _)| *at);
    let rate = |bytes: u64| Some(bytes as f64 * 8.0 * 1e3 / span.as_nanos() as f64);
    let mut points: Vec<(Instant, Option<f64>)> = Vec::new();
    let (mut coming, mut going) = (amounts.iter().peekable(), amounts.iter().peekable());
    let mut inside = 0;
    while let Some((oldest, _)) = going.peek() {
        let next = coming.peek().map_or(Instant::MAX, |(at, _)| *at);
        let at = next.min(*oldest + span);
        while let Some((_, bytes)) = coming.next_if(|(it, _)| *it == at) {
            inside += bytes;
        }
        while let Some((_, bytes)) = going.next_if(|(it, _)| *it + span == at) {
            inside -= bytes;
        }
        points.push((at, rate(inside)));
    }
    if let Some((at, _)) = points.last().copied() {
        points.push((at, None));
    }
    points
}

fn binned(amounts: impl Iterator<Item = (Instant, u64)>, bin: Span) -> Vec<(Instant, Option<f64>)> {
    let width = bin.as_nanos().max(1);
    let mut bins: BTreeMap<u64, u64> = BTreeMap::new();
    for (at, bytes) in amounts {
        *bins.entry(at.as_nanos() / width).or_default() += bytes;
    }
    let (Some((first, _)), Some((last, _))) = (bins.first_key_value(), bins.last_key_value())
    else {
        return Vec::new();
    };
    let (first, last) = (*first, *last);
    let rate = |bytes: u64| Some(bytes as f64 * 8.0 * 1e3 / width as f64);
    let mut points: Vec<(Instant, Option<f64>)> = Vec::new();
    for n in first..=last {
        let value = rate(bins.get(&n).copied().unwrap_or(0));
        if points.last().is_none_or(|(_, held)| *held != value) {
            points.push((Instant::from_nanos(n * width), value));
        }
    }
    points.push((Instant::from_nanos((last + 1) * width), None));
    points
}
