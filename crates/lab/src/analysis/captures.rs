//! The captures of a recording, analysed.

use std::collections::BTreeSet;

use tcplab_capture::UnixTime;
use tcplab_path::PathSpec;
use tcplab_recording::{AppLog, Recording, TrialRecord};
use tcplab_results::{Correspondence, Trial, TrialData};
use tcplab_trace::{Connection, ConnectionNumbers, Frame, PacketBytes, Trace};
use tcplab_units::{Bytes, Endpoint, Instant};
use tcplab_wire::LinkType;
use tcplab_workload::{TIMED_OUT, VANISH};

use super::contents::Contents;
use super::datagrams;
use super::interruptions::interruption_times;
use crate::error::LabError;
use crate::store::RunDirectory;

/// At most so many frames of a capture are read: enough for the first of however many connections
/// begin beside it.
const FRAMES: u64 = 5_000;

/// The packets and samples of one trial, for looking at.
///
/// # Errors
/// When the recording cannot be read.
pub fn load_trial(run: &RunDirectory, trial: &Trial) -> Result<TrialData, LabError> {
    let recording = Recording::open(&run.path().join(&trial.directory))?;
    let path = run.case_of(trial).map(|case| &case.path);
    load(&recording, path, trial.load.is_some())
}

/// The packets in these frames of what was captured at one end of a trial, with their fields.
///
/// # Errors
/// When the capture cannot be read.
pub fn load_frames(
    run: &RunDirectory,
    trial: &Trial,
    end: Endpoint,
    frames: &BTreeSet<u64>,
    connections: &[ConnectionNumbers],
) -> Result<Vec<PacketBytes>, LabError> {
    let recording = Recording::open(&run.path().join(&trial.directory))?;
    let zero = recording.record()?.epoch_nanos;
    let (path, file) = recording.capture(end)?;
    let unreadable = |source| LabError::Capture { path: path.clone(), source };
    let mut reader = tcplab_capture::Reader::new(file).map_err(unreadable)?;
    let mut packets = Vec::new();
    for number in 1..=frames.last().copied().unwrap_or(0) {
        // What of a capture cannot be read, its analysis has noted.
        let Ok(Some(record)) = reader.next_record() else { break };
        if frames.contains(&number) {
            let time_ns = record.time.map_or(zero, UnixTime::as_nanos);
            let (captured, original_len) = (record.captured.to_vec(), record.original_len);
            let interface = record.interface as usize;
            let link = reader.interfaces().get(interface).map_or(u16::MAX, |it| it.link_type);
            let link = LinkType::from_number(link);
            let frame = Frame { original_len, ..Frame::whole(time_ns, link, &captured) };
            let at = Instant::from_nanos(time_ns.saturating_sub(zero));
            packets.push(PacketBytes::new((number, at), &frame, connections));
        }
    }
    Ok(packets)
}

/// The packets and samples of a recording, wherever it lies; without interruptions.
///
/// # Errors
/// When it cannot be read.
pub fn load_recording(recording: &Recording) -> Result<TrialData, LabError> {
    load(recording, None, false)
}

fn load(
    recording: &Recording,
    path: Option<&PathSpec>,
    is_load: bool,
) -> Result<TrialData, LabError> {
    let record = recording.record()?;
    let path = path.map(|path| path.with_events(&record.path_events));
    let app = recording.app().ok();
    let [mut client, mut server] = traces(recording, &record, app.as_ref(), is_load)?;
    for (trace, dropped) in [&mut client, &mut server].into_iter().zip(recording.dropped_frames()?)
    {
        trace.connections.iter_mut().for_each(|connection| connection.mark_dropped(&dropped));
    }
    Ok(TrialData {
        client,
        server,
        samples: recording.samples()?,
        timed_out: app.as_ref().filter(|_| !is_load).map(timed_out).unwrap_or_default(),
        vanished: app.as_ref().map(vanished).unwrap_or_default(),
        interruptions: path
            .as_ref()
            .map(|path| interruption_times(path, record.seed, record.duration))
            .unwrap_or_default(),
        path: path.unwrap_or_else(|| record.steered_path()),
        queues: recording.queues()?,
        correspondence: correspondence(recording, &record, app.as_ref())?,
        duration: record.duration,
    })
}

