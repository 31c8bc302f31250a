//! One trial in virtual time, from its case to its recording.

use std::net::Ipv4Addr;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use tcplab_path::PathError;
use tcplab_recording::{
    AppLog, EndpointRecord, RecordingError, RecordingWriter, TrialRecord, WorldRecord,
};
use tcplab_scenario::{Case, EndpointSpec};
use tcplab_stack::{ConnectionError, congestion};
use tcplab_units::{Bytes, Endpoint, Instant, Span};
use tcplab_workload::{AppReport, Application, Corrupted, Datagrams, Role, SocketRole, verify};

use crate::host::Host;
use crate::machine::Machine;
use crate::packets::Address;
use crate::world::{Recorder, World};
use crate::{SettingsError, datagrams, flows, options, settings};

/// Where the server listens; the client's port is the first that Linux gives out.
pub(crate) const PORTS: [u16; 2] = [32_768, 5_001];
/// The zero of virtual time: 2000-01-01 00:00:00 UTC, nanoseconds since the Unix epoch. It is the
/// same for each trial, so that its bytes are.
const EPOCH_NANOS: u64 = 946_684_800_000_000_000;

/// The addresses of client and server; nobody else is there.
pub const ADDRESSES: [Ipv4Addr; 2] = [Ipv4Addr::new(10, 98, 0, 1), Ipv4Addr::new(10, 98, 0, 2)];

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
}

