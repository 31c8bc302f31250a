//! What each end of a trial did: what its application says, and the capture beside it.

use tcplab_recording::{AppLog, EndpointRecord, TrialRecord};
use tcplab_results::{EndRow, Ending, Metric};
use tcplab_scenario::{MetricInfo, metrics};
use tcplab_trace::{CloseKind, Connection, ConnectionState, Flow, Segment, SegmentKind, Trace};
use tcplab_units::{Bytes, Endpoint, Instant, Span};
use tcplab_workload::{AppReport, Role};

use super::options::buffers;

/// Both ends, the client first; each with the capture that was taken beside it.
pub(crate) fn ends(app: &AppLog, record: &TrialRecord, traces: [&Trace; 2]) -> Vec<EndRow> {
    let ends = [
        (Endpoint::Client, &app.client, &record.client),
        (Endpoint::Server, &app.server, &record.server),
    ];
    let rows = ends.into_iter().zip(traces);
    rows.map(|((end, report, record), trace)| of_end(end, report, record, trace)).collect()
}

fn of_end(end: Endpoint, report: &AppReport, record: &EndpointRecord, trace: &Trace) -> EndRow {
    let back = report.back.as_ref().map_or(report.stray, |back| back.bytes);
    let (written, read) = match report.role {
        Role::Sender => (report.bytes, back),
        Role::Receiver => (back, report.bytes),
    };
    let mut values = vec![bytes(metrics::APP_READ, read), bytes(metrics::APP_WRITTEN, written)];
    values.extend(buffers(&record.options).map(|(info, size)| Metric::of(info, size)));
    values.extend(report.processor.map(|time| Metric::of(metrics::CPU_TIME, time.as_millis_f64())));
    values.extend(record.pool.iter().flat_map(|pool| {
        [
            Metric::of(metrics::POOL_FREE, f64::from(pool.least_free)),
            Metric::of(metrics::POOL_DROPPED, pool.dropped as f64),
            Metric::of(metrics::POOL_UNSENT, pool.unsent as f64),
        ]
    }));
    if let Some(connection) = trace.connections.first() {
        values.extend(on_the_wire(end, connection));
    }
    let datagrams = report.datagrams.as_ref();
    if let Some(counts) = datagrams {
        values.push(Metric::of(metrics::DATAGRAMS_SENT, counts.sent as f64));
        values.push(Metric::of(metrics::DATAGRAMS_RECEIVED, counts.received as f64));
        values.push(Metric::of(metrics::DATAGRAMS_DUPLICATES, counts.duplicates as f64));
    }
    let requests = datagrams.map_or(&[][..], |counts| &counts.requests);
    let answered = |it: &tcplab_workload::Exchange| Some(it.answered?.since(it.asked));
    EndRow {
        end,
        calls: report.log.clone(),
        response_times_ms: report
            .exchanges
            .iter()
            .filter_map(answered)
            .map(Span::as_millis_f64)
            .collect(),
        states: trace.connections.first().map_or_else(Vec::new, |it| states(end, it)),
        request_tries: requests.iter().map(|request| request.tries.len()).collect(),
        metrics: values,
    }
}

/// The states that an end went through, by their names in RFC 9293.
fn states(end: Endpoint, connection: &Connection) -> Vec<String> {
    let steps = match end {
        Endpoint::Client => &connection.life.client,
        Endpoint::Server => &connection.life.server,
    };
    steps.iter().map(|step| step.state.name().to_owned()).collect()
}

