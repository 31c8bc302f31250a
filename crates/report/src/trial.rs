//! One trial: its graphs and its episodes.

use tcplab_lab::{EpisodeRow, Metric, Trial, TrialData};
use tcplab_plot::{
    Chart, Figure, LadderScene, Series, View, advertised_window, chart, decimal, delivered_rate,
    grouped, in_flight, ladder, sent_rate, time_sequence,
};
use tcplab_recording::{Endpoint, Sample};
use tcplab_trace::{Connection, Flow, Trace};
use tcplab_units::{Instant, Span};

use crate::number::{figures, words};
use crate::outcome::kind_class;
use crate::page::anchor;
use crate::summary::rank;

/// Throughput is counted over so long.
const BIN: Span = Span::from_millis(100);
/// What Linux says for "no slow start threshold yet" (TCP_INFINITE_SSTHRESH).
const NO_THRESHOLD: u64 = 0x7fff_ffff;

/// One trial as shown.
pub(crate) struct TrialView<'a> {
    pub(crate) id: String,
    pub(crate) open: bool,
    pub(crate) case: &'a str,
    pub(crate) trial: &'a Trial,
    pub(crate) warnings: Vec<String>,
    pub(crate) metrics: Vec<(String, String)>,
    pub(crate) figures: Vec<Figure>,
    /// Start, end and name of what the reader may want to zoom into, seconds.
    pub(crate) stops: Vec<Stop>,
    pub(crate) episodes: Vec<EpisodeView<'a>>,
}

/// A stretch of time worth seeing close, in seconds.
pub(crate) struct Stop {
    pub(crate) number: usize,
    pub(crate) from: String,
    pub(crate) until: String,
}

/// One episode as shown.
pub(crate) struct EpisodeView<'a> {
    pub(crate) id: String,
    pub(crate) row: &'a EpisodeRow,
    pub(crate) class: &'static str,
    pub(crate) numbers: Vec<(&'static str, String)>,
    pub(crate) truth: String,
    pub(crate) agrees: bool,
    /// None when the capture holds no such episode.
    pub(crate) ladder: Option<String>,
    pub(crate) from: String,
    pub(crate) until: String,
}

/// The transfer of a trial: its data's direction as both taps saw it.
struct Transfer<'a> {
    sender: Endpoint,
    at_sender: &'a Flow,
    at_receiver: Option<&'a Flow>,
    until: Instant,
}

impl<'a> TrialView<'a> {
    pub(crate) fn new(
        case: &'a str,
        case_index: usize,
        trial: &'a Trial,
        data: &TrialData,
        open: bool,
    ) -> TrialView<'a> {
        let transfer = Transfer::of(data);
        let stops = data.interruptions.iter().enumerate();
        TrialView {
            id: anchor(case_index, Some(trial.number), None),
            open,
            case,
            trial,
            warnings: warnings(trial, data),
            metrics: metrics(trial),
            figures: transfer.as_ref().map_or(vec![], |t| figures_of(t, data)),
            stops: stops
                .filter(|(_, (start, _))| transfer.as_ref().is_some_and(|t| *start < t.until))
                .map(|(i, (start, end))| Stop {
                    number: i + 1,
                    from: seconds((*start - Span::from_millis(150)).as_secs_f64()),
                    until: seconds((*end + Span::from_millis(750)).as_secs_f64()),
                })
                .collect(),
            episodes: trial
                .episodes
                .iter()
                .map(|row| {
                    let id = anchor(case_index, Some(trial.number), Some(row.number));
                    EpisodeView::new(id, row, transfer.as_ref(), data)
                })
                .collect(),
        }
    }
}

/// What is less than perfect about the trial and about its captures.
fn warnings(trial: &Trial, data: &TrialData) -> Vec<String> {
    let mut warnings = trial.warnings.clone();
    for (endpoint, trace) in Endpoint::BOTH.into_iter().zip([&data.client, &data.server]) {
        warnings.extend(trace.notes.iter().map(|note| {
            let place = note.frame.map_or(String::new(), |frame| format!(", frame {frame}"));
            format!("capture at the {}{place}: {}", endpoint.name(), note.text)
        }));
    }
    warnings
}

