//! The two ends of the path: a thread each, in the network namespace of that end.

use std::fs;
use std::io;
use std::net::Ipv4Addr;
use std::os::fd::{AsFd, OwnedFd};
use std::process::Command;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::JoinHandle;

use netlink_packet_route::route::RouteMetric;
use rustix::process::Pid;

use super::sockets::Sockets;
use super::subnet::Block;
use crate::device::{self, Attachment, Device, DeviceEnd};
use crate::netlink::{Netlink, Route, Way};
use crate::process::belongs_to_caller;
use crate::sock_diag::Lister;
use crate::{DeviceKind, TrialError, namespace, sysctl, threads};

/// The place in the order of routes of those that only say that there is no way: last.
const LAST: u32 = 4096;

/// What both ends have in common.
#[derive(Debug, Clone)]
pub(super) struct Common {
    pub(super) kind: DeviceKind,
    pub(super) mtu: u32,
    /// The congestion control of programs that ask for none.
    pub(super) congestion: Option<String>,
    /// Whether somebody looks at the sockets.
    pub(super) is_watched: bool,
}

/// Where an end is.
pub(super) enum EndPosition {
    /// In a namespace of its own, where the command runs.
    Near(Block),
    /// In another.
    Far(Block),
    /// In one that was there before, with what the shell in whose near end it is may give away;
    /// none where it is no shell's.
    Joined(OwnedFd, Option<Block>),
}

/// An end that is set up. Its namespace, if it has one of its own, lives as long as this, or as
/// long as a process is in it.
pub(super) struct End {
    /// Both are there until it is dropped.
    orders: Option<Sender<Order>>,
    thread: Option<JoinHandle<Result<(), TrialError>>>,
    /// Taken by the one who moves the frames.
    pub(super) device: Option<Device>,
    pub(super) name: String,
    pub(super) block: Block,
    pub(super) sockets: Sockets,
    /// Taken by the one who looks at the sockets.
    pub(super) lister: Option<Lister>,
}

/// A program to start, and the channel for the result.
type Order = (Command, Sender<io::Result<Pid>>);

/// An end's device, from its thread.
struct Made {
    device: DeviceEnd,
    name: String,
    block: Block,
    sockets: Sockets,
    lister: Option<Lister>,
}

impl End {
    /// Sets an end up. To be called in the namespace of the one who moves the frames.
    pub(super) fn set_up(place: EndPosition, common: Common) -> Result<End, TrialError> {
        let bridge = namespace::current()?;
        let (made_sender, made) = mpsc::channel();
        let (ready_sender, ready) = mpsc::channel();
        let (orders, incoming) = mpsc::channel();
        let thread = threads::start("an end's thread", move || {
            let made = make(place, &common, &bridge)?;
            let (name, block, routes) = (made.0.name.clone(), made.0.block, made.1);
            let _ = made_sender.send(made.0);
            Device::await_carrier_of(common.kind, &name)?;
            route(&name, block, routes, common.congestion.as_deref())?;
            let _ = ready_sender.send(());
            follow(&incoming);
            if routes == Routes::Joined && common.kind == DeviceKind::PacketSocket {
                // With the namespace of its other end it would go as well, but some time after
                // (`cleanup_net`), and who looks at once would find it.
                take_away(&name);
            }
            Ok(())
        })?;
        let Ok(Made { device, name, block, sockets, lister }) = made.recv() else {
            return Err(TrialError::of_thread(thread));
        };
        let device = Some(device.open()?);
        match ready.recv() {
            Ok(()) => {
                let (orders, thread) = (Some(orders), Some(thread));
                Ok(End { orders, thread, device, name, block, sockets, lister })
            }
            Err(_) => Err(TrialError::of_thread(thread)),
        }
    }

    /// Starts a program at this end, which is killed when this process ends, however it does.
    pub(super) fn start(&self, mut command: Command) -> io::Result<Pid> {
        belongs_to_caller(&mut command);
        let (reply, started) = mpsc::channel();
        if let Some(orders) = &self.orders {
            let _ = orders.send((command, reply));
        }
        started.recv().unwrap_or_else(|_| Err(io::Error::other("the end of the path is gone")))
    }
}