/// What the capture beside an end shows of it.
fn on_the_wire(end: Endpoint, connection: &Connection) -> Vec<Metric> {
    let Connection { forward, reverse, handshake, .. } = connection;
    // What it sent, and what it acknowledged and offered windows for.
    let (sent, taken, syn) = match end {
        Endpoint::Client => (forward, reverse, &handshake.client),
        Endpoint::Server => (reverse, forward, &handshake.server),
    };
    let count = |info, count: u64| Metric::of(info, count as f64);
    let mut values = vec![
        count(metrics::SEGMENTS, sent.totals.data_segments),
        count(metrics::SEGMENTS_NEW, new_segments(sent)),
        count(metrics::SEGMENTS_URGENT, sent.marks.urgent.count),
        count(metrics::NAGLE_WAITS, sent.marks.nagle_waits.count),
        count(metrics::KEEPALIVE_PROBES, sent.marks.keep_alives.count),
        count(metrics::WINDOW_ZERO, taken.windows.zero_windows.count),
        Metric::of(metrics::WINDOW_ZERO_TIME, taken.windows.zero_window_time.as_secs_f64()),
    ];
    values.extend(taken.windows.max.map(|window| bytes(metrics::WINDOW_MAX, window)));
    values.extend(taken.windows.min.map(|window| bytes(metrics::WINDOW_MIN, window)));
    if syn.seen {
        values.push(count(metrics::SYN_WINDOW, syn.window.into()));
        values.extend(syn.window_scale.map(|scale| count(metrics::SYN_SCALE, scale.into())));
        values.extend(syn.mss.map(|mss| count(metrics::SYN_MSS, mss.into())));
    }
    let probes: Vec<(Instant, Span)> = sent
        .marks
        .keep_alives
        .frames
        .iter()
        .filter_map(|frame| silence_before(connection, *frame))
        .collect();
    if let Some((_, silence)) = probes.first() {
        values.push(Metric::of(metrics::KEEPALIVE_IDLE, silence.as_secs_f64()));
    }
    let spacings = probes.windows(2).map(|pair| pair[1].0.since(pair[0].0));
    values.extend(spacings.map(|span| Metric::of(metrics::KEEPALIVE_SPACING, span.as_secs_f64())));
    values
}

/// Segments with data that had not been sent before.
fn new_segments(sent: &Flow) -> u64 {
    let is_new =
        |segment: &&Segment| segment.kind == SegmentKind::New && segment.payload > Bytes::ZERO;
    sent.segments.iter().filter(is_new).count() as u64
}

/// When a frame passed, and how long nothing had before it.
fn silence_before(connection: &Connection, frame: u64) -> Option<(Instant, Span)> {
    // Every packet is an acknowledgement of one direction or the other, a SYN, or a bare reset.
    let packets = [&connection.forward, &connection.reverse].into_iter().flat_map(|flow| {
        let acks = flow.acks.iter().map(|ack| (ack.frame, ack.at));
        let resets = flow.resets.iter().map(|reset| (reset.frame, reset.at));
        let segments = flow.segments.iter().map(|segment| (segment.frame, segment.at));
        acks.chain(segments).chain(resets)
    });
    let (mut at, mut before) = (None, None);
    for (passed, time) in packets {
        if passed == frame {
            at = Some(time);
        } else if passed < frame {
            before = before.max(Some(time));
        }
    }
    Some((at?, at?.since(before?)))
}

fn bytes(info: &MetricInfo, amount: Bytes) -> Metric {
    Metric::of(info, amount.as_u64() as f64)
}

/// How a connection ended, as a capture has it.
pub(crate) fn ending(trace: &Trace) -> Option<Ending> {
    let life = &trace.connections.first()?.life;
    let reset_by = |end| match end {
        Endpoint::Client => "reset by the client",
        Endpoint::Server => "reset by the server",
    };
    let Some(close) = life.close else {
        let how = match life.state {
            ConnectionState::S0 => "unanswered",
            ConnectionState::Rej => "refused",
            _ => "open",
        };
        return Some(Ending { how: how.into(), by: None });
    };
    let how = match (close.kind, life.state) {
        (_, ConnectionState::Rej) => "refused",
        (CloseKind::Graceful | CloseKind::Simultaneous, _) => "closed",
        (CloseKind::HalfClosed, _) => "half closed",
        (CloseKind::Reset | CloseKind::ResetAfterFin, _) => {
            reset_by(close.reset_by.unwrap_or(close.by))
        }
    };
    Some(Ending { how: how.into(), by: Some(close.by) })
}
