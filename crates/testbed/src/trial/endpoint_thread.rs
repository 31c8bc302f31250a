//! The threads of the endpoints.

use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{self, JoinHandle};

use tcplab_units::Endpoint;

use crate::addresses::ADDRESSES;
use crate::clock::Clock;
use crate::device::{Device, DeviceEnd, DeviceKind};
use crate::endpoint::{Outcome, Prepared};
use crate::sampler::Sampled;
use crate::trial_state::TrialState;
use crate::{TrialError, namespace, sysctl};

/// An endpoint whose thread is set up and waits for the start.
pub(super) struct EndpointThread<D> {
    /// The path's end of its device.
    pub(super) device: D,
    pub(super) go: Sender<Clock>,
    pub(super) outcome: Receiver<Result<Outcome, TrialError>>,
    pub(super) stay: Sender<()>,
}

/// Starts both endpoints at the zero of the clock, the server first.
pub(super) fn start(
    server: &Sender<Clock>,
    client: &Sender<Clock>,
    clock: Clock,
) -> Result<(), TrialError> {
    let started = server.send(clock).and_then(|()| client.send(clock));
    started.map_err(|_| TrialError::panicked())
}

/// Starts the endpoint's thread in a namespace of its own and waits until it is set up.
pub(super) fn prepare(
    end: Endpoint,
    kind: DeviceKind,
    shared: &Arc<TrialState>,
    sockets: &Sender<(Endpoint, Sampled)>,
) -> Result<EndpointThread<Device>, TrialError> {
    prepare_with(end, kind, shared, sockets, || Ok(()), |device, ()| device.open())
}

/// Like [`prepare`]; `inside` runs in the namespace once it has its device, and `open` makes what
/// the path needs of the device's other end.
pub(super) fn prepare_with<X: Send + 'static, D>(
    end: Endpoint,
    kind: DeviceKind,
    shared: &Arc<TrialState>,
    sockets: &Sender<(Endpoint, Sampled)>,
    inside: fn() -> Result<X, TrialError>,
    open: impl FnOnce(DeviceEnd, X) -> Result<D, TrialError>,
) -> Result<EndpointThread<D>, TrialError> {
    let bridge = std::fs::File::open("/proc/self/ns/net")
        .map_err(TrialError::setup("look at its own network namespace"))?;
    let (device_sender, device) = mpsc::channel::<(DeviceEnd, X)>();
    let (ready_sender, ready) = mpsc::channel();
    let (go, start) = mpsc::channel();
    let (outcome_sender, outcome) = mpsc::channel();
    let (stay, until) = mpsc::channel::<()>();
    let (shared, sockets) = (Arc::clone(shared), sockets.clone());
    let thread: JoinHandle<Result<(), TrialError>> = thread::spawn(move || {
        namespace::isolate_thread()?;
        let settings = &shared.endpoint(end).sysctl;
        sysctl::apply(end.name(), settings)?;
        let device = Device::create(kind, ADDRESSES[end as usize], bridge.as_fd())?;
        let _ = device_sender.send((device, inside()?));
        Device::await_carrier(kind)?;
        let endpoint = Prepared::new(end, ADDRESSES, &shared)?;
        let _ = ready_sender.send(());
        let _ = outcome_sender.send(endpoint.run(&start, sockets));
        // The namespace, and the rest of its connections, ends with this thread.
        let _ = until.recv();
        Ok(())
    });
    let why_not = |thread: JoinHandle<_>| match thread.join() {
        Ok(Err(error)) => error,
        _ => TrialError::panicked(),
    };
    let Ok((device, more)) = device.recv() else { return Err(why_not(thread)) };
    let device = open(device, more)?;
    match ready.recv() {
        Ok(()) => Ok(EndpointThread { device, go, outcome, stay }),
        Err(_) => Err(why_not(thread)),
    }
}
