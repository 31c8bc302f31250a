//! The rows that a trial has in the other tables.

use tcplab_quantities as q;
use tcplab_recording::OptionRecord;
use tcplab_results::{EndRow, EpisodeRow, FlowRow, InterruptionRow, OptionRow, Trial};
use tcplab_scenario::metrics;
use tcplab_table::{Kind, Value};
use tcplab_units::Instant;
use tcplab_workload::CallRow;

use super::typed::typed;

/// A row.
type Row = Vec<Value>;

/// Case and trial, the first cells of each row.
fn of_trial(case: &str, trial: &Trial) -> Row {
    vec![Value::from(case.to_owned()), Value::from(u64::from(trial.number))]
}

fn whole(number: usize) -> Value {
    Value::from(number as u64)
}

/// A row with these cells after the first ones.
fn row<const N: usize>(first: &Row, cells: [Value; N]) -> Row {
    first.iter().cloned().chain(cells).collect()
}

pub(super) const METRICS: &[(q::Quantity, Kind)] = &[
    (q::CASE, Kind::Text),
    (q::TRIAL, Kind::Whole),
    (q::SEED, Kind::Wide),
    (q::METRIC, Kind::Text),
    (q::UNIT, Kind::Text),
    (q::VALUE, Kind::Number),
    (q::WARNINGS, Kind::Text),
];

/// A row for each metric of the trial.
pub(super) fn metrics(case: &str, trial: &Trial) -> Vec<Row> {
    let mut first = of_trial(case, trial);
    first.push(Value::Wide(trial.seed));
    let warnings = Value::from(Some(trial.flaws.join("; ")).filter(|it| !it.is_empty()));
    let of = |metric: tcplab_results::MetricValue<'_>| {
        let unit = Some(metric.unit.to_owned()).filter(|unit| !unit.is_empty());
        let name = Value::from(metric.name.to_owned());
        row(&first, [name, unit.into(), metric.value.into(), warnings.clone()])
    };
    trial.metrics.iter().map(of).collect()
}

pub(super) const EPISODES: &[(q::Quantity, Kind)] = &[
    (q::CASE, Kind::Text),
    (q::TRIAL, Kind::Whole),
    (q::EPISODE, Kind::Whole),
    (q::KIND, Kind::Text),
    (q::EVIDENCE, Kind::Text),
    (q::INTERRUPTION, Kind::Whole),
    (q::START_SECONDS, Kind::Number),
    (q::DURATION_SECONDS, Kind::Number),
    (q::SILENCE_SECONDS, Kind::Number),
    (q::LOST_SEGMENTS, Kind::Whole),
    (q::LOST_SEGMENTS_OF_PATH, Kind::Whole),
    (q::RETRANSMISSIONS, Kind::Whole),
    (q::RETRANSMITTED_BYTES, Kind::Whole),
    (q::TIMEOUTS, Kind::Whole),
    (q::REPAIRED, Kind::Flag),
];

/// A row for each recovery episode.
pub(super) fn episodes(case: &str, trial: &Trial) -> Vec<Row> {
    let first = of_trial(case, trial);
    let of = |episode: &EpisodeRow| {
        row(
            &first,
            [
                whole(episode.number),
                episode.kind.clone().into(),
                episode.evidence.clone().into(),
                episode.interruption.into(),
                episode.start_s.into(),
                episode.duration_s.into(),
                episode.silence_s.into(),
                whole(episode.lost_segments),
                episode.truth_lost.map(|lost| lost as u64).into(),
                episode.retransmissions.into(),
                episode.retransmitted_bytes.into(),
                episode.timeouts.into(),
                episode.repaired.into(),
            ],
        )
    };
    trial.episodes.iter().map(of).collect()
}

pub(super) const INTERRUPTIONS: &[(q::Quantity, Kind)] = &[
    (q::CASE, Kind::Text),
    (q::TRIAL, Kind::Whole),
    (q::INTERRUPTION, Kind::Whole),
    (q::START_SECONDS, Kind::Number),
    (q::DURATION_SECONDS, Kind::Number),
    (q::RECOVERY_SECONDS, Kind::Number),
    (q::LOST_GOODPUT_BYTES, Kind::Number),
];

