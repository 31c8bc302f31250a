//! The threads of the endpoints.

use std::net::Ipv4Addr;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};

use tcplab_units::Endpoint;

use crate::addresses::ADDRESSES;
use crate::clock::Clock;
use crate::device::{self, Device, DeviceEnd};
use crate::device_kind::DeviceKind;
use crate::endpoint::{Outcome, Prepared};
use crate::sampler::Sampled;
use crate::trial_state::TrialState;
use crate::{TrialError, namespace, route, sysctl, threads};

/// An endpoint whose thread is set up and waits for the start.
pub(super) struct EndpointThread<D> {
    /// The path's end of its device.
    pub(super) device: D,
    pub(super) go: Sender<Clock>,
    pub(super) outcome: Receiver<Result<Outcome, TrialError>>,
    pub(super) stay: Sender<()>,
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
    let bridge = namespace::current()?;
    let (device_sender, device) = mpsc::channel::<(DeviceEnd, X)>();
    let set_up = move |shared: &TrialState| {
        namespace::isolate_thread()?;
        sysctl::apply(end.name(), &shared.endpoint(end).sysctl)?;
        let address = ADDRESSES[end as usize];
        let device = Device::create(kind, address, bridge.as_fd())?;
        route::apply(end, &shared.endpoint(end).route, device::NAME, address)?;
        let _ = device_sender.send((device, inside()?));
        Device::await_carrier(kind)
    };
    let open = || device.recv().ok().map(|(device, more)| open(device, more));
    start(end, ADDRESSES, shared, sockets, set_up, open)
}

/// Starts the endpoint's thread and waits until it has done `set_up` and opened its sockets. `open`
/// takes the device that `set_up` makes; none where that failed.
pub(super) fn start<D>(
    end: Endpoint,
    addresses: [Ipv4Addr; 2],
    shared: &Arc<TrialState>,
    sockets: &Sender<(Endpoint, Sampled)>,
    set_up: impl FnOnce(&TrialState) -> Result<(), TrialError> + Send + 'static,
    open: impl FnOnce() -> Option<Result<D, TrialError>>,
) -> Result<EndpointThread<D>, TrialError> {
    let (ready_sender, ready) = mpsc::channel();
    let (go, start) = mpsc::channel();
    let (outcome_sender, outcome) = mpsc::channel();
    let (stay, until) = mpsc::channel::<()>();
    let (shared, sockets) = (Arc::clone(shared), sockets.clone());
    let thread = threads::start("an endpoint's thread", move || {
        set_up(&shared)?;
        let endpoint = Prepared::new(end, addresses, &shared)?;
        let _ = ready_sender.send(());
        let _ = outcome_sender.send(endpoint.run(&start, sockets));
        // A namespace of its own, and the rest of its connections, ends with this thread.
        let _ = until.recv();
        Ok(())
    })?;
    let Some(device) = open() else { return Err(TrialError::of_thread(thread)) };
    let device = device?;
    match ready.recv() {
        Ok(()) => Ok(EndpointThread { device, go, outcome, stay }),
        Err(_) => Err(TrialError::of_thread(thread)),
    }
}