/// What people ask for first, then as the run lists them.
fn metrics(trial: &Trial) -> Vec<(String, String)> {
    let mut metrics: Vec<&Metric> = trial.metrics.iter().collect();
    metrics.sort_by_key(|m| rank(&m.name));
    let text = |m: &Metric| format!("{} {}", figures(m.value), m.unit).trim_end().to_string();
    metrics.into_iter().map(|m| (words(&m.name), text(m))).collect()
}

impl<'a> Transfer<'a> {
    /// The direction in which the connection with the most data sent most of it.
    fn of(data: &'a TrialData) -> Option<Transfer<'a>> {
        let (here, sender) = busiest(&data.client).or_else(|| busiest(&data.server))?;
        let there = |trace: &'a Trace| trace.connections.iter().find(|c| c.client == here.client);
        let flow = |connection: &'a Connection| match sender {
            Endpoint::Client => &connection.forward,
            Endpoint::Server => &connection.reverse,
        };
        let at_client = there(&data.client);
        let at_server = there(&data.server);
        let until = [at_client, at_server].into_iter().flatten().map(|c| c.last).max()?;
        let (near, far) = match sender {
            Endpoint::Client => (at_client, at_server),
            Endpoint::Server => (at_server, at_client),
        };
        Some(Transfer {
            sender,
            at_sender: flow(near.or(far)?),
            at_receiver: near.and(far).map(flow),
            until,
        })
    }

    fn receiver(&self) -> Endpoint {
        match self.sender {
            Endpoint::Client => Endpoint::Server,
            Endpoint::Server => Endpoint::Client,
        }
    }
}

fn busiest(trace: &Trace) -> Option<(&Connection, Endpoint)> {
    let size = |c: &Connection| c.forward.totals.unique + c.reverse.totals.unique;
    let connection = trace.connections.iter().max_by_key(|c| size(c))?;
    let upload = connection.forward.totals.unique >= connection.reverse.totals.unique;
    Some((connection, if upload { Endpoint::Client } else { Endpoint::Server }))
}

fn figures_of(transfer: &Transfer<'_>, data: &TrialData) -> Vec<Figure> {
    let view =
        View { from: Instant::ZERO, until: transfer.until, interruptions: &data.interruptions };
    let (sender, receiver) = (transfer.sender.name(), transfer.receiver().name());
    let flow = transfer.at_sender;
    let samples: Vec<&Sample> =
        data.samples.iter().filter(|s| s.endpoint == transfer.sender).collect();
    let mut figures =
        vec![time_sequence(&format!("Sequence number at the {sender} (sender)"), flow, &view)];
    if let Some(flow) = transfer.at_receiver {
        let title = format!("Sequence number at the {receiver} (receiver)");
        figures.push(time_sequence(&title, flow, &view));
    }
    figures.push(window_chart(flow, &view));
    figures.push(congestion_chart(flow, &samples, &view));
    figures.push(rate_chart(flow, &view));
    figures.push(round_trip_chart(&samples, &view));
    figures
}

fn window_chart(flow: &Flow, view: &View<'_>) -> Figure {
    let series = [scaled(advertised_window(flow), 1e-3)];
    let title = "Advertised window";
    chart(&Chart { title, unit: "kB", right: None, series: &series, at_most: None }, view)
}

fn congestion_chart(flow: &Flow, samples: &[&Sample], view: &View<'_>) -> Figure {
    // Before the first sample the largest payload is the best word on the segment size.
    let largest = flow.segments.iter().map(|s| s.payload.as_u64()).max();
    let mss = samples.iter().map(|s| s.snd_mss_bytes).max().or(largest).unwrap_or(0).max(1) as f64;
    let series = [
        scaled(in_flight(flow), 1.0 / mss),
        sampled(samples, "ssthresh", "slow start threshold", |s| {
            (s.ssthresh_segments < NO_THRESHOLD).then_some(s.ssthresh_segments as f64)
        }),
        sampled(samples, "cwnd", "congestion window", |s| Some(s.cwnd_segments as f64)),
    ];
    chart(
        &Chart {
            title: "Congestion window, threshold and data in flight",
            unit: "segments",
            right: Some((mss / 1e3, "kB")),
            series: &series,
            at_most: None,
        },
        view,
    )
}

