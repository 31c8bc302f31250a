//! The first program of a kernel in virtual time (`tcplab-guests`): one endpoint of a trial, or the
//! parent of a program of the user's, or the application of a packetdrill script.
//!
//! It finds the host's files at its root, which trials may only read, and speaks to the world
//! outside through `/dev/tcplab`, a device of the kernel's driver.

mod channel;
mod mounts;
mod outputs;
mod program;
mod script;
mod tunnel;

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver};

use tcplab_recording::{GuestOrder, GuestOutcome, GuestReport};
use tcplab_units::{Endpoint, Span};

use self::channel::Channel;
use crate::addresses::{ADDRESSES, SECOND_ADDRESSES};
use crate::clock::Clock;
use crate::device::{self, Attachment};
use crate::endpoint::{Outcome, Prepared};
use crate::flows::FlowEvent;
use crate::namespace::Privilege;
use crate::sampler::{self, Looked, Sampled};
use crate::trial_state::TrialState;
use crate::{
    GuestTask, GuestWork, TrialError, TrialRequest, Tuning, module, multipath, route, sysctl,
    threads, trial,
};

/// Where the recording of a trial on the same host is made, in the guest.
const RECORDING: &str = "/run/recording";

/// Does its work, and waits to be ended.
///
/// # Errors
/// When there is nobody to speak to; any other error is reported there.
pub(crate) fn run() -> Result<(), TrialError> {
    mounts::mount_all()?;
    // Its console, which is kept, has warnings too: on the command line this would change all
    // random numbers.
    let _ = std::fs::write("/proc/sys/kernel/printk", "5");
    let channel = Arc::new(Channel::open()?);
    channel.greet()?;
    let done = match channel.hear()? {
        GuestWork::Trial(task) => take_part(&task, &channel),
        GuestWork::Program(task) => program::run(&task, &channel),
        GuestWork::Script(task) => script::run(&task, &channel),
    };
    if let Err(error) = done {
        let (message, remedy) = (error.to_string(), error.remedy());
        channel.say(&GuestReport::Failed { message, remedy })?;
    }
    loop {
        std::thread::park();
    }
}

fn take_part(task: &GuestTask, channel: &Arc<Channel>) -> Result<(), TrialError> {
    let GuestTask { end, case, seed, directory, snaplen } = task;
    let end = *end;
    let request = TrialRequest {
        case: case.clone(),
        seed: *seed,
        // Of this guest alone, in its memory, unless it records.
        directory: directory.as_ref().map_or("/tmp", |_| RECORDING).into(),
        device: None,
        tuning: Tuning::default(),
        snaplen: *snaplen,
        steerable: false,
    };
    if let Some(directory) = directory {
        return on_same_host(&request, directory, channel);
    }
    let shared = Arc::new(TrialState::new(&request));
    set_up(end, &shared, case.second_path.is_some())?;
    let events = report_flows(&shared, channel)?;
    let endpoint = Prepared::new(end, ADDRESSES, &shared)?;
    channel.say(&GuestReport::Ready)?;
    while channel.hear::<GuestOrder>()? != GuestOrder::Start {}
    let clock = Clock::start_virtual(channel.clock()?);
    obey(end, &shared, channel)?;
    let _ = shared.virtual_calls.set(Channel::virtual_calls()?);
    let (sockets, new_sockets) = mpsc::channel();
    if case.is_multipath() {
        sample(new_sockets, (clock, case.sampling.tcp_info), channel)?;
    } else {
        watch(new_sockets, (clock, case.sampling.interval()), &shared, channel)?;
    }
    let (go, start) = mpsc::channel();
    go.send(clock).map_err(|_| TrialError::panicked())?;
    let outcome = endpoint.run(&start, sockets)?;
    drop(events);
    channel.say(&GuestReport::Done(Box::new(left_by(&outcome))))?;
    // Sockets that are open stay so until the trial is over.
    std::mem::forget(outcome);
    Ok(())
}

/// Both ends of a trial, as on this machine's own kernel.
fn on_same_host(
    request: &TrialRequest,
    directory: &Path,
    channel: &Channel,
) -> Result<(), TrialError> {
    mounts::mount_outside(directory, RECORDING)?;
    // Both ends have the same, as was checked when the scenario was read.
    module::apply(&request.case.client.module)?;
    channel.say(&GuestReport::Ready)?;
    while channel.hear::<GuestOrder>()? != GuestOrder::Start {}
    let (_, no_changes) = mpsc::channel();
    trial::run(request, Privilege::Held, no_changes)?;
    channel.say(&GuestReport::Done(Box::default()))
}