impl Drop for End {
    fn drop(&mut self) {
        self.orders.take();
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

fn take_away(name: &str) {
    if let Ok(index) = device::interface_index(name)
        && let Ok(mut netlink) = Netlink::open()
    {
        // It may be gone already.
        let _ = netlink.delete(index);
    }
}

/// Starts the ordered programs, from a thread that lives until the last order: the kernel
/// takes its end for that of the programs' parent.
fn follow(orders: &Receiver<Order>) {
    for (mut command, reply) in orders {
        // It is waited for by its number, with all other children.
        let started = command.spawn().map(|child| Pid::from_child(&child));
        let _ = reply.send(started);
    }
}

/// Which routes an end gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Routes {
    Near,
    Far,
    Joined,
}

fn make(
    place: EndPosition,
    common: &Common,
    bridge: &OwnedFd,
) -> Result<(Made, Routes), TrialError> {
    let attach = |name: String, address: Ipv4Addr| {
        let attachment = Attachment { name, address, mtu: common.mtu };
        Device::create_as(common.kind, &attachment, bridge.as_fd())
    };
    let sockets = Sockets::here();
    // Where the kernel lists none, none are shown.
    let list = || common.is_watched.then(|| Lister::here().ok()).flatten();
    match place {
        EndPosition::Near(block) | EndPosition::Far(block) => {
            namespace::isolate_thread()?;
            sysctl::keep_quiet();
            device::take_loopback_up()?;
            let index = usize::from(matches!(place, EndPosition::Far(_)));
            let device = attach(device::NAME.into(), block.ends()[index])?;
            // Shells inside this one send through here, and what leads nowhere is answered. Where
            // `/proc/sys` is read-only, neither is.
            let _ = fs::write("/proc/sys/net/ipv4/ip_forward", "1");
            let name = device::NAME.into();
            let routes = if index == 0 { Routes::Near } else { Routes::Far };
            let lister = list();
            Ok((Made { device, name, block, sockets, lister }, routes))
        }
        EndPosition::Joined(host, inside) => {
            namespace::enter_thread(host.as_fd())
                .map_err(TrialError::setup("enter the network that it joins"))?;
            if inside.is_some() {
                forwards()?;
            }
            for block in inside.unwrap_or(Block::WHOLE).parts() {
                let name = format!("tcplab{}", block.number());
                match attach(name.clone(), block.ends()[1]) {
                    Ok(device) => {
                        let lister = list();
                        let made = Made { device, name, block, sockets, lister };
                        return Ok((made, Routes::Joined));
                    }
                    Err(TrialError::Setup { source, .. }) if is_taken(&source) => {}
                    Err(error) => return Err(error),
                }
            }
            Err(TrialError::reported(
                "all addresses that this network has for shells are taken",
                "end some of the shells in it, or use --no-join",
            ))
        }
    }
}

/// The name of the device belongs to a shell beside this one.
fn is_taken(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EBUSY | libc::EEXIST))
}

/// What is sent from inside a shell inside this one must get through.
fn forwards() -> Result<(), TrialError> {
    match fs::read_to_string("/proc/sys/net/ipv4/ip_forward") {
        Ok(text) if text.trim() == "0" => Err(TrialError::reported(
            "the shell around this one does not forward packets, because it could not write \
             /proc/sys/net/ipv4/ip_forward",
            "use --no-join",
        )),
        _ => Ok(()),
    }
}

fn route(
    name: &str,
    block: Block,
    routes: Routes,
    congestion: Option<&str>,
) -> Result<(), TrialError> {
    let out = device::interface_index(name)?;
    let [near, far] = block.ends();
    let everywhere = (Ipv4Addr::UNSPECIFIED, 0);
    let metrics: Vec<RouteMetric> =
        congestion.map(|name| RouteMetric::CcAlgo(name.into())).into_iter().collect();
    let through = |destination, gateway| {
        let way = Way::Gateway { out, gateway };
        Route { destination, way, priority: 0, metrics: metrics.clone() }
    };
    let nowhere =
        |destination| Route { destination, way: Way::Nowhere, priority: LAST, metrics: Vec::new() };
    // With its address, an end has got a route to its own network.
    let source = if routes == Routes::Near { near } else { far };
    let own = Route { way: Way::Link { out, source }, ..through(block.network(), source) };
    let routes = match routes {
        // What could be a shell inside, and is none, must not go back and forth.
        Routes::Near => vec![through(everywhere, far), nowhere(block.prefix())],
        Routes::Far => vec![through(Block::WHOLE.prefix(), near), nowhere(everywhere)],
        // A single network is reached without.
        Routes::Joined if block.prefix().1 == 24 => Vec::new(),
        Routes::Joined => vec![through(block.prefix(), near)],
    };
    let mut netlink = Netlink::open().map_err(TrialError::setup("open a netlink socket"))?;
    for route in congestion.map(|_| own).into_iter().chain(routes) {
        netlink.add_route(&route).map_err(|error| refusal(&route, error))?;
    }
    Ok(())
}

fn refusal(route: &Route, error: io::Error) -> TrialError {
    match &route.metrics[..] {
        // What it says of a name that it does not know (`ip_metrics_convert`).
        [RouteMetric::CcAlgo(name)] if error.raw_os_error() == Some(libc::EINVAL) => {
            sysctl::no_congestion_control(name)
        }
        _ => {
            let (network, prefix_len) = route.destination;
            TrialError::setup(format!("add a route to {network}/{prefix_len}"))(error)
        }
    }
}
