//! An endpoint, from its open sockets to what it leaves.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender};

use tcplab_recording::EndpointRecord;
use tcplab_scenario::PlannedConnection;
use tcplab_units::{Bytes, Endpoint, Instant};
use tcplab_workload::{
    Absent, AppReport, Application, Datagrams, LoadReport, LoadSpec, ServerReport,
};

use super::connections::EndConnections;
use super::datagrams::Exchange;
use super::listener::Listener;
use super::socket::{self, OpenSocket};
use crate::clock::Clock;
use crate::flows::Flows;
use crate::interface_counters::device_drops;
use crate::load::{Clients, ServerProcess};
use crate::options::OptionSheet;
use crate::sampler::Sampled;
use crate::trial_state::TrialState;
use crate::{TrialError, module, route, sys, sysctl};

/// What an endpoint leaves.
pub(crate) struct Outcome {
    /// What the application did, or that of the main connection.
    pub(crate) report: AppReport,
    /// What the application of each connection did, by the client's port.
    pub(crate) connections: BTreeMap<u16, AppReport>,
    pub(crate) record: EndpointRecord,
    /// Unclosed and listening sockets: open until the trial is over.
    _open: (Option<OwnedFd>, Vec<Listener>),
    /// Frames that its device dropped before the bridge could read them.
    pub(crate) device_drops: u64,
    /// What the clients of a load say of it.
    pub(crate) load: Option<LoadReport>,
    /// What its server says.
    pub(crate) served: Option<ServerReport>,
}

impl Outcome {
    /// Of an application without connections, sockets and namespace.
    pub(crate) fn of(report: AppReport, record: EndpointRecord) -> Outcome {
        Outcome {
            report,
            connections: BTreeMap::new(),
            record,
            _open: (None, Vec::new()),
            device_drops: 0,
            load: None,
            served: None,
        }
    }
}

/// An endpoint with its sockets open, the server's listening already.
pub(crate) struct Prepared<'a> {
    end: Endpoint,
    addresses: [Ipv4Addr; 2],
    shared: &'a TrialState,
    work: Work<'a>,
}

/// What an endpoint has ready.
enum Work<'a> {
    /// TCP flows: at the server with its listening sockets, at the client with the socket of the
    /// first connection, if that begins at once.
    Connections(&'a Flows, Vec<Listener>, Option<OpenSocket>),
    /// A socket of datagrams.
    Datagrams(&'a Datagrams, OwnedFd, OptionSheet),
    /// A server of some design.
    Server(ServerProcess),
    /// Its clients.
    Clients(Clients),
}

impl Prepared<'_> {
    /// Opens the endpoint's sockets in the calling thread's namespace, which is set up.
    pub(crate) fn new(
        end: Endpoint,
        addresses: [Ipv4Addr; 2],
        shared: &TrialState,
    ) -> Result<Prepared<'_>, TrialError> {
        let workload = &shared.workload;
        let work = if let Some(load) = &workload.load {
            load_work(end, load, server(addresses), shared)?
        } else if let Some(datagrams) = &workload.datagrams {
            let (socket, options) = datagram_socket(end, server(addresses), shared)?;
            Work::Datagrams(datagrams, socket, options)
        } else {
            let flows = shared.flows.as_ref().ok_or(TrialError::Stopped)?;
            let first = flows.planned().first().filter(|it| it.start == Some(Instant::ZERO));
            match (end, first) {
                (Endpoint::Client, None) => Work::Connections(flows, Vec::new(), None),
                (Endpoint::Client, Some(first)) => {
                    let asked = &flows.spec(first, end).socket;
                    let socket = socket::open_stream(asked, end, first.workload.through)?;
                    Work::Connections(flows, Vec::new(), Some(socket))
                }
                (Endpoint::Server, _) => {
                    let listeners = Listener::open_all(flows, addresses[1], workload.absent())?;
                    Work::Connections(flows, listeners, None)
                }
            }
        };
        Ok(Prepared { end, addresses, shared, work })
    }

    /// Runs the endpoint as soon as `start` says so; its sockets are handed to `sockets` for
    /// sampling.
    pub(crate) fn run(
        self,
        start: &Receiver<Clock>,
        sockets: Sender<(Endpoint, Sampled)>,
    ) -> Result<Outcome, TrialError> {
        let Prepared { end, addresses, shared, work } = self;
        if matches!(work, Work::Connections(..) | Work::Datagrams(..)) {
            // The applications run soon after their packets came.
            let _ = sys::run_before_others();
        }
        let Ok(clock) = start.recv() else { return Err(TrialError::Stopped) };
        let spec = shared.endpoint(end);
        let record = EndpointRecord {
            address: addresses[end as usize].to_string(),
            sysctls: sysctl::in_force(),
            modules: module::in_force(&spec.module),
            route: route::in_force(&spec.route, addresses[end.other() as usize])?,
            ..EndpointRecord::default()
        };
        let outcome = match work {
            Work::Connections(flows, listeners, first) => {
                let (first, outcomes) = (Mutex::new(first), Mutex::default());
                let all = EndConnections {
                    end,
                    addresses,
                    shared,
                    flows,
                    listeners: &listeners,
                    first,
                    clock,
                    sockets,
                    outcomes,
                };
                let (main, connections) = all.run()?;
                let (options, listener) = (main.records, main.listener);
                let record = EndpointRecord { options, listener, ..record };
                let open = (main.socket, listeners);
                Outcome { connections, _open: open, ..Outcome::of(main.report, record) }
            }
            Work::Datagrams(datagrams, socket, options) => {
                // There is nothing to be sampled.
                drop(sockets);
                let (report, socket, options) = Exchange::run(
                    (end, shared),
                    datagrams,
                    clock,
                    server(addresses),
                    socket,
                    &options,
                )?;
                let record = match end {
                    Endpoint::Client => EndpointRecord { options, ..record },
                    Endpoint::Server => EndpointRecord { listener: options, ..record },
                };
                Outcome { _open: (socket, Vec::new()), ..Outcome::of(report, record) }
            }
            load => run_load(end, shared, clock, load, record)?,
        };
        Ok(Outcome { device_drops: device_drops(), ..outcome })
    }
}

