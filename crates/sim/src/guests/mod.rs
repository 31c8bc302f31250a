//! Trials whose hosts are not models but real kernels that run in virtual time.

mod awaited;
mod world;

use std::path::Path;

use tcplab_path::PathError;
use tcplab_recording::{
    AppLog, EndpointRecord, GuestOrder, GuestOutcome, GuestReport, RecordingError, RecordingWriter,
    TrialRecord, WorldRecord,
};
use tcplab_scenario::Case;
use tcplab_units::{Instant, Span};
use tcplab_workload::{LoadReport, PayloadMismatch, verify};

use self::awaited::Awaited;
use self::world::GuestWorld;
use crate::packets::ADDRESSES;
use crate::trial::EPOCH_NANOS;

/// What the virtual world asks of a host that has a kernel of its own.
///
/// It computes in no time. The world lets it run ahead of others as far as nothing that they do can
/// reach it.
pub trait Guest {
    /// Why it cannot go on.
    type Error;

    /// When it wants to run next; `None` where it waits for ever, or has ended.
    fn poll_at(&self) -> Option<Instant>;

    /// An IP packet reaches it at `at`, not before any that is to reach it already; `checked` if
    /// nothing can have damaged it.
    fn handle_packet(&mut self, at: Instant, packet: Vec<u8>, checked: bool);

    /// It is told something at `at`, as [`Guest::handle_packet`].
    fn handle_order(&mut self, at: Instant, order: &GuestOrder);

    /// Lets it run from `at`, its [`Guest::poll_at`], to all of its events before `until`, or before
    /// an answer may come to what it sends meanwhile.
    ///
    /// # Errors
    /// When it has ended, or does not end its turn.
    fn run(&mut self, at: Instant, until: Instant) -> Result<(), Self::Error>;

    /// The next thing that it has sent, and when.
    ///
    /// # Errors
    /// When it has sent what nobody understands.
    fn poll_sent(&mut self) -> Result<Option<(Instant, FromGuest)>, Self::Error>;
}

/// What a guest sends.
#[derive(Debug, Clone, PartialEq)]
pub enum FromGuest {
    /// An IP packet, as a wire would carry it.
    Packet(Vec<u8>),
    /// A report to the world.
    Report(GuestReport),
}

/// One trial with a kernel at each end.
#[derive(Debug, Clone, Copy)]
pub struct GuestTrial<'a> {
    /// The cell of the matrix.
    pub case: &'a Case,
    /// The trial's own seed.
    pub seed: u64,
    /// An existing, empty directory for the recording.
    pub directory: &'a Path,
    /// How many bytes of each packet the captures keep; all where no number is given.
    pub snaplen: Option<u32>,
}

/// Why such a trial failed.
#[derive(Debug, thiserror::Error)]
pub enum GuestTrialError<E> {
    /// The path cannot be built.
    #[error(transparent)]
    Path(PathError),
    /// The recording could not be written.
    #[error(transparent)]
    Recording(#[from] RecordingError),
    /// A guest cannot go on.
    #[error("the {endpoint}: {source}")]
    Guest {
        /// Which end.
        endpoint: &'static str,
        /// Why.
        source: E,
    },
    /// The application of a guest failed, or it could not be set up.
    #[error("the {endpoint}: {message}")]
    Failed {
        /// Which end.
        endpoint: &'static str,
        /// Why.
        message: String,
        /// What would help.
        remedy: Option<String>,
    },
    /// The transfer took longer than the scenario allows.
    #[error("not done after {limit}: {received} B have arrived")]
    Overdue {
        /// How long it may take.
        limit: Span,
        /// What has arrived.
        received: u64,
    },
    /// The payload that arrived is not the one that was sent.
    #[error("payload mismatch: {sent} B were sent, {received} B arrived")]
    PayloadMismatch {
        /// Bytes.
        sent: u64,
        /// Bytes.
        received: u64,
    },
    /// The caller asked to stop.
    #[error("stopped on request")]
    Stopped,
}

/// How much later than a packet leaves one end something may arrive there because of it.
///
/// # Errors
/// When the path cannot be built.
pub fn response_time(case: &Case) -> Result<Span, PathError> {
    let links = case.links()?;
    // A router answers what is too large at once.
    let may_refuse = links.iter().any(|link| link.may_answer());
    Ok(if may_refuse { Span::ZERO } else { links[0].least_delay() + links[1].least_delay() })
}

/// Runs one trial to its end, with the client and the server in `guests`, which are ready; `stop`
/// is asked now and then whether to end it.
///
/// # Errors
/// When it could not be run, was stopped, or did not pass. The directory may then hold a part of a
/// recording, without its `DONE`.
pub fn run_guests<G: Guest>(
    request: &GuestTrial<'_>,
    guests: [G; 2],
    kernels: [&str; 2],
    stop: &mut dyn FnMut() -> bool,
) -> Result<(), GuestTrialError<G::Error>> {
    let GuestTrial { case, seed, directory, snaplen } = *request;
    let descriptions = ADDRESSES.map(|address| address.to_string());
    let writer = RecordingWriter::create(directory, EPOCH_NANOS, &descriptions, snaplen)?;
    let plans = case.links().map_err(GuestTrialError::Path)?;
    let awaited = Awaited::of(case, seed);
    let limit = Instant::ZERO + case.limits.trial;
    let mut world = GuestWorld::new(guests, &plans, seed, awaited, writer, limit);
    let finished = world.run(stop)?;
    let (outcomes, now, mut writer, drops) = world.end()?;
    if !finished {
        return Err(GuestTrialError::Stopped);
    }
    let received = outcomes.received;
    let [Some(client), Some(server)] = outcomes.left else {
        return Err(GuestTrialError::Overdue { limit: case.limits.trial, received });
    };
    writer.missed(tcplab_units::Endpoint::Client, 0);
    let (app, verified) = results(case, seed, &client, &server);
    let world = WorldRecord {
        name: "virtual".into(),
        device: "ring".into(),
        device_drops: drops + client.device_drops + server.device_drops,
        notes: vec![format!("kernels: {} and {}", kernels[0], kernels[1])],
        ..WorldRecord::default()
    };
    let record = record(request, now, [client.record, server.record], world);
    if let Some(app) = app {
        writer.finish(&app, &record)?;
    }
    verified.map_err(|PayloadMismatch { sent, received }| GuestTrialError::PayloadMismatch {
        sent: sent.as_u64(),
        received: received.as_u64(),
    })
}

/// What the applications did, and whether what arrived is what was sent.
fn results(
    case: &Case,
    seed: u64,
    client: &GuestOutcome,
    server: &GuestOutcome,
) -> (Option<AppLog>, Result<(), PayloadMismatch>) {
    let connections = crate::connections::Connections::of(case, seed);
    if awaited::has_flows(case) {
        let flows = connections.logs_of([&client.connections, &server.connections]);
        let verified = connections.verify(&flows);
        return (AppLog::of_flows(flows), verified);
    }
    let verified = verify(&case.workload, seed, &client.report, &server.report);
    let load = client.load.clone();
    let load = load.map(|load| LoadReport { server: server.served.unwrap_or_default(), ..load });
    let app = AppLog { load, ..AppLog::of(client.report.clone(), server.report.clone()) };
    (Some(app), verified)
}

fn record(
    request: &GuestTrial<'_>,
    now: Instant,
    [client, server]: [EndpointRecord; 2],
    world: WorldRecord,
) -> TrialRecord {
    let GuestTrial { case, seed, .. } = *request;
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
        world,
    }
}
