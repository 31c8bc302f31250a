//! Values over time, drawn from an analysed flow.

use std::collections::BTreeMap;
use tcplab_quantities as q;
use tcplab_trace::{Flow, Range};
use tcplab_units::{Instant, Offset, Span};

use crate::coverage::Coverage;
use crate::round_trips::samples;

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
    let mut answered = |until: u64, high: Option<Offset>, points: &mut Vec<_>| {
        let mut all = None;
        while let Some(ack) = acks.next_if(|ack| ack.frame < until) {
            all = all.or((high == Some(ack.ack)).then_some(ack.at));
        }
        points.extend(all.map(|at| (at, Some(0.0))));
    };
    for segment in &flow.segments {
        answered(segment.frame, high, &mut points);
        points.push((segment.at, Some(segment.in_flight.as_u64() as f64)));
        high = high.max(Some(segment.range.end));
    }
    answered(u64::MAX, high, &mut points);
    Series { class: "flight", label: q::BYTES_IN_FLIGHT.label.into(), points, steps: false }
}

/// RTTs of data sent once, in ms, at the time of the ACK; interrupted where there is none for many
/// RTTs.
pub fn round_trips(flow: &Flow) -> Series {
    const MANY: u64 = 8;
    let mut points: Vec<(Instant, Option<f64>)> = Vec::new();
    for sample in samples(flow) {
        if let Some((last, _)) = points.last().copied()
            && sample.at.since(last) > sample.span * MANY
        {
            points.push((last, None));
        }
        points.push((sample.at, Some(sample.span.as_secs_f64() * 1e3)));
    }
    Series { class: "rtt", label: "RTT".into(), points, steps: false }
}

/// Data sent per `bin`, with retransmissions, in Mbit/s.
pub fn sent_rate(flow: &Flow, bin: Span) -> Series {
    let amounts = flow.segments.iter().map(|s| (s.at, s.payload.as_u64()));
    Series {
        class: "sent",
        label: "sent (throughput)".into(),
        points: binned(amounts, bin),
        steps: true,
    }
}

/// Data newly acknowledged or SACKed per `bin`, in Mbit/s: each byte counts once, when the sender
/// learns of its arrival.
pub fn delivered_rate(flow: &Flow, bin: Span) -> Series {
    let mut coverage = Coverage::default();
    let mut amounts = Vec::new();
    let Some(start) = flow.acks.first().map(|a| a.ack) else {
        return Series { class: "goodput", label: String::new(), points: vec![], steps: true };
    };
    for ack in &flow.acks {
        let reported = std::iter::once(Range { start, end: ack.ack }).chain(ack.sack.clone());
        let new: u64 = reported.flat_map(|r| coverage.add(r)).map(|(s, e)| e - s).sum();
        amounts.push((ack.at, new));
    }
    Series {
        class: "goodput",
        label: "acknowledged (goodput)".into(),
        points: binned(amounts.into_iter(), bin),
        steps: true,
    }
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
