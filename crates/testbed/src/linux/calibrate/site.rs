//! An end of the path to be measured: a namespace with a device, and what sends and sees probes.

use std::net::{Ipv4Addr, SocketAddrV4, TcpListener, UdpSocket};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::Duration;

use rustix::net::{AddressFamily, SocketFlags, SocketType, sockopt};

use super::capture_point::CapturePoint;
use crate::addresses::ADDRESSES;
use crate::device::{Device, DeviceEnd};
use crate::device_kind::DeviceKind;
use crate::interface_counters::device_drops;
use crate::{TrialError, namespace, sys, sysctl, threads};

/// Where probes come from and go to.
pub(super) const PROBE_PORT: u16 = 5002;
/// Where the connection goes that finds the ceiling.
const BLAST_PORT: u16 = 5003;
/// What a connection may have on its way: so much that the bridge always has something to read, so
/// little that it never waits for long, whoever is slow.
const WINDOW: usize = 512 << 10;
/// No call of the blast waits for longer.
const CALL: Duration = Duration::from_secs(2);

/// One end. Its namespace lives as long as this.
pub(super) struct CalibrationEnd {
    pub(super) device: Device,
    pub(super) sockets: Sockets,
    ask_drops: Sender<Sender<u64>>,
}

/// Made in the namespace, used from any thread.
pub(super) struct Sockets {
    /// Sends probes to the other end; what it receives is not read.
    pub(super) probes: UdpSocket,
    /// Sees what arrives.
    pub(super) tap: CapturePoint,
    /// An end of the connection that finds the ceiling.
    pub(super) stream: Stream,
}

pub(super) enum Stream {
    /// Of the client: to be connected.
    Connects(OwnedFd, SocketAddrV4),
    /// Of the server.
    Accepts(TcpListener),
}

impl CalibrationEnd {
    /// The client's (0) or the server's (1), with the device's other end in the calling thread's
    /// namespace.
    pub(super) fn new(index: usize, kind: DeviceKind) -> Result<CalibrationEnd, TrialError> {
        let bridge = namespace::current()?;
        let (device_sender, device) = mpsc::channel::<DeviceEnd>();
        let (ready, sockets) = mpsc::channel();
        let (ask_drops, asked) = mpsc::channel::<Sender<u64>>();
        let thread = threads::start("an end's thread", move || -> Result<(), TrialError> {
            namespace::isolate_thread()?;
            sysctl::keep_quiet();
            let device = Device::create(kind, ADDRESSES[index], bridge.as_fd())?;
            let _ = device_sender.send(device);
            Device::await_carrier(kind)?;
            let made = Sockets::open(index).map_err(TrialError::setup("open the probes' sockets"));
            let _ = ready.send(made?);
            answer(&asked);
            Ok(())
        })?;
        let Ok(device) = device.recv() else { return Err(TrialError::of_thread(thread)) };
        let device = device.open()?;
        match sockets.recv() {
            Ok(sockets) => Ok(CalibrationEnd { device, sockets, ask_drops }),
            Err(_) => Err(TrialError::of_thread(thread)),
        }
    }

    /// Frames that were dropped on their way out of the namespace, since its beginning.
    pub(super) fn device_drops(&self) -> u64 {
        let (reply, answer) = mpsc::channel();
        let _ = self.ask_drops.send(reply);
        answer.recv().unwrap_or_default()
    }
}

/// The kernel shows a namespace's counters to threads in it only.
fn answer(asked: &Receiver<Sender<u64>>) {
    for reply in asked {
        let _ = reply.send(device_drops());
    }
}

impl Sockets {
    fn open(index: usize) -> std::io::Result<Sockets> {
        let own: Ipv4Addr = ADDRESSES[index];
        let other = ADDRESSES[1 - index];
        let probes = UdpSocket::bind((own, PROBE_PORT))?;
        probes.connect((other, PROBE_PORT))?;
        // Without a checksum a damaged probe still arrives, and can be recognised.
        sys::set_option(probes.as_fd(), libc::SOL_SOCKET, libc::SO_NO_CHECK, 1)?;
        // ECT(0), RFC 3168 section 5: it may be marked.
        sys::set_option(probes.as_fd(), libc::IPPROTO_IP, libc::IP_TOS, 2)?;
        // The tap sees all; what piles up here is of no use.
        sys::set_option(probes.as_fd(), libc::SOL_SOCKET, libc::SO_RCVBUF, 1)?;
        let stream = rustix::net::socket_with(
            AddressFamily::INET,
            SocketType::STREAM,
            SocketFlags::CLOEXEC,
            None,
        )?;
        sockopt::set_socket_recv_buffer_size(&stream, WINDOW)?;
        // In every kernel; and unlike others it never holds back on an idle path.
        sockopt::set_tcp_congestion(&stream, "reno")?;
        for way in [sockopt::Timeout::Send, sockopt::Timeout::Recv] {
            sockopt::set_socket_timeout(&stream, way, Some(CALL))?;
        }
        let to = SocketAddrV4::new(ADDRESSES[1], BLAST_PORT);
        let stream = if index == 0 {
            Stream::Connects(stream, to)
        } else {
            rustix::net::bind(&stream, &to)?;
            rustix::net::listen(&stream, 1)?;
            Stream::Accepts(stream.into())
        };
        let tap = CapturePoint::open()?;
        Ok(Sockets { probes, tap, stream })
    }
}
