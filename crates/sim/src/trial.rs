//! One trial in virtual time, from its case to its recording.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use tcplab_path::PathError;
use tcplab_recording::{
    AppLog, EndpointRecord, RecordingError, RecordingWriter, TrialRecord, WorldRecord,
};
use tcplab_scenario::{Case, PlannedConnection};
use tcplab_units::{Endpoint, Instant, Span};
use tcplab_workload::{Application, Datagrams, verify};

use crate::connections::{Connections, main_received};
use crate::datagrams;
use crate::error::SimError;
use crate::host::Host;
use crate::packets::ADDRESSES;
use crate::world::{Recorder, World};

/// The zero of virtual time: 2000-01-01 00:00:00 UTC, nanoseconds since the Unix epoch. It is the
/// same for each trial, so that its bytes are.
pub(crate) const EPOCH_NANOS: u64 = 946_684_800_000_000_000;

/// One trial to run.
#[derive(Debug, Clone, Copy)]
pub struct TrialRequest<'a> {
    /// The cell of the matrix.
    pub case: &'a Case,
    /// The trial's own seed.
    pub seed: u64,
    /// An existing, empty directory for the recording.
    pub directory: &'a Path,
    /// How many bytes of each packet the captures keep; all where no number is given.
    pub snaplen: Option<u32>,
    /// Whether captures, samples and the path's log stay; else they are removed as soon as they
    /// were read, and nobody waits until the disk has them.
    pub keeps_packets: bool,
}

impl TrialRequest<'_> {
    /// Begins its recording.
    pub(crate) fn writer(&self, ends: &[String; 2]) -> Result<RecordingWriter, RecordingError> {
        let writer = RecordingWriter::create(self.directory, EPOCH_NANOS, ends, self.snaplen)?;
        Ok(if self.keeps_packets { writer } else { writer.passing() })
    }
}

/// Runs one trial to its end; `stop` ends it soon.
///
/// # Errors
/// When it could not be run, was stopped, or did not pass. The directory may then hold a part of a
/// recording, without its `DONE`.
pub fn run_trial(request: &TrialRequest<'_>, stop: &AtomicBool) -> Result<(), SimError> {
    let case = request.case;
    refuse_foreign(case)?;
    let descriptions = ADDRESSES.map(|address| address.to_string());
    let writer = request.writer(&descriptions)?;
    match &case.workload.datagrams {
        Some(asked) => exchange_datagrams(request, asked, writer, stop),
        None => connect(request, writer, stop),
    }
}

/// Refuses a case that no model can take part in.
pub(crate) fn refuse_foreign(case: &Case) -> Result<(), SimError> {
    if case.workload.load.is_some() {
        return Err(SimError::Load);
    }
    if case.path.same_host {
        let what = "on the same host there is no path, and a model has no processor time".into();
        return Err(PathError { key: "same_host".into(), what }.into());
    }
    Ok(())
}

/// A trial of TCP connections.
fn connect(
    request: &TrialRequest<'_>,
    writer: RecordingWriter,
    stop: &AtomicBool,
) -> Result<(), SimError> {
    let TrialRequest { case, seed, .. } = *request;
    let connections = Connections::of(case, seed);
    let mut pairs = connections.pairs(|end, planned| {
        Application::new(end, &planned.workload, planned.payload_seed).stopping(planned.stops)
    })?;
    for (planned, (_, [client, server])) in connections.planned().iter().zip(&mut pairs) {
        let ends = [&mut client.application, &mut server.application];
        Application::share_payload(&planned.workload, ends);
    }
    let recorder = Recorder::new(writer, case.sampling.interval());
    let sampled = connections.sampled();
    let mut world = World::new(pairs, sampled, &case.links()?, seed, Some(recorder));
    let limit = Instant::ZERO + case.limits.trial;
    world.run(limit, &mut || stop.load(Ordering::Relaxed))?;
    let (mut pairs, now, writer) = world.end()?;
    // The trial is over for those in the background, and at its limit for all.
    let is_late = now >= limit;
    for host in pairs.iter_mut().flatten().filter(|host| is_late || host.is_background) {
        host.run_out(now);
    }
    if stop.load(Ordering::Relaxed) {
        return Err(SimError::Stopped);
    }
    let flows = connections.logs(&pairs);
    let verified = connections.verify(&flows);
    let app = AppLog::of_flows(flows);
    if let (Some(writer), Some(app), Some(ends)) = (writer, &app, connections.records(&pairs)) {
        writer.finish(app, &trial_record(request, now, ends, of_models()))?;
    }
    for (host, endpoint) in pairs.iter().flatten().zip(Endpoint::BOTH.into_iter().cycle()) {
        if let Some(error) = host.error().filter(|_| host.has_failed()) {
            return Err(SimError::Connection { endpoint: endpoint.name(), error });
        }
    }
    let mut awaited = pairs.iter().flatten().filter(|host| !host.is_background);
    if is_late && (connections.awaits_more(now) || !awaited.all(Host::is_done)) {
        let received =
            app.as_ref().map_or(0, |app| main_received([&app.client, &app.server]).as_u64());
        let (limit, wanted) = (case.limits.trial, case.workload.amount());
        return Err(SimError::Overdue { limit, received, wanted });
    }
    Ok(case.accept(verified)?)
}