/// A socket of datagrams, the server's bound to its port.
fn datagram_socket(
    end: Endpoint,
    server: SocketAddrV4,
    shared: &TrialState,
) -> Result<(OwnedFd, OptionSheet), TrialError> {
    let (socket, mut options) = socket::open_datagram(&shared.endpoint(end).socket, end)?;
    let absent = shared.workload.absent();
    if end == Endpoint::Server && absent != Some(Absent::Closed) {
        if absent == Some(Absent::Silent) {
            sys::swallow_everything(socket.as_fd())
                .map_err(TrialError::setup("make the server deaf"))?;
        }
        rustix::net::bind(&socket, &server).map_err(|errno| socket::failed(end, "bind", errno))?;
        options.connected(socket.as_fd())?;
    }
    Ok((socket, options))
}

/// An end of a load: its server's process, or its clients.
fn load_work<'a>(
    end: Endpoint,
    load: &LoadSpec,
    server: SocketAddrV4,
    shared: &TrialState,
) -> Result<Work<'a>, TrialError> {
    Ok(match end {
        Endpoint::Client => Work::Clients(Clients::new(load, server)),
        Endpoint::Server => {
            let backlog = shared.endpoint(end).socket.backlog();
            Work::Server(ServerProcess::start(load, backlog, server, &shared.directory)?)
        }
    })
}

/// Runs an end of a load.
fn run_load(
    end: Endpoint,
    shared: &TrialState,
    clock: Clock,
    work: Work<'_>,
    record: EndpointRecord,
) -> Result<Outcome, TrialError> {
    let started = Some(clock.now());
    let (load, served) = match work {
        Work::Clients(clients) => {
            let load = clients.run(shared, clock);
            shared.end_load();
            (Some(load?), None)
        }
        Work::Server(server) => (None, server.run(shared)?),
        Work::Connections(..) | Work::Datagrams(..) => unreachable!("it is no load"),
    };
    let received = load.as_ref().map(|it| (it.bytes, it.requests));
    let sent = served.map(|it| (it.sent, it.requests));
    let (bytes, calls) = received.or(sent).unwrap_or_default();
    let finished = Some(clock.now());
    let nothing = Application::new(end, &shared.workload, shared.seed).report();
    let report = AppReport { bytes: Bytes::new(bytes), calls, started, finished, ..nothing };
    Ok(Outcome { load, served, ..Outcome::of(report, record) })
}

/// Where the server of what has no flows is.
fn server(addresses: [Ipv4Addr; 2]) -> SocketAddrV4 {
    let address = addresses[Endpoint::Server as usize];
    SocketAddrV4::new(address, PlannedConnection::server_port(0))
}
