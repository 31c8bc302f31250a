//! A trial through tcplab's own path: a bridge between the devices of two namespaces.

use std::sync::Arc;
use std::sync::mpsc;

use tcplab_path::Direction;
use tcplab_recording::WorldRecord;
use tcplab_units::Endpoint;

use super::endpoint_thread::{prepare, start};
use super::recording_threads::{MoverReport, RecordingThreads};
use super::watch::Watch;
use crate::bridge::Bridge;
use crate::clock::Clock;
use crate::device::DeviceKind;
use crate::interface_counters::device_drops;
use crate::launch::TrialRequest;
use crate::message::serde_name;
use crate::namespace::Privilege;
use crate::trial_state::TrialState;
use crate::{TrialError, scheduling, sysctl};

/// Runs the trial.
pub(super) fn run(request: &TrialRequest, privilege: Privilege) -> Result<(), TrialError> {
    let case = &request.case;
    let kind = request.device.unwrap_or_else(DeviceKind::best);
    let plans = [case.path.link(Direction::Forward)?, case.path.link(Direction::Reverse)?];
    let shared = Arc::new(TrialState::new(request));
    let (sockets, new_sockets) = mpsc::channel();
    sysctl::keep_quiet();
    let [client, server] = Endpoint::BOTH.map(|end| prepare(end, kind, &shared, &sockets));
    drop(sockets);
    let (client, server) = (client?, server?);

    let clock = Clock::start();
    let (threads, queue) = RecordingThreads::start(request, clock, new_sockets)?;
    let ends = [client.device, server.device];
    let mut bridge = Bridge::new(clock, ends, &plans, request.seed, request.tuning, Some(queue));
    start(&server.go, &client.go, clock)?;
    let scheduling = scheduling::be_prompt(request.tuning.real_time);
    let awake = scheduling::stay_awake();
    let mut watch = Watch::new(case.limits.trial, &shared, [client.outcome, server.outcome]);
    bridge.run(|state| watch.over(state, threads.have_failed()))?;
    let have_failed = threads.have_failed();
    let moved = bridge.finish();
    drop(awake);
    let world = WorldRecord {
        name: "kernel".into(),
        device: serde_name(&kind),
        privilege: serde_name(&privilege),
        scheduling: serde_name(&scheduling),
        device_drops: moved.device_drops + device_drops(),
        ..moved.world()
    };
    let report = MoverReport { world, frames_lost: moved.frames_lost };
    threads.end(request, &shared, watch, [client.stay, server.stay], have_failed, report)
}
