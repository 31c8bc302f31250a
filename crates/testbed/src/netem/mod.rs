//! A trial through the kernel's own queueing disciplines, where the path says
//! `backend = "netem"`: the endpoints' namespaces are joined by a third, that of this process,
//! whose kernel forwards packets and has the qdiscs. What passes each endpoint's device is seen by
//! a packet socket beside it; what happens in between nobody tells.

mod kernel;
mod tap;

use std::sync::Arc;
use std::sync::mpsc::{self, Sender};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tcplab_path::tc::TcPlan;
use tcplab_recording::WorldRecord;
use tcplab_units::{Endpoint, Instant, Span};

pub(crate) use kernel::{MISSING_TOOLS, Tool, ToolError, try_qdisc};
use tap::Tap;

use crate::bridge::BridgeState;
use crate::clock::Clock;
use crate::device::{self, DeviceKind};
use crate::endpoint::Shared;
use crate::launch::TrialRequest;
use crate::namespace::Privilege;
use crate::promptness::Promptness;
use crate::sampler::Sampled;
use crate::serve::{ADDRESSES, Ready, Watch, prepare_with, serde_name};
use crate::tape::Tape;
use crate::trial::{Scribes, Told};
use crate::{TrialError, promptness, sysctl};

/// How often it is looked whether the trial is over, and pages are passed on.
const IDLE: Span = Span::from_millis(20);

/// An endpoint's device: its other end, and the packet socket beside it.
struct Seat {
    name: String,
    tap: Tap,
}

/// Runs the trial.
pub(crate) fn run(request: &TrialRequest, privilege: Privilege) -> Result<(), TrialError> {
    let case = &request.case;
    let plan = case.path.tc().map_err(|refused| match refused.into_iter().next() {
        Some(first) => TrialError::Path(first),
        None => TrialError::Stopped,
    })?;
    kernel::try_out(&plan)?;
    let shared = Arc::new(Shared::new(request));
    let (sockets, new_sockets) = mpsc::channel();
    sysctl::keep_quiet();
    let [client, server] = joined(request, &plan, &shared, &sockets)?;
    drop(sockets);

    let clock = Clock::start();
    let (scribes, tape) = Scribes::start(request, clock, new_sockets)?;
    for go in [server.go, client.go] {
        let _ = go.send(clock);
    }
    let promptness = promptness::be_prompt(request.tuning.real_time);
    let mut watch = Watch::new(case.limits.trial, &shared, [client.outcome, server.outcome]);
    let mut eye = Eye::new(clock, [client.device.tap, server.device.tap], tape, &plan);
    eye.run(|state| watch.over(state, scribes.have_failed()))?;
    let have_failed = scribes.have_failed();
    let told = Told { world: world(privilege, promptness, &plan), frames_lost: eye.finish() };
    scribes.end(request, &shared, watch, [client.stay, server.stay], have_failed, told)
}

/// What there is to say of the world before anything is counted.
fn world(privilege: Privilege, promptness: Promptness, plan: &TcPlan) -> WorldRecord {
    WorldRecord {
        name: "kernel".into(),
        device: "veth".into(),
        privilege: serde_name(&privilege),
        scheduling: serde_name(&promptness),
        notes: plan.notes().iter().map(|it| format!("{}: {}", it.key, it.what)).collect(),
        ..WorldRecord::default()
    }
}

/// The ends of the path, joined by it.
fn joined(
    request: &TrialRequest,
    plan: &TcPlan,
    shared: &Arc<Shared>,
    sockets: &Sender<(Endpoint, Sampled)>,
) -> Result<[Ready<Seat>; 2], TrialError> {
    let [client, server] = Endpoint::BOTH.map(|end| {
        prepare_with(end, DeviceKind::PacketSocket, shared, sockets, inside, |device, tap| {
            Ok(Seat { name: device.leave_to_kernel()?, tap })
        })
    });
    let (client, server) = (client?, server?);
    let devices = [&client.device.name, &server.device.name];
    kernel::join(devices, ADDRESSES)?;
    kernel::set_up(plan, devices, &request.directory)?;
    Ok([client, server])
}

/// What is done in each endpoint's namespace. netem and tbf take what they are given at once for
/// one packet, so segments go one by one.
fn inside() -> Result<Tap, TrialError> {
    device::send_single_segments()?;
    Tap::open(device::NAME)
}

/// Looks at what passes both endpoints.
struct Eye {
    clock: Clock,
    taps: [Tap; 2],
    tape: Tape,
    /// A packet that comes later than this after the last of all does not come.
    patience: Span,
    seen: Instant,
    /// The wall clock before the trial's, at the start.
    wall_offset: i64,
}

impl Eye {
    fn new(clock: Clock, taps: [Tap; 2], tape: Tape, plan: &TcPlan) -> Eye {
        let patience = plan.links().into_iter().map(|(_, link)| link.patience).max();
        Eye {
            clock,
            taps,
            tape,
            patience: patience.unwrap_or_default(),
            seen: Instant::ZERO,
            wall_offset: Clock::wall_offset(),
        }
    }

    /// Puts what it sees on the tape until `over`, asked every 20 ms, says so.
    fn run(&mut self, mut over: impl FnMut(&BridgeState) -> bool) -> Result<(), TrialError> {
        let failed = || TrialError::setup("look at the packets of an endpoint");
        let mut looked = Instant::ZERO;
        loop {
            self.look().map_err(failed())?;
            let now = self.clock.now();
            if now.since(looked) >= IDLE {
                looked = now;
                self.tape.pass_on(|| 0);
                let on_path = usize::from(now.since(self.seen) <= self.patience);
                if over(&BridgeState { now, on_path }) {
                    return Ok(());
                }
            }
            let mut waiting = self.taps.each_ref().map(|tap| PollFd::new(tap, PollFlags::IN));
            let timeout = Timespec { tv_sec: 0, tv_nsec: IDLE.as_nanos().cast_signed() };
            match poll(&mut waiting, Some(&timeout)) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(errno) => return Err(failed()(errno.into())),
            }
        }
    }

    /// Takes what waits.
    fn look(&mut self) -> std::io::Result<()> {
        let Eye { clock, taps, tape, seen, wall_offset, .. } = self;
        // Where the wall clock was set meanwhile, the kernel's times moved with it.
        let moved = Clock::wall_offset().wrapping_sub(*wall_offset);
        let epoch = clock.epoch_nanos().saturating_add_signed(moved);
        for (endpoint, tap) in Endpoint::BOTH.into_iter().zip(taps) {
            while let Some(frame) = tap.receive()? {
                let now = clock.now();
                let at = frame
                    .at_nanos
                    .map_or(now, |at| Instant::from_nanos(at.saturating_sub(epoch)).min(now));
                *seen = now;
                tape.seen(endpoint, at, frame.is_sent, frame.header, frame.packet);
            }
        }
        Ok(())
    }

    /// Frames of client and server that found no room on the tape or in the packet sockets.
    fn finish(mut self) -> [u64; 2] {
        self.tape.pass_on(|| 0);
        let (lost, unread) = (self.tape.frames_lost(), self.taps.each_ref().map(Tap::unread));
        [lost[0] + unread[0], lost[1] + unread[1]]
    }
}