/// A row for each interruption of the path.
pub(super) fn interruptions(case: &str, trial: &Trial) -> Vec<Row> {
    let first = of_trial(case, trial);
    let of = |it: &InterruptionRow| {
        let InterruptionRow { number, start_s, lasting_s, recovery_s, lost_bytes } = *it;
        let times = [start_s.into(), lasting_s.into(), recovery_s.into(), lost_bytes.into()];
        let [start, lasting, recovery, lost] = times;
        row(&first, [number.into(), start, lasting, recovery, lost])
    };
    trial.interruptions.iter().map(of).collect()
}

pub(super) const ENDS: &[(q::Quantity, Kind)] = &[
    (q::CASE, Kind::Text),
    (q::TRIAL, Kind::Whole),
    (q::ENDPOINT, Kind::Text),
    (q::METRIC, Kind::Text),
    (q::UNIT, Kind::Text),
    (q::VALUE, Kind::Number),
];

/// A row for each metric of an end, and each of its values.
pub(super) fn ends(case: &str, trial: &Trial) -> Vec<Row> {
    let first = of_trial(case, trial);
    let mut rows = Vec::new();
    for end in &trial.ends {
        let mut add = |name: &str, unit: &str, value: f64| {
            let unit = Some(unit.to_owned()).filter(|unit| !unit.is_empty());
            let end = Value::from(end.end.name());
            rows.push(row(&first, [end, name.to_owned().into(), unit.into(), value.into()]));
        };
        for metric in &end.metrics {
            add(&metric.name, &metric.unit, metric.value);
        }
        for time in &end.response_times_ms {
            add("response.time", "ms", *time);
        }
        for tries in &end.request_tries {
            add("request.tries", "", *tries as f64);
        }
    }
    rows
}

pub(super) const CALLS: &[(q::Quantity, Kind)] = &[
    (q::CASE, Kind::Text),
    (q::TRIAL, Kind::Whole),
    (q::ENDPOINT, Kind::Text),
    (q::CALL_CONNECTION, Kind::Whole),
    (q::CALL, Kind::Text),
    (q::ASKED_BYTES, Kind::Whole),
    (q::ASKED, Kind::Text),
    (q::RESULT, Kind::Text),
    (q::COUNT, Kind::Whole),
    (q::TRANSFERRED_BYTES, Kind::Whole),
    (q::START_SECONDS, Kind::Number),
    (q::ENDED_SECONDS, Kind::Number),
    (q::TOOK_SECONDS, Kind::Number),
    (q::LONGEST_SECONDS, Kind::Number),
    (q::SCATTERED, Kind::Flag),
    (q::ABOUT, Kind::Text),
];

/// A row for each call of an application, equal ones in a row together.
pub(super) fn calls(case: &str, trial: &Trial) -> Vec<Row> {
    let first = of_trial(case, trial);
    let seconds = |at: Instant| Value::from(at.as_secs_f64());
    let words = |text: &str| Value::from(Some(text.to_owned()).filter(|it| !it.is_empty()));
    let of = |(end, call): (&EndRow, &CallRow)| {
        let (bytes, asked) = match typed(&call.asked) {
            ("_bytes", bytes) => (bytes, Value::Empty),
            _ => (Value::Empty, words(&call.asked)),
        };
        row(
            &first,
            [
                end.end.name().into(),
                (call.connection + 1).into(),
                call.call.clone().into(),
                bytes,
                asked,
                call.result.clone().into(),
                call.count.into(),
                call.bytes.as_u64().into(),
                seconds(call.began),
                seconds(call.ended),
                call.took.as_secs_f64().into(),
                call.longest.as_secs_f64().into(),
                call.scattered.into(),
                words(&call.about),
            ],
        )
    };
    let calls = trial.ends.iter().flat_map(|end| end.calls.iter().map(move |call| (end, call)));
    calls.map(of).collect()
}