/// Why a trial could not be run, or did not pass.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "each field is told in the message above it")]
pub enum SimError {
    /// A stack cannot be set as asked.
    #[error("the {endpoint}: {source}")]
    Settings { endpoint: &'static str, source: SettingsError },
    /// The path cannot be built.
    #[error(transparent)]
    Path(#[from] PathError),
    /// The recording could not be written.
    #[error(transparent)]
    Recording(#[from] RecordingError),
    /// The transfer took longer than the scenario allows.
    #[error("not done after {limit}: {received} B have arrived")]
    Overdue { limit: Span, received: u64 },
    /// An endpoint gave the connection up.
    #[error("the {endpoint}'s connection was lost: {error}")]
    Connection { endpoint: &'static str, error: ConnectionError },
    /// There is no model of that congestion control.
    #[error("the {endpoint}: `{name}` is no congestion control of a model; there are {known}")]
    Congestion { endpoint: &'static str, name: String, known: String },
    /// A load has a server of processes and threads.
    #[error("the workload is a load: its server is processes and threads, which no model has")]
    Load,
    /// What arrived is not what was sent.
    #[error("{sent} B were sent, and {received} B arrived, or others")]
    Corrupted { sent: u64, received: u64 },
    /// The caller asked to stop.
    #[error("stopped on request")]
    Stopped,
}

/// Runs one trial to its end; `stop` ends it soon.
///
/// # Errors
/// When it could not be run, was stopped, or did not pass. The directory may then hold a part of a
/// recording, without its `DONE`.
pub fn run_trial(request: &TrialRequest<'_>, stop: &AtomicBool) -> Result<(), SimError> {
    let TrialRequest { case, seed, directory, snaplen } = *request;
    if case.workload.load.is_some() {
        return Err(SimError::Load);
    }
    if case.path.same_host {
        let what = "on the same host there is no path, and a model has no processor time".into();
        return Err(PathError { key: "same_host".into(), what }.into());
    }
    let descriptions = ADDRESSES.map(|address| address.to_string());
    let writer = RecordingWriter::create(directory, EPOCH_NANOS, &descriptions, snaplen)?;
    if !case.flows.is_empty() {
        return flows::run(request, writer, stop);
    }
    if let Some(asked) = &case.workload.datagrams {
        return exchange_datagrams(request, asked, writer, stop);
    }
    let pairs = pairs(case, seed, |side| Application::new(side, &case.workload, seed))?;
    let recorder = Recorder::new(writer, case.sampling.tcp_info);
    let mut world = World::new(pairs, at_once(case), &case.links()?, seed, Some(recorder));
    let limit = Instant::ZERO + case.limits.trial;
    world.run(limit, stop)?;
    let (mut pairs, now, writer) = world.end()?;
    if now >= limit {
        pairs.iter_mut().flatten().for_each(|host| host.run_out(now));
    }
    let [client, server] = &pairs[0];
    if stop.load(std::sync::atomic::Ordering::Relaxed) {
        return Err(SimError::Stopped);
    }
    let app = app_log(&pairs);
    let client = record(&case.client, client, SocketRole::Client);
    let server = record(&case.server, server, SocketRole::Accepted);
    let record = trial_record(request, now, [client, server]);
    if let Some(writer) = writer {
        writer.finish(&app, &record)?;
    }
    let ends = pairs.iter().flatten().zip(Endpoint::BOTH.into_iter().cycle());
    for (host, endpoint) in ends {
        if let Some(error) = host.error().filter(|_| host.has_failed()) {
            return Err(SimError::Connection { endpoint: endpoint.name(), error });
        }
    }
    if now >= limit && !pairs.iter().flatten().all(Host::is_done) {
        let received = main_received(&app).as_u64();
        return Err(SimError::Overdue { limit: case.limits.trial, received });
    }
    check(case, seed, &app)
}

/// A trial without connections.
fn exchange_datagrams(
    request: &TrialRequest<'_>,
    asked: &Datagrams,
    writer: RecordingWriter,
    stop: &AtomicBool,
) -> Result<(), SimError> {
    let TrialRequest { case, seed, .. } = *request;
    let ended = datagrams::run(case, asked, seed, Some(writer), stop)?;
    if stop.load(std::sync::atomic::Ordering::Relaxed) {
        return Err(SimError::Stopped);
    }
    if let Some(writer) = ended.writer {
        writer.finish(&ended.app, &trial_record(request, ended.now, ended.records))?;
    }
    if !ended.is_done {
        let received = ended.app.server.bytes.as_u64();
        return Err(SimError::Overdue { limit: case.limits.trial, received });
    }
    check(case, seed, &ended.app)
}

/// Whether what arrived is what was sent.
fn check(case: &Case, seed: u64, app: &AppLog) -> Result<(), SimError> {
    verify(&case.workload, seed, &app.client, &app.server).map_err(
        |Corrupted { sent, received }| SimError::Corrupted {
            sent: sent.as_u64(),
            received: received.as_u64(),
        },
    )
}

pub(crate) fn trial_record(
    request: &TrialRequest<'_>,
    now: Instant,
    [client, server]: [EndpointRecord; 2],
) -> TrialRecord {
    let TrialRequest { case, seed, .. } = *request;
    TrialRecord {
        tcplab: env!("CARGO_PKG_VERSION").into(),
        case: case.name.clone(),
        case_hash: case.hash.clone(),
        seed,
        path: case.path.clone(),
        epoch_nanos: EPOCH_NANOS,
        duration: now.since(Instant::ZERO),
        client,
        server,
        world: WorldRecord { name: "sim".into(), device: "none".into(), ..WorldRecord::default() },
    }
}

/// What a trial without a recording was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Measured {
    /// Events that the world worked on.
    pub events: u64,
    /// Packets that the endpoints sent.
    pub packets: u64,
    /// How long it took in virtual time.
    pub duration: Span,
    /// Bytes that arrived.
    pub received: u64,
}

/// Runs a trial until its end, or its limit, without writing anything down. What is sent are zeros
/// that neither end looks at.
///
/// # Errors
/// When its stacks or its path cannot be made.
pub fn measure(case: &Case, seed: u64) -> Result<Measured, SimError> {
    if let Some(asked) = &case.workload.datagrams {
        let ended = datagrams::run(case, asked, seed, None, &AtomicBool::new(false))?;
        let datagrams::Ended { events, packets, now, app, .. } = ended;
        let received = app.server.bytes.as_u64();
        return Ok(Measured { events, packets, duration: now.since(Instant::ZERO), received });
    }
    if !case.flows.is_empty() {
        return flows::measure(case, seed);
    }
    let pairs = pairs(case, seed, |side| Application::of_zeros(side, &case.workload))?;
    let mut world = World::new(pairs, at_once(case), &case.links()?, seed, None);
    world.run(Instant::ZERO + case.limits.trial, &AtomicBool::new(false))?;
    let (events, packets) = (world.events, world.packets());
    let (pairs, now, _) = world.end()?;
    let received = main_received(&app_log(&pairs)).as_u64();
    Ok(Measured { events, packets, duration: now.since(Instant::ZERO), received })
}

/// Client and server of each connection, in the order in which they begin.
fn pairs(
    case: &Case,
    seed: u64,
    application: impl Fn(Endpoint) -> Application,
) -> Result<Vec<[Host; 2]>, SimError> {
    let total = case.workload.connections.map_or(1, |it| it.total);
    let machines = machines(case)?;
    (0..total)
        .map(|nth| {
            let client = host(case, [seed, nth], Endpoint::Client, application(Endpoint::Client))?;
            let server = host(case, [seed, nth], Endpoint::Server, application(Endpoint::Server))?;
            Ok([client.on(&machines[0]), server.on(&machines[1])])
        })
        .collect()
}

/// The machines of both ends, which all their connections share.
pub(crate) fn machines(case: &Case) -> Result<[Machine; 2], SimError> {
    let of = |spec: &EndpointSpec, endpoint: Endpoint| {
        let config = settings(spec)
            .map_err(|source| SimError::Settings { endpoint: endpoint.name(), source })?;
        Ok::<Machine, SimError>(Machine::new(&config.host))
    };
    Ok([of(&case.client, Endpoint::Client)?, of(&case.server, Endpoint::Server)?])
}

fn at_once(case: &Case) -> usize {
    case.workload.connections.map_or(1, |it| it.at_once) as usize
}

/// What the applications of all connections did.
fn app_log(pairs: &[[Host; 2]]) -> AppLog {
    let of = |end: usize| {
        let reports = pairs.iter().map(|pair| pair[end].report()).collect();
        AppReport::of_all(reports).expect("there is a connection")
    };
    AppLog::of(of(0), of(1))
}

/// What has arrived of the data that the trial is about.
pub(crate) fn main_received(app: &AppLog) -> Bytes {
    match app.client.role {
        Role::Sender => app.server.bytes,
        Role::Receiver => app.client.bytes,
    }
}

/// A host of the `nth` connection.
fn host(
    case: &Case,
    [seed, nth]: [u64; 2],
    endpoint: Endpoint,
    application: Application,
) -> Result<Host, SimError> {
    let (spec, index) = match endpoint {
        Endpoint::Client => (&case.client, 0),
        Endpoint::Server => (&case.server, 1),
    };
    let later = if endpoint == Endpoint::Client { nth as u16 } else { 0 };
    let address = Address { ip: ADDRESSES[index], port: PORTS[index] + later };
    let absent = case.workload.connect.filter(|_| endpoint == Endpoint::Server);
    let seeds = [seed, seed.wrapping_add(nth)];
    Ok(host_of(spec, seeds, endpoint, address, application)?.absent(absent))
}

/// A host with the settings of `spec`; the first seed is its congestion control's, the second that
/// of its numbers.
pub(crate) fn host_of(
    spec: &EndpointSpec,
    seeds: [u64; 2],
    endpoint: Endpoint,
    address: Address,
    application: Application,
) -> Result<Host, SimError> {
    let name = endpoint.name();
    let config = settings(spec).map_err(|source| SimError::Settings { endpoint: name, source })?;
    let control = &config.window.congestion;
    let setup =
        congestion::Setup { tick: config.host.tick, burst: config.sending.burst, seed: seeds[0] };
    let congestion = congestion::on(control, &setup).ok_or_else(|| SimError::Congestion {
        endpoint: name,
        name: control.clone(),
        known: congestion::NAMES.join(", "),
    })?;
    let accepted = options::of_accepted(&config, &spec.accepted)
        .map_err(|source| SimError::Settings { endpoint: name, source })?;
    let host = Host::new(endpoint, address, config, congestion, application, seeds[1]);
    Ok(host.accepting_with(accepted).with_timeouts(options::timeouts(spec)))
}

pub(crate) fn record(spec: &EndpointSpec, host: &Host, role: SocketRole) -> EndpointRecord {
    let options = host.connection().map_or_else(Vec::new, |connection| {
        options::of_connection(connection, host.config(), spec, role)
    });
    let listens = role == SocketRole::Accepted;
    let listener = listens.then(|| options::of_listener(host.config(), spec));
    EndpointRecord {
        address: host.address().ip.to_string(),
        options,
        listener: listener.unwrap_or_default(),
        sysctls: spec.sysctl.clone(),
        pool: host.machine().record(),
    }
}
