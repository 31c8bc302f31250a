//! A trial through the kernel's own queueing disciplines, where the path says
//! `backend = "netem"`: the endpoints' namespaces are joined by a third, that of this process,
//! whose kernel forwards packets and has the qdiscs. A packet socket at each endpoint's device
//! captures what passes; what happens in between is not known.

mod capture_point;
mod kernel;

use std::sync::Arc;
use std::sync::mpsc::{self, Sender};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tcplab_path::tc::TcPlan;
use tcplab_recording::WorldRecord;
use tcplab_units::{Endpoint, Instant, Span};

use capture_point::CapturePoint;
pub(crate) use kernel::{MISSING_TOOLS, Tool, ToolError, try_qdisc};

use super::conduct::{Carrier, conduct};
use super::endpoint_thread::{EndpointThread, prepare_with};
use super::recording_threads::Moved;
use crate::addresses::ADDRESSES;
use crate::bridge::BridgeState;
use crate::clock::Clock;
use crate::device;
use crate::device_kind::DeviceKind;
use crate::namespace::Privilege;
use crate::recorder::RecorderQueue;
use crate::sampler::Sampled;
use crate::trial_request::TrialRequest;
use crate::trial_state::TrialState;
use crate::{TrialError, sysctl};

/// How often to check whether the trial is over, and to pass on pages.
const IDLE: Span = Span::from_millis(20);

/// An endpoint's device: its other end, and the packet socket beside it.
struct CapturedDevice {
    name: String,
    point: CapturePoint,
}

/// Runs the trial.
pub(crate) fn run(request: &TrialRequest, privilege: Privilege) -> Result<(), TrialError> {
    let case = &request.case;
    let plan = case.path.tc().map_err(|refused| match refused.into_iter().next() {
        Some(first) => TrialError::Path(first),
        None => TrialError::Stopped,
    })?;
    kernel::try_out(&plan)?;
    let shared = Arc::new(TrialState::new(request));
    let (sockets, new_sockets) = mpsc::channel();
    sysctl::keep_quiet();
    let ends = joined(request, &plan, &shared, &sockets)?;
    drop(sockets);
    conduct(request, privilege, &shared, ends, new_sockets, |clock, devices, queue| {
        DeviceCapture::new(clock, devices.map(|device| device.point), queue, plan)
    })
}

/// The ends of the path, joined by it.
fn joined(
    request: &TrialRequest,
    plan: &TcPlan,
    shared: &Arc<TrialState>,
    sockets: &Sender<(Endpoint, Sampled)>,
) -> Result<[EndpointThread<CapturedDevice>; 2], TrialError> {
    let [client, server] = Endpoint::BOTH.map(|end| {
        prepare_with(end, DeviceKind::PacketSocket, shared, sockets, inside, |device, point| {
            Ok(CapturedDevice { name: device.leave_to_kernel()?, point })
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
fn inside() -> Result<CapturePoint, TrialError> {
    device::send_single_segments()?;
    CapturePoint::open(device::NAME)
}

/// Captures what passes both endpoints.
struct DeviceCapture {
    clock: Clock,
    points: [CapturePoint; 2],
    queue: RecorderQueue,
    /// A packet that comes later than this after the last of all does not come.
    patience: Span,
    seen: Instant,
    plan: TcPlan,
    /// The wall clock before the trial's, at the start.
    wall_offset: i64,
}

impl DeviceCapture {
    fn new(
        clock: Clock,
        points: [CapturePoint; 2],
        queue: RecorderQueue,
        plan: TcPlan,
    ) -> DeviceCapture {
        let patience = plan.links().into_iter().map(|(_, link)| link.patience).max();
        DeviceCapture {
            clock,
            points,
            queue,
            patience: patience.unwrap_or_default(),
            seen: Instant::ZERO,
            plan,
            wall_offset: Clock::wall_offset(),
        }
    }

    /// Takes what waits.
    fn look(&mut self) -> std::io::Result<()> {
        let DeviceCapture { clock, points, queue, seen, wall_offset, .. } = self;
        // Where the wall clock was set meanwhile, the kernel's times moved with it.
        let moved = Clock::wall_offset().wrapping_sub(*wall_offset);
        let epoch = clock.epoch_nanos().saturating_add_signed(moved);
        for (endpoint, point) in Endpoint::BOTH.into_iter().zip(points) {
            while let Some(frame) = point.receive()? {
                let now = clock.now();
                let at = frame
                    .at_nanos
                    .map_or(now, |at| Instant::from_nanos(at.saturating_sub(epoch)).min(now));
                *seen = now;
                queue.seen(endpoint, at, frame.is_sent, frame.header, frame.packet);
            }
        }
        Ok(())
    }
}

impl Carrier for DeviceCapture {
    const IS_PROMPT: bool = true;
    const KEEPS_AWAKE: bool = false;

    fn run(&mut self, over: &mut dyn FnMut(&BridgeState) -> bool) -> Result<(), TrialError> {
        let failed = || TrialError::setup("look at the packets of an endpoint");
        let mut looked = Instant::ZERO;
        loop {
            self.look().map_err(failed())?;
            let now = self.clock.now();
            if now.since(looked) >= IDLE {
                looked = now;
                self.queue.pass_on(|| 0);
                let on_path = usize::from(now.since(self.seen) <= self.patience);
                if over(&BridgeState { now, on_path }) {
                    return Ok(());
                }
            }
            let mut waiting = self.points.each_ref().map(|point| PollFd::new(point, PollFlags::IN));
            let timeout = Timespec { tv_sec: 0, tv_nsec: IDLE.as_nanos().cast_signed() };
            match poll(&mut waiting, Some(&timeout)) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(errno) => return Err(failed()(errno.into())),
            }
        }
    }

    fn finish(mut self, world: WorldRecord) -> Moved {
        self.queue.pass_on(|| 0);
        let (lost, unread) =
            (self.queue.frames_lost(), self.points.each_ref().map(CapturePoint::unread));
        let notes = self.plan.notes().iter().map(|it| format!("{}: {}", it.key, it.what)).collect();
        let world = WorldRecord { device: "veth".into(), notes, ..world };
        Moved::unsteered(world, [lost[0] + unread[0], lost[1] + unread[1]])
    }
}
