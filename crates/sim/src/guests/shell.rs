//! A program behind a path, on kernels in virtual time.

use std::path::Path;

use tcplab_path::{Direction, LinkPlan, PathError, PathSpec};
use tcplab_recording::{
    EndpointRecord, ProgramEnd, RecordingWriter, Summary, Traffic, TrialRecord, WorldRecord,
};
use tcplab_units::{Instant, Span};

use super::error::GuestTrialError;
use super::guest::Guest;
use super::programs::{Print, Programs};
use super::recorder::Recorder;
use super::trial::response_of;
use super::world::{GuestWorld, Left};
use crate::packets::ADDRESSES;
use crate::trial::EPOCH_NANOS;

/// What the ends of a shell are called.
pub const ENDS: [&str; 2] = ["near end", "far end"];

/// A program behind a path.
#[derive(Debug, Clone, Copy)]
pub struct GuestShell<'a> {
    /// The path.
    pub path: &'a PathSpec,
    /// Of all its randomness.
    pub seed: u64,
    /// An existing, empty directory for a recording, if one is to be made.
    pub capture: Option<&'a Path>,
    /// How many bytes of each packet the captures keep; all where no number is given.
    pub snaplen: Option<u32>,
}

/// How the program ended, and what went through the path.
#[derive(Debug)]
pub struct GuestShellEnd {
    /// How the near program ended.
    pub program: ProgramEnd,
    /// The exit code of the far program, if it ended before the near one did.
    pub far_code: Option<u8>,
    /// What went through the path.
    pub summary: Summary,
}

/// The links of a path, and how much later than a packet leaves one end something may arrive there
/// because of it.
///
/// # Errors
/// When the path cannot be built.
pub fn links_of(path: &PathSpec) -> Result<([LinkPlan; 2], Span), PathError> {
    let links = [path.link(Direction::Forward)?, path.link(Direction::Reverse)?];
    let response = response_of(std::slice::from_ref(&links));
    Ok((links, response))
}

/// Runs the near program to its end, with the near and the far end in `guests`, which are ready.
/// Gives `print` what the programs print; `stop` is asked now and then whether to end.
///
/// # Errors
/// When it could not be run, or was stopped.
pub fn run_shell<G: Guest>(
    request: &GuestShell<'_>,
    guests: [G; 2],
    kernels: [&str; 2],
    print: &mut Print<'_>,
    stop: &mut dyn FnMut() -> bool,
) -> Result<GuestShellEnd, GuestTrialError<G::Error>> {
    let GuestShell { path, seed, capture, snaplen } = *request;
    let (plans, _) = links_of(path).map_err(GuestTrialError::Path)?;
    let names = ADDRESSES.map(|address| address.to_string());
    let create = |directory| RecordingWriter::create(directory, EPOCH_NANOS, &names, snaplen);
    let recorder = Recorder::new(capture.map(create).transpose()?);
    let mut print = |end, stream, bytes: &[u8]| print(end, stream, bytes);
    let programs = Programs::new(&mut print);
    let mut world = GuestWorld::new(guests, ENDS, &[plans], seed, programs, recorder);
    let finished = world.run(stop)?;
    let Left { awaited, at, recorder } = world.end()?;
    if let Some(error) = awaited.unread {
        return Err(GuestTrialError::Output(error));
    }
    if !finished {
        return Err(GuestTrialError::Stopped);
    }
    let Some(program) = awaited.ended else { return Err(GuestTrialError::Waits) };
    let world = WorldRecord {
        name: "virtual".into(),
        device: "ring".into(),
        device_drops: program.device_drops + awaited.settled.unwrap_or_default(),
        notes: vec![format!("near {}, far {}", kernels[0], kernels[1])],
        ..WorldRecord::default()
    };
    let Recorder { writer, traffic: [forward, reverse] } = recorder;
    if let Some(writer) = writer {
        writer.finish_without_application(&record(request, at, names, world.clone()))?;
    }
    let traffic = Traffic { at, forward, reverse };
    let summary = Summary { traffic, world, warnings: Vec::new() };
    Ok(GuestShellEnd { program, far_code: awaited.far_code, summary })
}

fn record(
    request: &GuestShell<'_>,
    at: Instant,
    names: [String; 2],
    world: WorldRecord,
) -> TrialRecord {
    let [client, server] = names.map(|address| EndpointRecord { address, ..Default::default() });
    TrialRecord {
        tcplab: env!("CARGO_PKG_VERSION").into(),
        case: String::new(),
        case_hash: String::new(),
        seed: request.seed,
        path: request.path.clone(),
        path_events: Vec::new(),
        second_path: None,
        epoch_nanos: EPOCH_NANOS,
        duration: at.since(Instant::ZERO),
        client,
        server,
        world,
    }
}
