//! A path between two existing interfaces: `tcplab bridge`.

use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use tcplab_recording::{Summary, Traffic};

use crate::device::Device;
use crate::mover::{End, Mover, Moving};
use crate::netlink::{Interface, Netlink};
use crate::process::Signals;
use crate::{DeviceKind, TrialError, packet_socket, sys};

/// Two interfaces to be joined by a path.
#[derive(Debug)]
pub struct BridgeRequest {
    /// The path and its recording.
    pub moving: Moving,
    /// Packets from the first go forward.
    pub interfaces: [String; 2],
    /// When to end by itself.
    pub lasting: Option<Duration>,
}

/// How often traffic is reported to the caller.
const REPORT_INTERVAL: Duration = Duration::from_secs(1);
/// How often to look whether the path still works.
const LOOK: Duration = Duration::from_millis(200);

/// How a bridge ended.
#[derive(Debug)]
pub struct BridgeEnd {
    /// What went through the path.
    pub summary: Summary,
    /// The number of the signal that ended it, if one did.
    pub signal: Option<i32>,
    /// The interface without which it could not go on: one that this network namespace no longer
    /// has.
    pub gone: Option<String>,
}

/// Passes frames from each interface to the other, through the path, until SIGINT or SIGTERM, or
/// until an interface is gone. `warn` gets what will disturb it; `watch`, once a second, the
/// traffic. What `beside` returns when the path is at work is dropped when the recording is whole.
///
/// Must be called before the process has a second thread.
///
/// # Errors
/// When an interface is not fit for it, or may not be used by this user.
pub fn bridge<B>(
    request: &BridgeRequest,
    beside: impl FnOnce() -> B,
    mut warn: impl FnMut(&str),
    mut watch: impl FnMut(&Traffic),
) -> Result<BridgeEnd, TrialError> {
    request.moving.plans()?;
    let [first, second] = &request.interfaces;
    let interfaces = [look_up(first)?, look_up(second)?];
    if interfaces[0].index == interfaces[1].index {
        return Err(refused(format!("{first} cannot be bridged with itself"), None));
    }
    let _locks = [lock(first, interfaces[0].index)?, lock(second, interfaces[1].index)?];
    let mtus = interfaces.each_ref().map(|interface| interface.mtu);
    if mtus[0] != mtus[1] {
        warn(&format!(
            "{first} takes packets of {} B and {second} of {} B: what is too large for one is lost",
            mtus[0], mtus[1]
        ));
    }
    for (name, interface) in request.interfaces.iter().zip(&interfaces) {
        if interface.is_in_bridge {
            warn(&format!("{name} is part of a bridge, which passes frames on, too"));
        }
        if packet_socket::has_address(name) {
            warn(&format!("{name} has an address: this machine answers frames that pass, too"));
        }
    }
    let signals = Signals::listen().map_err(TrialError::setup("listen for signals"))?;
    let open = |index: usize| {
        let name = request.interfaces[index].clone();
        let socket =
            packet_socket::open(interfaces[index].index).map_err(|error| denied(&name, error))?;
        Ok::<End, TrialError>(End { device: Device::of_interface(socket), name })
    };
    let ends = [open(0)?, open(1)?];
    request.moving.prepare()?;
    let mover = Mover::start(&request.moving, ends)?;
    let beside = beside();
    let started = Instant::now();
    let mut reported = started;
    let (mut signal, mut gone) = (None, None);
    while !mover.has_failed() {
        let left = request.lasting.map(|lasting| lasting.saturating_sub(started.elapsed()));
        let span = left.map_or(LOOK, |left| left.min(LOOK));
        signals.wait(Some(span)).map_err(TrialError::setup("wait"))?;
        let mut heard = std::iter::from_fn(|| signals.next()).map(|heard| heard.signal);
        signal = heard.find(|signal| *signal != Signal::CHILD).map(Signal::as_raw);
        if signal.is_some() || left.is_some_and(|left| left.is_zero()) {
            break;
        }
        if reported.elapsed() >= REPORT_INTERVAL {
            reported = Instant::now();
            watch(&mover.traffic());
            if let Some(at) = interfaces.iter().position(|interface| !is_there(interface.index)) {
                gone = Some(request.interfaces[at].clone());
                break;
            }
        }
    }
    let summary =
        mover.finish(DeviceKind::PacketSocket, |world| world.privilege = "held".into())?;
    drop(beside);
    Ok(BridgeEnd { summary, signal, gone })
}

/// Keeps other bridges from this interface: two would pass each frame twice. Names of abstract
/// sockets are those of a network namespace, as numbers of interfaces are, and the kernel frees
/// them at the end of the process, however it ends.
fn lock(name: &str, index: u32) -> Result<UnixListener, TrialError> {
    let address = SocketAddr::from_abstract_name(format!("tcplab-bridge-{index}"));
    address.and_then(|address| UnixListener::bind_addr(&address)).map_err(|error| {
        if error.kind() == std::io::ErrorKind::AddrInUse {
            let message =
                format!("another `tcplab bridge` uses {name}: both would pass each frame");
            return refused(message, Some("end that one, or name other interfaces".into()));
        }
        TrialError::setup(format!("lock {name}"))(error)
    })
}

/// Whether this network namespace has an interface of this number, which the kernel gives to no
/// other after it.
fn is_there(index: u32) -> bool {
    let asked = Netlink::open().and_then(|mut netlink| netlink.interface(index));
    !asked.is_err_and(|error| error.raw_os_error() == Some(libc::ENODEV))
}

/// What is known of an interface, if it can be bridged.
fn look_up(name: &str) -> Result<Interface, TrialError> {
    let index = sys::interface_index(name).map_err(|_| {
        refused(
            format!("there is no interface {name} in this network namespace"),
            Some("`ip link` lists those there are".into()),
        )
    })?;
    let interface = Netlink::open()
        .and_then(|mut netlink| netlink.interface(index))
        .map_err(TrialError::setup(format!("look at {name}")))?;
    if interface.is_loopback {
        return Err(refused(format!("{name} is the loopback, which leads nowhere else"), None));
    }
    if !interface.is_ethernet {
        return Err(refused(format!("{name} does not carry Ethernet frames"), None));
    }
    if !interface.is_up {
        return Err(refused(
            format!("{name} is down"),
            Some(format!("as root: `ip link set {name} up`")),
        ));
    }
    Ok(interface)
}

fn denied(name: &str, error: std::io::Error) -> TrialError {
    if error.kind() == std::io::ErrorKind::PermissionDenied {
        return refused(
            format!("taking the frames of {name} needs CAP_NET_RAW and CAP_NET_ADMIN"),
            Some("run tcplab as root; for programs of this machine use `tcplab shell`".into()),
        );
    }
    TrialError::setup(format!("open a packet socket on {name}"))(error)
}

fn refused(message: String, remedy: Option<String>) -> TrialError {
    TrialError::Reported { message, remedy }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interface_is_locked_until_the_bridge_ends() {
        // No interface has such a number.
        let (name, index) = ("veth0", u32::MAX);
        let first = lock(name, index).unwrap();
        let Err(TrialError::Reported { message, remedy }) = lock(name, index) else {
            panic!("it is locked")
        };
        assert!(message.contains("veth0") && remedy.is_some(), "{message}");
        drop(first);
        assert!(lock(name, index).is_ok());
    }
}