fn set_up(end: Endpoint, shared: &TrialState, has_second: bool) -> Result<(), TrialError> {
    let spec = shared.endpoint(end);
    module::apply(&spec.module)?;
    sysctl::apply(end.name(), &spec.sysctl)?;
    device::take_loopback_up()?;
    let address = ADDRESSES[end as usize];
    let attachment = Attachment { name: device::NAME.into(), address, mtu: device::MTU };
    device::attach(&attachment, false)?;
    route::apply(end, &spec.route, device::NAME, address)?;
    if has_second {
        let address = SECOND_ADDRESSES[end as usize];
        device::add_address(device::NAME, address)?;
        route::apply(end, &spec.route, device::NAME, address)?;
        multipath::use_second_address(end, address)?;
    }
    Ok(())
}

/// What the flows do is reported as it happens, until the sender that is returned is dropped.
fn report_flows(
    shared: &TrialState,
    channel: &Arc<Channel>,
) -> Result<mpsc::Sender<FlowEvent>, TrialError> {
    let (sender, events): (_, Receiver<FlowEvent>) = mpsc::channel();
    if let Some(flows) = &shared.flows {
        flows.report_to(sender.clone());
    }
    let channel = Arc::clone(channel);
    threads::start("the thread that reports connections", move || {
        for event in events {
            let _ = channel.say(&match event {
                FlowEvent::Accepted(nth) => GuestReport::Accepted(nth),
                FlowEvent::Ended { nth, was_connected } => {
                    GuestReport::Ended { nth, was_connected }
                }
            });
        }
    })?;
    Ok(sender)
}

/// Has the kernel send the state of each socket that comes, until it is CLOSED.
fn watch(
    sockets: Receiver<(Endpoint, Sampled)>,
    (clock, interval): (Clock, Option<Span>),
    shared: &Arc<TrialState>,
    channel: &Arc<Channel>,
) -> Result<(), TrialError> {
    let (shared, channel) = (Arc::clone(shared), Arc::clone(channel));
    threads::start("the thread that has sockets watched", move || {
        let Some(calls) = shared.virtual_calls.get() else { return };
        for (id, (_, sampled)) in (0..).zip(sockets) {
            let flow = sampled.flow().map(str::to_owned);
            let done = channel.say(&GuestReport::Watches(flow)).and_then(|()| {
                sampled.with(|socket| calls.watch(socket, id, clock, interval)).unwrap_or(Ok(()))
            });
            if let Err(error) = done {
                let (message, remedy) = (error.to_string(), error.remedy());
                let _ = channel.say(&GuestReport::Failed { message, remedy });
            }
        }
    })?;
    Ok(())
}

/// Looks at the sockets itself: those of Multipath TCP answer for their first subflow, which the
/// kernel's own watch does not know.
fn sample(
    sockets: Receiver<(Endpoint, Sampled)>,
    (clock, interval): (Clock, Span),
    channel: &Arc<Channel>,
) -> Result<(), TrialError> {
    let channel = Arc::clone(channel);
    sampler::start(clock, false, interval, sockets, move |(flow, sample): Looked| {
        let (flow, sample) = (flow.map(|flow| flow.to_string()), Box::new(sample));
        let _ = channel.say(&GuestReport::Sampled { flow, sample });
    })?;
    Ok(())
}

/// Does what the world outside says, in a thread of its own.
fn obey(end: Endpoint, shared: &Arc<TrialState>, channel: &Arc<Channel>) -> Result<(), TrialError> {
    let (shared, channel) = (Arc::clone(shared), Arc::clone(channel));
    let other = end.other();
    threads::start("the thread that hears orders", move || {
        while let Ok(order) = channel.hear() {
            match order {
                GuestOrder::Start | GuestOrder::Listening => {}
                GuestOrder::Rest => {
                    shared.rest();
                    shared.end_load();
                }
                GuestOrder::RunOut => {
                    shared.run_out();
                }
                GuestOrder::Accepted(nth) => {
                    shared.flows.iter().for_each(|it| it.heard_accepted(nth));
                }
                GuestOrder::Ended { nth, was_connected } => {
                    shared.flows.iter().for_each(|it| it.heard_ended(other, nth, was_connected));
                }
            }
        }
    })?;
    Ok(())
}

fn left_by(outcome: &Outcome) -> GuestOutcome {
    GuestOutcome {
        report: outcome.report.clone(),
        connections: outcome.connections.clone(),
        record: outcome.record.clone(),
        device_drops: outcome.device_drops,
        load: outcome.load.clone(),
        served: outcome.served,
    }
}