fn rate_chart(flow: &Flow, view: &View<'_>) -> Figure {
    let series = [sent_rate(flow, BIN), delivered_rate(flow, BIN)];
    // A burst into an empty queue must not press the rest of the transfer flat.
    let mut rates: Vec<f64> =
        series.iter().flat_map(|s| &s.points).filter_map(|(_, rate)| *rate).collect();
    rates.sort_by(f64::total_cmp);
    let usual = rates.get(rates.len() * 95 / 100).copied();
    chart(
        &Chart {
            title: "Throughput per 100 ms",
            unit: "Mbit/s",
            right: None,
            series: &series,
            at_most: usual.map(|rate| rate * 2.0),
        },
        view,
    )
}

fn round_trip_chart(samples: &[&Sample], view: &View<'_>) -> Figure {
    let time = |us: u64| (us > 0).then_some(us as f64 / 1e3);
    let series = [
        sampled(samples, "min-rtt", "smallest round trip", |s| {
            // The kernel says all ones before the first measurement.
            time(s.min_rtt_us).filter(|_| s.min_rtt_us < u64::from(u32::MAX))
        }),
        sampled(samples, "rto", "retransmission timeout", |s| time(s.rto_us)),
        sampled(samples, "rtt", "smoothed round trip", |s| time(s.rtt_us)),
    ];
    let title = "Round trip time and timeout";
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

fn scaled(series: Series, factor: f64) -> Series {
    let points = series.points.iter().map(|(at, v)| (*at, v.map(|v| v * factor))).collect();
    Series { points, ..series }
}

impl<'a> EpisodeView<'a> {
    fn new(
        id: String,
        row: &'a EpisodeRow,
        transfer: Option<&Transfer<'_>>,
        data: &TrialData,
    ) -> EpisodeView<'a> {
        let ladder = transfer.and_then(|transfer| drawn(row, transfer, data));
        let begin = row.start_s - row.silence_s;
        EpisodeView {
            id,
            row,
            class: kind_class(&row.kind),
            numbers: numbers(row),
            truth: truth(row),
            agrees: row.truth_lost == row.lost_segments,
            ladder,
            from: seconds((begin - 0.3).max(0.0)),
            until: seconds(row.start_s + row.duration_s + 0.2),
        }
    }
}

fn drawn(row: &EpisodeRow, transfer: &Transfer<'_>, data: &TrialData) -> Option<String> {
    let flow = transfer.at_sender;
    let episode = flow.episodes.get(row.number.checked_sub(1)?)?;
    let title = format!("Ladder diagram of episode {}: {}", row.number, row.kind);
    Some(ladder(&LadderScene {
        title: &title,
        sender: transfer.sender.name(),
        receiver: transfer.receiver().name(),
        flow,
        lines: &tcplab_trace::ladder(flow, episode),
        interruptions: &data.interruptions,
    }))
}

fn numbers(row: &EpisodeRow) -> Vec<(&'static str, String)> {
    let time = |seconds: f64| tcplab_plot::spoken(Span::from_secs_f64(seconds));
    let repair = if row.repaired { time(row.duration_s) } else { "never".to_string() };
    let evidence = if row.evidence == "sack" { "SACK" } else { &row.evidence };
    vec![
        ("first evidence", format!("{evidence} at {} s", decimal(row.start_s, 3))),
        ("repaired in", repair),
        ("longest silence", time(row.silence_s)),
        ("lost segments", grouped(row.lost_segments as u64)),
        (
            "retransmitted",
            format!(
                "{} packets, {} kB",
                grouped(row.retransmissions),
                decimal(row.retransmitted_bytes as f64 / 1e3, 1)
            ),
        ),
        ("sent by a timer", grouped(row.timeouts)),
    ]
}

/// What the path's own log says, beside what the capture showed.
fn truth(row: &EpisodeRow) -> String {
    let dropped = match row.truth_lost {
        1 => "1 data packet".to_string(),
        n => format!("{} data packets", grouped(n as u64)),
    };
    if row.truth_lost == row.lost_segments {
        format!("The path's own log agrees: it dropped {dropped}.")
    } else {
        let found = grouped(row.lost_segments as u64);
        format!("The path's own log differs: it dropped {dropped}, the capture shows {found}.")
    }
}

fn seconds(value: f64) -> String {
    format!("{value:.4}")
}
