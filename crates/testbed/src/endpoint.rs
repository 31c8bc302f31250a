//! The two endpoints: the kernel's TCP, driven by the workload's applications.

use std::fs;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddrV4, TcpListener, TcpStream};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender};

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType};
use tcplab_recording::{AppLog, Endpoint, EndpointRecord};
use tcplab_scenario::{Case, EndpointSpec};
use tcplab_workload::{
    AppReport, Application, Role, SocketOptions, SocketRole, Want, WorkloadSpec,
};

use crate::clock::Clock;
use crate::options::OptionSheet;
use crate::{TrialError, sys, sysctl};

/// Where the server listens; the namespace is new, so any port is free.
const PORT: u16 = 5001;
/// How many connections may wait where the scenario does not say.
const BACKLOG: u32 = 16;
/// What one read asks for at most.
const READ_SIZE: usize = 256 * 1024;

/// What both endpoints and the watch over them share.
pub(crate) struct Shared {
    client: EndpointSpec,
    server: EndpointSpec,
    workload: WorkloadSpec,
    seed: u64,
    received: AtomicU64,
}

impl Shared {
    pub(crate) fn new(case: &Case, seed: u64) -> Shared {
        Shared {
            client: case.client.clone(),
            server: case.server.clone(),
            workload: case.workload.clone(),
            seed,
            received: AtomicU64::new(0),
        }
    }

    pub(crate) fn endpoint(&self, end: Endpoint) -> &EndpointSpec {
        match end {
            Endpoint::Client => &self.client,
            Endpoint::Server => &self.server,
        }
    }

    /// Payload bytes that have arrived.
    pub(crate) fn received(&self) -> u64 {
        self.received.load(Ordering::Relaxed)
    }

    /// Whether what arrived is what was sent.
    pub(crate) fn verify(&self, app: &AppLog) -> Result<(), TrialError> {
        let (sender, receiver) = match app.client.role {
            Role::Sender => (&app.client, &app.server),
            Role::Receiver => (&app.server, &app.client),
        };
        let whole = sender.bytes == self.workload.amount();
        if whole && sender.bytes == receiver.bytes && sender.digest == receiver.digest {
            return Ok(());
        }
        Err(TrialError::Corrupted {
            sent: sender.bytes.as_u64(),
            received: receiver.bytes.as_u64(),
        })
    }
}

/// What an endpoint leaves.
pub(crate) struct Outcome {
    pub(crate) report: AppReport,
    pub(crate) record: EndpointRecord,
    /// Frames that its device dropped before the bridge could read them.
    pub(crate) device_drops: u64,
}

/// An endpoint with its socket open, the server's listening already.
pub(crate) struct Prepared<'a> {
    end: Endpoint,
    addresses: [Ipv4Addr; 2],
    shared: &'a Shared,
    socket: OwnedFd,
    options: OptionSheet,
}

impl Prepared<'_> {
    /// Opens the endpoint's socket in the calling thread's namespace, which is set up.
    pub(crate) fn new(
        end: Endpoint,
        addresses: [Ipv4Addr; 2],
        shared: &Shared,
    ) -> Result<Prepared<'_>, TrialError> {
        let call = |call| {
            move |e: Errno| TrialError::Application { endpoint: end.name(), call, source: e.into() }
        };
        let asked = &shared.endpoint(end).socket;
        let (socket, mut options) = open(asked, end)?;
        if end == Endpoint::Server {
            rustix::net::bind(&socket, &server(addresses)).map_err(call("bind"))?;
            let backlog = asked.backlog().unwrap_or(BACKLOG).try_into().unwrap_or(i32::MAX);
            rustix::net::listen(&socket, backlog).map_err(call("listen"))?;
            options.connected(socket.as_fd())?;
        }
        Ok(Prepared { end, addresses, shared, socket, options })
    }

    /// Runs the endpoint as soon as `start` says so; its socket is handed to `sockets` for
    /// sampling.
    pub(crate) fn run(
        self,
        start: &Receiver<Clock>,
        sockets: Sender<(Endpoint, OwnedFd)>,
    ) -> Result<Outcome, TrialError> {
        let Prepared { end, addresses, shared, socket, mut options } = self;
        let call =
            |call| move |source| TrialError::Application { endpoint: end.name(), call, source };
        let role = match end {
            Endpoint::Client => shared.workload.client_role(),
            Endpoint::Server => shared.workload.server_role(),
        };
        let mut application = Application::new(role, &shared.workload, shared.seed);
        // An application that reads late holds back acknowledgements (`__tcp_ack_snd_check` waits
        // for it where the window cannot grow): what others do on this machine must not look like
        // TCP. Where this is not allowed, it reads when it can.
        let _ = sys::run_before_others();
        let Ok(clock) = start.recv() else { return Err(TrialError::Stopped) };
        let mut listener = Vec::new();
        let stream = if end == Endpoint::Server {
            let listener_socket = TcpListener::from(socket);
            let (stream, _) = listener_socket.accept().map_err(call("accept"))?;
            listener = options.records(listener_socket.as_fd());
            let accepted = &shared.endpoint(end).accepted;
            options = OptionSheet::accepted(stream.as_fd(), accepted, &options)?;
            application.start(clock.now());
            stream
        } else {
            application.start(clock.now());
            rustix::net::connect(&socket, &server(addresses))
                .map_err(|e| call("connect")(e.into()))?;
            options.connected(socket.as_fd())?;
            TcpStream::from(socket)
        };
        let duplicate =
            stream.as_fd().try_clone_to_owned().map_err(call("duplicate its socket"))?;
        let _ = sockets.send((end, duplicate));
        drive(&stream, &mut application, clock, shared).map_err(|(name, e)| call(name)(e))?;
        let options = options.records(stream.as_fd());
        // When both ends have let go of theirs, the sampler ends.
        drop(sockets);
        Ok(Outcome {
            report: application.report(),
            record: EndpointRecord {
                address: addresses[end as usize].to_string(),
                options,
                listener,
                sysctls: sysctl::in_force(),
            },
            device_drops: device_drops(),
        })
    }
}

