//! The tables of which each trial has some rows: each column, and its cell in a row.

use tcplab_quantities as q;
use tcplab_recording::OptionRecord;
use tcplab_results::{EpisodeRow, FlowRow, InterruptionRow, Metric, OptionRow, Trial};
use tcplab_scenario::metrics;
use tcplab_table::Kind::{self, Flag, Number, Text, Whole, Wide};
use tcplab_table::Value;
use tcplab_units::Endpoint;
use tcplab_workload::CallRow;

use super::typed::typed;

/// As the metrics count them; of a connection's `timeouts` probes are no part.
const TIMEOUTS_AND_PROBES: q::Quantity = q::Quantity {
    meaning: "Retransmissions by a timer in recovery episodes, tail loss probes included",
    ..q::TIMEOUTS
};

/// A row, without case and trial.
pub(super) type Row = Vec<Value>;

/// The columns after case and trial, with the cell of an item in each.
pub(super) type Cells<T> = [(q::Quantity, Kind, fn(&T) -> Value)];

/// All columns of a table with these cells.
pub(super) fn columns<T>(cells: &Cells<T>) -> Vec<(q::Quantity, Kind)> {
    let first = [(q::CASE, Text), (q::TRIAL, Whole)];
    first.into_iter().chain(cells.iter().map(|(quantity, kind, _)| (*quantity, *kind))).collect()
}

/// A row for each item.
pub(super) fn rows<T>(cells: &Cells<T>, items: &[T]) -> Vec<Row> {
    items.iter().map(|item| cells.iter().map(|(_, _, cell)| cell(item)).collect()).collect()
}

fn whole(number: usize) -> Value {
    Value::from(number as u64)
}

/// A text, or an empty cell.
fn words(text: &str) -> Value {
    Some(text.to_owned()).filter(|text| !text.is_empty()).into()
}

/// A metric of a trial.
pub(super) struct MetricRow {
    seed: u64,
    metric: Metric,
    warnings: String,
}

pub(super) const METRICS: &Cells<MetricRow> = &[
    (q::SEED, Wide, |it| Value::Wide(it.seed)),
    (q::METRIC, Text, |it| it.metric.name.clone().into()),
    (q::UNIT, Text, |it| words(&it.metric.unit)),
    (q::VALUE, Number, |it| it.metric.value.into()),
    (q::WARNINGS, Text, |it| words(&it.warnings)),
];

pub(super) fn metrics_of(trial: &Trial) -> Vec<MetricRow> {
    let metric = |it: tcplab_results::MetricValue<'_>| MetricRow {
        seed: trial.seed,
        metric: Metric { name: it.name.into(), unit: it.unit.into(), value: it.value },
        warnings: trial.flaws.join("; "),
    };
    trial.metrics.iter().map(metric).collect()
}

pub(super) const EPISODES: &Cells<EpisodeRow> = &[
    (q::EPISODE, Whole, |it| whole(it.number)),
    (q::KIND, Text, |it| it.kind.clone().into()),
    (q::EVIDENCE, Text, |it| it.evidence.clone().into()),
    (q::INTERRUPTION, Whole, |it| it.interruption.into()),
    (q::START_SECONDS, Number, |it| it.start_s.into()),
    (q::DURATION_SECONDS, Number, |it| it.duration_s.into()),
    (q::SILENCE_SECONDS, Number, |it| it.silence_s.into()),
    (q::LOST_SEGMENTS, Whole, |it| whole(it.lost_segments)),
    (q::LOST_SEGMENTS_OF_PATH, Whole, |it| it.truth_lost.map(|lost| lost as u64).into()),
    (q::RETRANSMISSIONS, Whole, |it| it.retransmissions.into()),
    (q::RETRANSMITTED_BYTES, Whole, |it| it.retransmitted_bytes.into()),
    (TIMEOUTS_AND_PROBES, Whole, |it| it.timeouts.into()),
    (q::REPAIRED, Flag, |it| it.repaired.into()),
];

pub(super) const INTERRUPTIONS: &Cells<InterruptionRow> = &[
    (q::INTERRUPTION, Whole, |it| it.number.into()),
    (q::START_SECONDS, Number, |it| it.start_s.into()),
    (q::DURATION_SECONDS, Number, |it| it.lasting_s.into()),
    (q::RECOVERY_SECONDS, Number, |it| it.recovery_s.into()),
    (q::LOST_GOODPUT_BYTES, Number, |it| it.lost_bytes.into()),
];

pub(super) const ENDS: &Cells<(Endpoint, Metric)> = &[
    (q::ENDPOINT, Text, |(end, _)| end.name().into()),
    (q::METRIC, Text, |(_, it)| it.name.clone().into()),
    (q::UNIT, Text, |(_, it)| words(&it.unit)),
    (q::VALUE, Number, |(_, it)| it.value.into()),
];

/// The metrics of both ends, response times and tries among them.
pub(super) fn metrics_of_ends(trial: &Trial) -> Vec<(Endpoint, Metric)> {
    let mut all = Vec::new();
    for end in &trial.ends {
        let times = end.response_times_ms.iter().map(|it| Metric::of(metrics::RESPONSE_TIME, *it));
        let tries = end.request_tries.iter();
        let tries = tries.map(|it| Metric::of(metrics::REQUEST_TRIES, *it as f64));
        let own = end.metrics.iter().cloned().chain(times).chain(tries);
        all.extend(own.map(|metric| (end.end, metric)));
    }
    all
}

