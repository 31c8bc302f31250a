//! A trial: both endpoints, what lies between them, and the threads that record.

mod bridged;
mod endpoint_thread;
mod netem;
mod recording_threads;
mod same_host;
mod through;
mod watch;

use std::sync::mpsc::Receiver;

use tcplab_path::Backend;
use tcplab_recording::WorldRecord;
use tcplab_units::Endpoint;

pub(crate) use netem::{MISSING_TOOLS, Tool, ToolError, try_qdisc};
pub(crate) use recording_threads::{RecorderThread, missed_frames, record};

use self::endpoint_thread::EndpointThread;
use self::recording_threads::RecordingThreads;
use self::watch::Watch;
use crate::bridge::BridgeState;
use crate::clock::Clock;
use crate::launch::TrialRequest;
use crate::message::serde_name;
use crate::namespace::Privilege;
use crate::recorder::RecorderQueue;
use crate::sampler::Sampled;
use crate::scheduling::Scheduling;
use crate::trial_state::TrialState;
use crate::{TrialError, load, scheduling};

/// What moves or captures the packets of a trial.
trait Carrier {
    /// Whether its thread is scheduled before others.
    const IS_PROMPT: bool;
    /// Whether processors are kept from deep sleep meanwhile.
    const KEEPS_AWAKE: bool = true;

    /// Works until `over`, asked every 20 ms or more often, says so.
    fn run(&mut self, over: &mut dyn FnMut(&BridgeState) -> bool) -> Result<(), TrialError>;

    /// Ends the work. Adds what it knows to the `world`, and counts the frames that are not in the
    /// captures of client and server.
    fn finish(self, world: WorldRecord) -> (WorldRecord, [u64; 2]);
}

/// Runs a trial whose endpoints are set up; `make` gets their devices.
fn conduct<D, C: Carrier>(
    request: &TrialRequest,
    privilege: Privilege,
    shared: &TrialState,
    [client, server]: [EndpointThread<D>; 2],
    new_sockets: Receiver<(Endpoint, Sampled)>,
    make: impl FnOnce(Clock, [D; 2], RecorderQueue) -> C,
) -> Result<(), TrialError> {
    let clock = Clock::start();
    let (threads, queue) = RecordingThreads::start(request, clock, new_sockets)?;
    let mut carrier = make(clock, [client.device, server.device], queue);
    server
        .go
        .send(clock)
        .and_then(|()| client.go.send(clock))
        .map_err(|_| TrialError::panicked())?;
    let scheduling = match C::IS_PROMPT {
        true => scheduling::be_prompt(request.tuning.real_time),
        false => Scheduling::Ordinary,
    };
    let awake = C::KEEPS_AWAKE.then(scheduling::stay_awake);
    let mut watch = Watch::new(request.case.limits.trial, shared, [client.outcome, server.outcome]);
    carrier.run(&mut |state| watch.over(state, threads.have_failed()))?;
    let have_failed = threads.have_failed();
    let moved = carrier.finish(WorldRecord {
        name: "kernel".into(),
        privilege: serde_name(&privilege),
        scheduling: serde_name(&scheduling),
        ..WorldRecord::default()
    });
    drop(awake);
    threads.end(request, shared, watch, [client.stay, server.stay], have_failed, moved)
}

/// Runs a trial in the namespace of this process.
pub(crate) fn run(request: &TrialRequest, privilege: Privilege) -> Result<(), TrialError> {
    let request = &load::captured_in_short(request);
    let case = &request.case;
    match case.path.backend.unwrap_or_default() {
        _ if !case.workload.through.is_tcp() => through::run(request, privilege),
        _ if case.path.same_host => same_host::run(request, privilege),
        Backend::Tcplab => bridged::run(request, privilege),
        Backend::Netem => netem::run(request, privilege),
    }
}