/// By when a call of client and server on the first connection had timed out.
fn timed_out(app: &AppLog) -> [Option<Instant>; 2] {
    [&app.client, &app.server].map(|report| {
        let calls = report.log.iter().filter(|row| row.connection == 0);
        calls.filter(|row| row.result == TIMED_OUT).map(|row| row.ended).min()
    })
}

/// When each end vanished on the first connection.
fn vanished(app: &AppLog) -> [Option<Instant>; 2] {
    [&app.client, &app.server].map(|report| {
        let calls = report.log.iter().filter(|row| row.connection == 0);
        calls.filter(|row| row.call == VANISH).map(|row| row.began).min()
    })
}

/// What the ends said in datagrams, if they did.
pub(super) fn correspondence(
    recording: &Recording,
    record: &TrialRecord,
    app: Option<&AppLog>,
) -> Result<Option<Correspondence>, LabError> {
    let report = app.and_then(|app| app.client.datagrams.as_ref());
    report.map(|report| datagrams::read(recording, record, report)).transpose()
}

/// The captures at both ends, analysed; the connection that the trial is about is the first. Of a
/// load, there is only the first connection that carried data.
pub(super) fn traces(
    recording: &Recording,
    record: &TrialRecord,
    app: Option<&AppLog>,
    is_load: bool,
) -> Result<[Trace; 2], LabError> {
    let most = if is_load { FRAMES } else { u64::MAX };
    let mut client = trace_of(recording, record, Endpoint::Client, most)?;
    let mut server = trace_of(recording, record, Endpoint::Server, most)?;
    if is_load {
        keep_the_first(&mut client, &mut server);
    }
    if let Some(app) = app {
        subject_first(&mut client, app);
        subject_first(&mut server, app);
    }
    Ok([client, server])
}

/// The capture at one end, analysed; times count from the trial's zero.
pub(crate) fn trace(contents: &Contents, endpoint: Endpoint) -> Result<Trace, LabError> {
    trace_of(&contents.recording, &contents.record, endpoint, u64::MAX)
}

/// The first `most` frames of the capture at one end, analysed; times count from the trial's zero.
fn trace_of(
    recording: &Recording,
    record: &TrialRecord,
    endpoint: Endpoint,
    most: u64,
) -> Result<Trace, LabError> {
    let (path, file) = recording.capture(endpoint)?;
    let unreadable = |source| LabError::Capture { path: path.clone(), source };
    let reader = tcplab_capture::Reader::new(file).map_err(unreadable)?;
    let mut analyzer = tcplab_trace::Analyzer::new()
        .with_exact_times()
        .with_epoch(record.epoch_nanos)
        .with_checksums(record.damages_packets());
    analyzer.read_at_most(reader, most);
    Ok(analyzer.finish())
}

/// Leaves of what was captured at both ends only the first connection that carried data.
fn keep_the_first(client: &mut Trace, server: &mut Trace) {
    let has_data = |connection: &&Connection| {
        connection.forward.totals.unique + connection.reverse.totals.unique > Bytes::ZERO
    };
    let first = client.connections.iter().find(has_data);
    let ends = first.map(|connection| (connection.client, connection.server));
    for trace in [client, server] {
        trace.connections.retain(|connection| Some((connection.client, connection.server)) == ends);
        trace.connections.truncate(1);
    }
}

/// Puts the connection first that the trial is about, where there are several flows.
fn subject_first(trace: &mut Trace, app: &AppLog) {
    let subject = app.flows.iter().find(|flow| !flow.background);
    let Some(first) = subject.and_then(|flow| flow.connections.first()) else { return };
    if let Some(at) = trace.connections.iter().position(|it| ports(it) == first.ports) {
        trace.connections[..=at].rotate_right(1);
    }
}

pub(super) fn ports(connection: &Connection) -> [u16; 2] {
    [connection.client.port(), connection.server.port()]
}
