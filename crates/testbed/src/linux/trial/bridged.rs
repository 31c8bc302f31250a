//! A trial through tcplab's own path: a bridge between the devices of two namespaces.

use std::sync::Arc;
use std::sync::mpsc::{self, Receiver};

use tcplab_path::{Direction, PathChange};
use tcplab_recording::WorldRecord;
use tcplab_units::Endpoint;

use super::conduct::{Carrier, conduct};
use super::endpoint_thread::prepare;
use super::recording_threads::Moved;
use crate::bridge::{Bridge, BridgeState, Steered};
use crate::device_kind::DeviceKind;
use crate::interface_counters::device_drops;
use crate::launch::Message;
use crate::message::{say, serde_name};
use crate::namespace::Privilege;
use crate::trial_request::TrialRequest;
use crate::trial_state::TrialState;
use crate::{SteeringAnswer, TrialError, sysctl};

/// Runs the trial; the path changes as `changes` come.
pub(super) fn run(
    request: &TrialRequest,
    privilege: Privilege,
    changes: Option<Receiver<PathChange>>,
) -> Result<(), TrialError> {
    let case = &request.case;
    let kind = request.device.unwrap_or_else(DeviceKind::best);
    let plans = [case.path.link(Direction::Forward)?, case.path.link(Direction::Reverse)?];
    let shared = Arc::new(TrialState::new(request));
    let (sockets, new_sockets) = mpsc::channel();
    sysctl::keep_quiet();
    let [client, server] = Endpoint::BOTH.map(|end| prepare(end, kind, &shared, &sockets));
    drop(sockets);
    conduct(request, privilege, &shared, [client?, server?], new_sockets, |clock, ends, queue| {
        let bridge = Bridge::new(clock, ends, &plans, request.seed, request.tuning, Some(queue));
        let bridge = match changes {
            Some(changes) => bridge.steered(Steered::new(plans, changes, tell), request.seed),
            None => bridge,
        };
        Bridged { bridge, kind }
    })
}

/// Tells the caller what became of a change.
fn tell(answer: SteeringAnswer) {
    say(&match answer {
        SteeringAnswer::Applied(events) => Message::Steered(events),
        SteeringAnswer::Refused(why) => Message::Refused(why),
    });
}

/// A bridge between devices of this kind.
struct Bridged {
    bridge: Bridge,
    kind: DeviceKind,
}

impl Carrier for Bridged {
    const IS_PROMPT: bool = true;

    fn run(&mut self, over: &mut dyn FnMut(&BridgeState) -> bool) -> Result<(), TrialError> {
        self.bridge.run(over)
    }

    fn finish(self, world: WorldRecord) -> Moved {
        let (moved, devices) = self.bridge.finish_with_devices();
        let world = WorldRecord {
            name: world.name,
            device: serde_name(&self.kind),
            privilege: world.privilege,
            scheduling: world.scheduling,
            device_drops: moved.device_drops + device_drops(),
            ..moved.world()
        };
        let (frames_lost, path_events) = (moved.frames_lost, moved.path_events);
        Moved { world, frames_lost, path_events, devices: Some(devices) }
    }
}
