//! The graphs of a trial.

use tcplab_plot::{
    Averaging, Band, Chart, Figure, Series, View, advertised_window, chart, delivered_rate,
    in_flight, sent_rate, time_sequence,
};
use tcplab_quantities as q;
use tcplab_recording::Sample;
use tcplab_results::TrialData;
use tcplab_trace::Flow;
use tcplab_units::{Instant, Span, rounded};

use super::transfer::Transfer;

const BIN: Span = Span::from_millis(100);
/// Linux before the first threshold (TCP_INFINITE_SSTHRESH).
const NO_THRESHOLD: u64 = 0x7fff_ffff;

/// The graphs over the time of a transfer, the time-sequence graphs first; ids of their layers
/// begin with `id`.
pub(crate) fn figures_of(
    id: &str,
    transfer: &Transfer<'_>,
    data: &TrialData,
    bands: &[Band],
) -> Vec<Figure> {
    let view = View { from: Instant::ZERO, until: transfer.until, bands };
    let (sender, receiver) = (transfer.sender.name(), transfer.receiver().name());
    let flow = transfer.at_sender;
    let samples: Vec<&Sample> =
        data.samples.iter().filter(|s| s.endpoint == transfer.sender).collect();
    let mut figures =
        vec![time_sequence(&format!("{id}-sender"), &named(sender, "sender"), flow, &view)];
    if let Some(flow) = transfer.at_receiver {
        let id = format!("{id}-receiver");
        figures.push(time_sequence(&id, &named(receiver, "receiver"), flow, &view));
    }
    let brief = brief(bands);
    let view = View { bands: &brief, ..view };
    figures.push(window_chart(flow, &view));
    figures.push(congestion_chart(flow, &samples, &view));
    figures.extend(rate_chart(flow, Averaging::Parts(BIN), &view));
    figures.push(round_trip_chart(&samples, &view));
    figures
}

/// With short labels; the long ones are above the sequence numbers.
pub(crate) fn brief(bands: &[Band]) -> Vec<Band> {
    bands.iter().map(|b| Band { label: b.short.clone(), class: "", ..b.clone() }).collect()
}

fn named(endpoint: &str, role: &str) -> String {
    format!("Sequence numbers at the {endpoint} ({role})")
}

fn window_chart(flow: &Flow, view: &View<'_>) -> Figure {
    let series = [scaled(advertised_window(flow), 1e-3)];
    let title = "Advertised window";
    chart(&Chart { title, unit: "kB", right: None, series: &series, at_most: None }, view)
}

fn congestion_chart(flow: &Flow, samples: &[&Sample], view: &View<'_>) -> Figure {
    // Before the first sample, the largest payload approximates the MSS.
    let largest = flow.segments.iter().map(|s| s.payload.as_u64()).max();
    let mss = samples.iter().map(|s| s.snd_mss_bytes).max().or(largest).unwrap_or(0).max(1) as f64;
    let series = [
        scaled(in_flight(flow), 1.0 / mss),
        sampled(samples, "ssthresh", "ssthresh", |s| {
            (s.ssthresh_segments < NO_THRESHOLD).then_some(s.ssthresh_segments as f64)
        }),
        sampled(samples, "cwnd", "congestion window", |s| Some(s.cwnd_segments as f64)),
    ];
    chart(
        &Chart {
            title: "Congestion window, ssthresh and data in flight",
            unit: "segments",
            right: Some((mss / 1e3, "kB")),
            series: &series,
            at_most: None,
        },
        view,
    )
}

/// Sent and delivered data, if the transfer has a rate.
pub(crate) fn rate_chart(flow: &Flow, averaging: Averaging, view: &View<'_>) -> Option<Figure> {
    flow.transfer.throughput?;
    let series = [sent_rate(flow, averaging), delivered_rate(flow, averaging)];
    // A burst into an empty queue must not flatten the rest.
    let mut rates: Vec<f64> =
        series.iter().flat_map(|s| &s.points).filter_map(|(_, rate)| *rate).collect();
    rates.sort_by(f64::total_cmp);
    let title = match averaging {
        Averaging::Parts(part) => format!("Throughput per {}", rounded::span(part)),
        Averaging::Moving(span) => {
            format!("Throughput, moving average over {}", rounded::span(span))
        }
    };
    let usual = rates.get(rates.len() * 95 / 100).copied();
    let at_most = usual.map(|rate| rate * 2.0);
    let drawn = Chart { title: &title, unit: "Mbit/s", right: None, series: &series, at_most };
    Some(chart(&drawn, view))
}

fn round_trip_chart(samples: &[&Sample], view: &View<'_>) -> Figure {
    let time = |us: u64| (us > 0).then_some(us as f64 / 1e3);
    let series = [
        sampled(samples, "min-rtt", q::RTT_MIN.label, |s| {
            // The kernel's value before the first measurement is all ones.
            time(s.min_rtt_us).filter(|_| s.min_rtt_us < u64::from(u32::MAX))
        }),
        sampled(samples, "rto", q::RTO.label, |s| time(s.rto_us)),
        sampled(samples, "rtt", q::SRTT.label, |s| time(s.rtt_us)),
    ];
    let title = "RTT and RTO";
    chart(&Chart { title, unit: "ms", right: None, series: &series, at_most: None }, view)
}

fn sampled(
    samples: &[&Sample],
    class: &'static str,
    label: &str,
    value: impl Fn(&Sample) -> Option<f64>,
) -> Series {
    let mut points: Vec<(Instant, Option<f64>)> = Vec::new();
    for sample in samples {
        let value = value(sample);
        if points.last().is_none_or(|(_, held)| *held != value) {
            points.push((sample.at, value));
        }
    }
    if let (Some(sample), Some((_, held))) = (samples.last(), points.last().copied()) {
        points.push((sample.at, held));
    }
    Series { class, label: label.to_string(), points, steps: true }
}

pub(crate) fn scaled(series: Series, factor: f64) -> Series {
    let points = series.points.iter().map(|(at, v)| (*at, v.map(|v| v * factor))).collect();
    Series { points, ..series }
}