pub(super) const OPTIONS: &[(q::Quantity, Kind)] = &[
    (q::CASE, Kind::Text),
    (q::TRIAL, Kind::Whole),
    (q::SOCKET, Kind::Text),
    (q::KEY, Kind::Text),
    (q::OPTION, Kind::Text),
    (q::UNIT, Kind::Text),
    (q::REQUESTED, Kind::Number),
    (q::REQUESTED_TEXT, Kind::Text),
    (q::BEFORE, Kind::Number),
    (q::BEFORE_TEXT, Kind::Text),
    (q::SET, Kind::Number),
    (q::SET_TEXT, Kind::Text),
    (q::CONNECTED, Kind::Number),
    (q::CONNECTED_TEXT, Kind::Text),
    (q::EFFECTIVE, Kind::Number),
    (q::EFFECTIVE_TEXT, Kind::Text),
    (q::EFFECT, Kind::Text),
    (q::REASON, Kind::Text),
];

/// A row for each socket option that was asked for or changed.
pub(super) fn options(case: &str, trial: &Trial) -> Vec<Row> {
    let first = of_trial(case, trial);
    let of = |OptionRow { socket, record }: &OptionRow| {
        let OptionRecord { requested, before, set, connected, effective, .. } = record;
        let effective = Some(effective.clone());
        let values = [requested, before, set, connected, &effective];
        let unit = values.into_iter().flatten().find_map(|text| match typed(text).0 {
            "_ns" => Some("ns"),
            "_bytes" => Some("B"),
            "_bits_per_second" => Some("bit/s"),
            _ => None,
        });
        let mut cells = row(
            &first,
            [
                socket.clone().into(),
                record.name.clone().into(),
                record.option.clone().into(),
                unit.into(),
            ],
        );
        for value in values {
            cells.extend(match value.as_deref().map(|text| typed(text).1) {
                Some(Value::Whole(number)) => [Value::Number(number as f64), Value::Empty],
                Some(Value::Number(number)) => [Value::Number(number), Value::Empty],
                Some(text) => [Value::Empty, text],
                None => [Value::Empty, Value::Empty],
            });
        }
        cells.extend([record.outcome.name().into(), record.because.clone().into()]);
        cells
    };
    trial.options.iter().map(of).collect()
}

pub(super) const FLOWS: &[(q::Quantity, Kind)] = &[
    (q::CASE, Kind::Text),
    (q::TRIAL, Kind::Whole),
    (q::FLOW, Kind::Text),
    (q::BACKGROUND, Kind::Flag),
    (q::CONNECTIONS, Kind::Whole),
    (q::START_SECONDS, Kind::Number),
    (q::TRANSFERRED_BYTES, Kind::Whole),
    (q::TRANSFER_TIME_SECONDS, Kind::Number),
    (q::GOODPUT_MBIT_PER_SECOND, Kind::Number),
    (q::RESPONSE_TIME_MS, Kind::Number),
    (q::RETRANSMISSIONS, Kind::Number),
    (q::TIMEOUTS, Kind::Number),
    (q::LOST_SEGMENTS, Kind::Number),
    (q::MEAN_RTT_MS, Kind::Number),
];

/// A row for each flow.
pub(super) fn flows(case: &str, trial: &Trial) -> Vec<Row> {
    let first = of_trial(case, trial);
    let of = |flow: &FlowRow| {
        row(
            &first,
            [
                flow.name.clone().into(),
                flow.background.into(),
                whole(flow.connections.len()),
                flow.connections.first().map(|it| it.start_s).into(),
                flow.bytes().into(),
                flow.median(metrics::TRANSFER_TIME).into(),
                flow.median(metrics::GOODPUT).into(),
                flow.median(metrics::RESPONSE_TIME).into(),
                flow.sum(metrics::RETRANSMISSIONS).into(),
                flow.sum(metrics::TIMEOUTS).into(),
                flow.sum(metrics::LOST).into(),
                flow.median(metrics::MEAN_RTT).into(),
            ],
        )
    };
    trial.flows.iter().map(of).collect()
}
