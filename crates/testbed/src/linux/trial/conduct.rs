//! The course of every trial, whatever moves or captures its packets.

use std::sync::mpsc::Receiver;

use tcplab_recording::WorldRecord;
use tcplab_units::Endpoint;

use super::endpoint_thread::EndpointThread;
use super::recording_threads::{Moved, RecordingThreads};
use super::watch::Watch;
use crate::bridge::BridgeState;
use crate::clock::Clock;
use crate::message::serde_name;
use crate::namespace::Privilege;
use crate::recorder::RecorderQueue;
use crate::sampler::Sampled;
use crate::scheduling::Scheduling;
use crate::trial_request::TrialRequest;
use crate::trial_state::TrialState;
use crate::{TrialError, scheduling};

/// What moves or captures the packets of a trial.
pub(super) trait Carrier {
    /// Whether its thread is scheduled before others.
    const IS_PROMPT: bool;
    /// Whether processors are kept from deep sleep meanwhile.
    const KEEPS_AWAKE: bool = true;

    /// Works until `over`, asked every 20 ms or more often, says so.
    fn run(&mut self, over: &mut dyn FnMut(&BridgeState) -> bool) -> Result<(), TrialError>;

    /// Ends the work; adds what it knows to the `world`.
    fn finish(self, world: WorldRecord) -> Moved;
}

/// Runs a trial whose endpoints are set up; `make` gets their devices.
pub(super) fn conduct<D, C: Carrier>(
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
    let scheduling = if C::IS_PROMPT {
        scheduling::be_prompt_throughout(request.tuning.real_time)
    } else {
        Scheduling::Ordinary
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