/// A trial of datagrams.
fn exchange_datagrams(
    request: &TrialRequest<'_>,
    asked: &Datagrams,
    writer: RecordingWriter,
    stop: &AtomicBool,
) -> Result<(), SimError> {
    let TrialRequest { case, seed, .. } = *request;
    let ended = {
        let is_stopped = &mut || stop.load(Ordering::Relaxed);
        datagrams::run(case, asked, seed, Some(writer), is_stopped)?
    };
    if stop.load(Ordering::Relaxed) {
        return Err(SimError::Stopped);
    }
    if let Some(writer) = ended.writer {
        writer.finish(&ended.app, &trial_record(request, ended.now, ended.records, of_models()))?;
    }
    if !ended.is_done {
        let received = ended.app.server.bytes.as_u64();
        let (limit, wanted) = (case.limits.trial, case.workload.amount());
        return Err(SimError::Overdue { limit, received, wanted });
    }
    let verified = verify(&case.workload, seed, &ended.app.client, &ended.app.server);
    Ok(case.accept(verified)?)
}

/// What a trial was, and how it was moved.
pub(crate) fn trial_record(
    request: &TrialRequest<'_>,
    now: Instant,
    [client, server]: [EndpointRecord; 2],
    world: WorldRecord,
) -> TrialRecord {
    let TrialRequest { case, seed, .. } = *request;
    TrialRecord {
        tcplab: env!("CARGO_PKG_VERSION").into(),
        case: case.name.clone(),
        case_hash: case.hash.clone(),
        seed,
        path: case.path.clone(),
        path_events: Vec::new(),
        second_path: case.second_path.clone(),
        epoch_nanos: EPOCH_NANOS,
        duration: now.since(Instant::ZERO),
        client,
        server,
        world,
    }
}

/// A world of models alone.
fn of_models() -> WorldRecord {
    WorldRecord { name: "sim".into(), device: "none".into(), ..WorldRecord::default() }
}

/// The sums of a trial without a recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Measured {
    /// Events that the world worked on.
    pub events: u64,
    /// Packets that the endpoints sent.
    pub packets: u64,
    /// How long it took in virtual time.
    pub duration: Span,
    /// Bytes that arrived, of all connections.
    pub payload: u64,
    /// Those of the connections that the trial waits for until they have sent all that they are to,
    pub received: u64,
    /// and how many they are to send.
    pub wanted: u64,
    /// The trial takes at least this long: its last connection begins then, or ends.
    pub least: Span,
}

/// Runs a trial until its end, until then, or until it `is_stopped`, which it asks now and then,
/// without a recording. The payload is zeros that neither end checks.
///
/// # Errors
/// When its stacks or its path cannot be made.
pub fn measure(
    case: &Case,
    seed: u64,
    until: Span,
    is_stopped: &mut dyn FnMut() -> bool,
) -> Result<Measured, SimError> {
    if let Some(asked) = &case.workload.datagrams {
        let mut part = case.clone();
        part.limits.trial = until;
        let ended = datagrams::run(&part, asked, seed, None, is_stopped)?;
        let datagrams::Ended { events, packets, now, app, .. } = ended;
        let (received, wanted) = (app.server.bytes.as_u64(), case.workload.amount().as_u64());
        let (duration, least) = (now.since(Instant::ZERO), Span::ZERO);
        return Ok(Measured {
            events,
            packets,
            duration,
            payload: received,
            received,
            wanted,
            least,
        });
    }
    let connections = Connections::of(case, seed);
    let pairs = connections.pairs(|end, planned| {
        Application::of_zeros(end, &planned.workload).stopping(planned.stops)
    })?;
    let mut world = World::new(pairs, Vec::new(), &case.links()?, seed, None);
    world.run(Instant::ZERO + until, is_stopped)?;
    let (events, packets) = (world.events, world.packets());
    let (pairs, now, _) = world.end()?;
    let awaited = || connections.planned().iter().filter(|it| !connections.is_background(it));
    let is_counted = |it: &PlannedConnection| it.stops.is_none() && !connections.is_background(it);
    let (mut payload, mut received) = (0, 0);
    for (planned, bytes) in connections.received(&pairs) {
        payload += bytes.as_u64();
        received += if is_counted(planned) { bytes.as_u64() } else { 0 };
    }
    let amounts = awaited().filter(|it| is_counted(it)).map(|it| it.workload.amount().as_u64());
    let ends = awaited().filter_map(|it| it.stops.or(it.start));
    Ok(Measured {
        events,
        packets,
        duration: now.since(Instant::ZERO),
        payload,
        received,
        wanted: amounts.fold(0, u64::saturating_add),
        least: ends.max().map_or(Span::ZERO, |end| end.since(Instant::ZERO)),
    })
}