pub(super) const CALLS: &Cells<(Endpoint, CallRow)> = &[
    (q::ENDPOINT, Text, |(end, _)| end.name().into()),
    (q::CALL_CONNECTION, Whole, |(_, it)| (it.connection + 1).into()),
    (q::CALL, Text, |(_, it)| it.call.clone().into()),
    (q::ASKED_BYTES, Whole, |(_, it)| match typed(&it.asked) {
        ("_bytes", bytes) => bytes,
        _ => Value::Empty,
    }),
    (q::ASKED, Text, |(_, it)| match typed(&it.asked) {
        ("_bytes", _) => Value::Empty,
        _ => words(&it.asked),
    }),
    (q::RESULT, Text, |(_, it)| it.result.clone().into()),
    (q::COUNT, Whole, |(_, it)| it.count.into()),
    (q::TRANSFERRED_BYTES, Whole, |(_, it)| it.bytes.as_u64().into()),
    (q::START_SECONDS, Number, |(_, it)| it.began.as_secs_f64().into()),
    (q::ENDED_SECONDS, Number, |(_, it)| it.ended.as_secs_f64().into()),
    (q::TOOK_SECONDS, Number, |(_, it)| it.took.as_secs_f64().into()),
    (q::LONGEST_SECONDS, Number, |(_, it)| it.longest.as_secs_f64().into()),
    (q::SCATTERED, Flag, |(_, it)| it.scattered.into()),
    (q::ABOUT, Text, |(_, it)| words(&it.about)),
];

pub(super) fn calls_of(trial: &Trial) -> Vec<(Endpoint, CallRow)> {
    let ends = trial.ends.iter();
    ends.flat_map(|end| end.calls.iter().map(|call| (end.end, call.clone()))).collect()
}

pub(super) const OPTIONS: &Cells<OptionRow> = &[
    (q::SOCKET, Text, |it| it.socket.clone().into()),
    (q::KEY, Text, |it| it.record.name.clone().into()),
    (q::OPTION, Text, |it| it.record.option.clone().into()),
    (q::UNIT, Text, |it| unit(&it.record).into()),
    (q::REQUESTED, Number, |it| number(it.record.requested.as_deref())),
    (q::REQUESTED_TEXT, Text, |it| no_number(it.record.requested.as_deref())),
    (q::BEFORE, Number, |it| number(it.record.before.as_deref())),
    (q::BEFORE_TEXT, Text, |it| no_number(it.record.before.as_deref())),
    (q::SET, Number, |it| number(it.record.set.as_deref())),
    (q::SET_TEXT, Text, |it| no_number(it.record.set.as_deref())),
    (q::CONNECTED, Number, |it| number(it.record.connected.as_deref())),
    (q::CONNECTED_TEXT, Text, |it| no_number(it.record.connected.as_deref())),
    (q::EFFECTIVE, Number, |it| number(Some(&it.record.effective))),
    (q::EFFECTIVE_TEXT, Text, |it| no_number(Some(&it.record.effective))),
    (q::EFFECT, Text, |it| it.record.outcome.name().into()),
    (q::REASON, Text, |it| it.record.because.clone().into()),
];

/// The unit of an option's values.
fn unit(record: &OptionRecord) -> Option<&'static str> {
    let OptionRecord { requested, before, set, connected, effective, .. } = record;
    let values = [requested, before, set, connected].into_iter().flatten().chain([effective]);
    values.into_iter().find_map(|text| match typed(text).0 {
        "_ns" => Some("ns"),
        "_bytes" => Some("B"),
        "_bits_per_second" => Some("bit/s"),
        _ => None,
    })
}

/// The value of an option, if it is a number.
fn number(text: Option<&str>) -> Value {
    match text.map(|text| typed(text).1) {
        Some(Value::Whole(number)) => Value::Number(number as f64),
        Some(number @ Value::Number(_)) => number,
        _ => Value::Empty,
    }
}

/// The value of an option, if it is not a number.
fn no_number(text: Option<&str>) -> Value {
    match text.map(|text| typed(text).1) {
        Some(Value::Whole(_) | Value::Number(_)) | None => Value::Empty,
        Some(text) => text,
    }
}

pub(super) const FLOWS: &Cells<FlowRow> = &[
    (q::FLOW, Text, |it| it.name.clone().into()),
    (q::BACKGROUND, Flag, |it| it.background.into()),
    (q::CONNECTIONS, Whole, |it| whole(it.connections.len())),
    (q::START_SECONDS, Number, |it| it.connections.first().map(|it| it.start_s).into()),
    (q::TRANSFERRED_BYTES, Whole, |it| it.bytes().into()),
    (q::TRANSFER_TIME_SECONDS, Number, |it| it.median(metrics::TRANSFER_TIME).into()),
    (q::GOODPUT_MBIT_PER_SECOND, Number, |it| it.median(metrics::GOODPUT).into()),
    (q::RESPONSE_TIME_MS, Number, |it| it.median(metrics::RESPONSE_TIME).into()),
    (q::RETRANSMISSIONS, Number, |it| it.sum(metrics::RETRANSMISSIONS).into()),
    (TIMEOUTS_AND_PROBES, Number, |it| it.sum(metrics::TIMEOUTS).into()),
    (q::LOST_SEGMENTS, Number, |it| it.sum(metrics::LOST).into()),
    (q::MEAN_RTT_MS, Number, |it| it.median(metrics::MEAN_RTT).into()),
];