fn server(addresses: [Ipv4Addr; 2]) -> SocketAddrV4 {
    SocketAddrV4::new(addresses[Endpoint::Server as usize], PORT)
}

fn open(asked: &SocketOptions, end: Endpoint) -> Result<(OwnedFd, OptionSheet), TrialError> {
    let socket = rustix::net::socket_with(
        AddressFamily::INET,
        SocketType::STREAM,
        SocketFlags::CLOEXEC,
        None,
    )
    .map_err(|e| TrialError::setup("open a socket")(e.into()))?;
    let role = match end {
        Endpoint::Client => SocketRole::Client,
        Endpoint::Server => SocketRole::Listener,
    };
    let options = OptionSheet::set(socket.as_fd(), asked, role)?;
    Ok((socket, options))
}

/// Does what the application wants until it wants no more.
fn drive(
    mut stream: &TcpStream,
    application: &mut Application,
    clock: Clock,
    shared: &Shared,
) -> Result<(), (&'static str, io::Error)> {
    let mut buffer = vec![0; READ_SIZE];
    loop {
        match application.want() {
            Want::Write(bytes) => match stream.write(bytes) {
                Ok(count) => application.wrote(count, clock.now()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(("write", error)),
            },
            Want::ShutDown => {
                stream.shutdown(Shutdown::Write).map_err(|e| ("shut down", e))?;
                application.shut_down(clock.now());
            }
            Want::Read => match stream.read(&mut buffer) {
                Ok(0) => application.end_of_stream(clock.now()),
                Ok(count) => {
                    application.received(&buffer[..count], clock.now());
                    shared.received.fetch_add(count as u64, Ordering::Relaxed);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(("read", error)),
            },
            Want::Close => {
                // The sampler holds the socket too, so dropping it here would not close it.
                return match stream.shutdown(Shutdown::Write) {
                    Err(error) if error.kind() != io::ErrorKind::NotConnected => {
                        Err(("close", error))
                    }
                    _ => Ok(()),
                };
            }
        }
    }
}

/// Frames dropped on the way out of the calling thread's namespace, from `/proc/net/dev`.
pub(crate) fn device_drops() -> u64 {
    let table = fs::read_to_string("/proc/thread-self/net/dev").unwrap_or_default();
    transmit_drops(&table, |name| name != "lo")
}

/// The sum of the column "transmit drop" over some interfaces.
pub(crate) fn transmit_drops(table: &str, counts: impl Fn(&str) -> bool) -> u64 {
    const TRANSMIT_DROP: usize = 11;
    table
        .lines()
        .filter_map(|line| line.split_once(':'))
        .filter(|(name, _)| counts(name.trim()))
        .filter_map(|(_, counters)| {
            counters.split_whitespace().nth(TRANSMIT_DROP)?.parse::<u64>().ok()
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drops_are_read_from_the_kernels_table() {
        let table = "\
Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo:       0       0    0    9    0     0          0         0        0       0    0    9    0     0       0          0
tcplab0:   100       2    0    7    0     0          0         0      200       3    0    5    0     0       0          0
";
        assert_eq!(transmit_drops(table, |name| name != "lo"), 5);
        assert_eq!(transmit_drops(table, |name| name == "lo"), 9);
    }
}
