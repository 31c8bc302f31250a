//! The two endpoints: the kernel's sockets, driven by the workload's applications.

use std::collections::BTreeMap;
use std::fs;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType};
use tcplab_recording::{AppLog, EndpointRecord, OptionRecord};
use tcplab_scenario::EndpointSpec;
use tcplab_units::{Bytes, Endpoint, Instant};
use tcplab_workload::{
    Absent, AppReport, Application, Connections, DatagramApplication, Datagrams, LoadReport,
    PayloadMismatch, ServerReport, SocketOptions, SocketRole, WorkloadSpec, verify,
};

use crate::calls::Caller;
use crate::clock::Clock;
use crate::datagrams::Exchange;
use crate::flows::{Flows, Listeners, Station};
use crate::launch::TrialRequest;
use crate::load::{Clients, ServerProcess};
use crate::options::OptionSheet;
use crate::sampler::Sampled;
use crate::watched::Watched;
use crate::{TrialError, sys, sysctl};

/// Where the server listens; the namespace is new, so any port is free.
const PORT: u16 = 5001;
/// How many connections may wait where the scenario does not say.
pub(crate) const BACKLOG: u32 = 16;

/// What both endpoints and the watch over them share.
pub(crate) struct Shared {
    client: EndpointSpec,
    server: EndpointSpec,
    workload: WorkloadSpec,
    /// Where there are several flows.
    flows: Option<Flows>,
    seed: u64,
    received: AtomicU64,
    /// The client could not connect.
    is_lost: AtomicBool,
    /// The client is done, and nothing is on the path any more.
    is_at_rest: AtomicBool,
    /// The trial's time.
    limit: Instant,
    /// It is over, and so is what is still waited for.
    is_over: AtomicBool,
    /// The sockets of connections, as long as they are not closed.
    open: Mutex<Vec<Sampled>>,
    /// Why the server of a load cannot be had.
    impossible: OnceLock<String>,
    /// Where the recording is made.
    directory: PathBuf,
}

impl Shared {
    pub(crate) fn new(request: &TrialRequest) -> Shared {
        let TrialRequest { case, seed, directory, .. } = request;
        Shared {
            client: case.client.clone(),
            server: case.server.clone(),
            workload: case.workload.clone(),
            flows: Flows::of(case, *seed),
            seed: *seed,
            received: AtomicU64::new(0),
            is_lost: AtomicBool::new(false),
            is_at_rest: AtomicBool::new(false),
            limit: Instant::ZERO + case.limits.trial,
            is_over: AtomicBool::new(false),
            open: Mutex::new(Vec::new()),
            impossible: OnceLock::new(),
            directory: directory.clone(),
        }
    }

    pub(crate) fn endpoint(&self, end: Endpoint) -> &EndpointSpec {
        match end {
            Endpoint::Client => &self.client,
            Endpoint::Server => &self.server,
        }
    }

    pub(crate) fn workload(&self) -> &WorkloadSpec {
        &self.workload
    }

    /// The flows, where there are several.
    pub(crate) fn flows(&self) -> Option<&Flows> {
        self.flows.as_ref()
    }

    pub(crate) fn seed(&self) -> u64 {
        self.seed
    }

    /// Payload bytes that have arrived.
    pub(crate) fn received(&self) -> u64 {
        self.received.load(Ordering::Relaxed)
    }

    pub(crate) fn add_received(&self, count: u64) {
        self.received.fetch_add(count, Ordering::Relaxed);
    }

    /// Why the server of a load cannot be had, if that is known.
    pub(crate) fn impossible(&self) -> Option<&str> {
        self.impossible.get().map(String::as_str)
    }

    /// The server of a load cannot be had.
    pub(crate) fn is_impossible(&self, why: String) {
        let _ = self.impossible.set(why);
    }

    /// Whether the client has failed to connect, or is done, so that nobody is to be waited for.
    pub(crate) fn is_lost(&self) -> bool {
        self.is_lost.load(Ordering::Relaxed)
    }

    pub(crate) fn lost_if(&self, is_lost: bool) {
        self.is_lost.fetch_or(is_lost, Ordering::Relaxed);
    }

    /// Whether no datagram can come any more.
    pub(crate) fn is_at_rest(&self) -> bool {
        self.is_at_rest.load(Ordering::Relaxed)
    }

    pub(crate) fn rest(&self) {
        self.is_at_rest.store(true, Ordering::Relaxed);
    }

    /// When the trial's time is over.
    pub(crate) fn limit(&self) -> Instant {
        self.limit
    }

    /// Whether that is something to be told: where calls may fail.
    pub(crate) fn may_run_out(&self) -> bool {
        self.flows.as_ref().map_or_else(|| self.workload.may_fail(), Flows::may_run_out)
    }

    /// Whether it is, for whoever waits.
    pub(crate) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::SeqCst)
    }

    /// The trial's time is over: whoever waits in a call that may fail returns, unless it is
    /// `close`. Whether there may be such calls at all.
    pub(crate) fn run_out(&self) -> bool {
        if !self.may_run_out() {
            return false;
        }
        self.is_over.store(true, Ordering::SeqCst);
        self.open().iter().for_each(Sampled::wake);
        true
    }

    pub(crate) fn open(&self) -> MutexGuard<'_, Vec<Sampled>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether what arrived is what was sent.
    pub(crate) fn verify(&self, app: &AppLog) -> Result<(), TrialError> {
        let verified = match &self.flows {
            Some(flows) => flows.verify(app),
            None => verify(&self.workload, self.seed, &app.client, &app.server),
        };
        verified.map_err(|PayloadMismatch { sent, received }| TrialError::PayloadMismatch {
            sent: sent.as_u64(),
            received: received.as_u64(),
        })
    }
}

/// What an endpoint leaves.
pub(crate) struct Outcome {
    pub(crate) report: AppReport,
    /// Of several flows, what the application of each connection did, by the client's port.
    pub(crate) flows: BTreeMap<u16, AppReport>,
    pub(crate) record: EndpointRecord,
    /// A listening socket that nobody has connected to, open until the trial is over.
    pub(crate) _socket: Option<OwnedFd>,
    /// Frames that its device dropped before the bridge could read them.
    pub(crate) device_drops: u64,
    /// What the clients of a load say of it.
    pub(crate) load: Option<LoadReport>,
    /// What its server says.
    pub(crate) served: Option<ServerReport>,
}

/// An endpoint with its socket open, the server's listening already.
pub(crate) struct Prepared<'a> {
    end: Endpoint,
    addresses: [Ipv4Addr; 2],
    shared: &'a Shared,
    work: Work,
}

/// What an endpoint has ready.
enum Work {
    /// A socket, the server's listening.
    Socket(OwnedFd, OptionSheet),
    /// Several flows, at the server with its sockets.
    Flows(Option<Listeners>),
    /// A server of some design.
    Server(ServerProcess),
    /// Its clients.
    Clients(Clients),
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
        if let Some(load) = &shared.workload.load {
            let address = server(addresses);
            let work = match end {
                Endpoint::Client => Work::Clients(Clients::new(load, address)),
                Endpoint::Server => {
                    let (backlog, directory) = (asked.backlog(), &shared.directory);
                    Work::Server(ServerProcess::start(load, backlog, address, directory)?)
                }
            };
            return Ok(Prepared { end, addresses, shared, work });
        }
        if let Some(flows) = &shared.flows {
            let listens = end == Endpoint::Server;
            let listeners = listens.then(|| Listeners::open(flows, addresses[1])).transpose()?;
            return Ok(Prepared { end, addresses, shared, work: Work::Flows(listeners) });
        }
        let kind = match shared.workload.datagrams {
            Some(_) => SocketType::DGRAM,
            None => SocketType::STREAM,
        };
        let (socket, mut options) = open(asked, end, kind)?;
        let absent = shared.workload.absent();
        if end == Endpoint::Server && absent != Some(Absent::Closed) {
            if absent == Some(Absent::Silent) {
                sys::swallow_everything(socket.as_fd())
                    .map_err(TrialError::setup("make the server deaf"))?;
            }
            rustix::net::bind(&socket, &server(addresses)).map_err(call("bind"))?;
            if kind == SocketType::STREAM {
                let backlog = asked.backlog().unwrap_or(BACKLOG).try_into().unwrap_or(i32::MAX);
                rustix::net::listen(&socket, backlog).map_err(call("listen"))?;
            }
            options.connected(socket.as_fd())?;
        }
        Ok(Prepared { end, addresses, shared, work: Work::Socket(socket, options) })
    }

    /// Runs the endpoint as soon as `start` says so; its socket is handed to `sockets` for
    /// sampling.
    pub(crate) fn run(
        self,
        start: &Receiver<Clock>,
        sockets: Sender<(Endpoint, Sampled)>,
    ) -> Result<Outcome, TrialError> {
        let Prepared { end, addresses, shared, work } = self;
        let (socket, options) = match work {
            Work::Socket(socket, options) => (socket, options),
            Work::Flows(listeners) => {
                return flow(end, addresses, shared, start, sockets, listeners.as_ref());
            }
            load => return loaded(end, addresses, shared, start, load),
        };
        // An application that reads late holds back acknowledgements (`__tcp_ack_snd_check` waits
        // for it where the window cannot grow): what others do on this machine must not look like
        // TCP. Where this is not allowed, it reads when it can.
        let _ = sys::run_before_others();
        let Ok(clock) = start.recv() else { return Err(TrialError::Stopped) };
        let site = Site { end, shared, clock, server: server(addresses) };
        let ran = match (&shared.workload.datagrams, shared.workload.connections) {
            (Some(datagrams), _) => {
                // There is nothing to be sampled.
                drop(sockets);
                site.exchange(datagrams, socket, &options)?
            }
            (None, Some(many)) => site.run_many(many, &socket, &options, &sockets)?,
            (None, None) => site.run_one(socket, options, Some(sockets))?,
        };
        let Ran { report, records, listener, socket } = ran;
        let record = record(end, addresses);
        let record = EndpointRecord { options: records, listener, ..record };
        let (load, served, device_drops) = (None, None, device_drops());
        let flows = BTreeMap::new();
        Ok(Outcome { report, flows, record, _socket: socket, device_drops, load, served })
    }
}

/// Runs an end of several flows.
fn flow(
    end: Endpoint,
    addresses: [Ipv4Addr; 2],
    shared: &Shared,
    start: &Receiver<Clock>,
    sockets: Sender<(Endpoint, Sampled)>,
    listeners: Option<&Listeners>,
) -> Result<Outcome, TrialError> {
    let _ = sys::run_before_others();
    let (Ok(clock), Some(flows)) = (start.recv(), shared.flows()) else {
        return Err(TrialError::Stopped);
    };
    let ran = Mutex::default();
    let station = Station { end, addresses, shared, flows, clock, sockets, ran };
    let (ran, flows) = match listeners {
        None => station.connect_all()?,
        Some(listeners) => station.accept_all(listeners)?,
    };
    let Ran { report, records, listener, socket } = ran;
    let record = EndpointRecord { options: records, listener, ..record(end, addresses) };
    let (load, served, device_drops) = (None, None, device_drops());
    Ok(Outcome { report, flows, record, _socket: socket, device_drops, load, served })
}

fn record(end: Endpoint, addresses: [Ipv4Addr; 2]) -> EndpointRecord {
    EndpointRecord {
        address: addresses[end as usize].to_string(),
        sysctls: sysctl::in_force(),
        ..EndpointRecord::default()
    }
}

/// Runs an end of a load.
fn loaded(
    end: Endpoint,
    addresses: [Ipv4Addr; 2],
    shared: &Shared,
    start: &Receiver<Clock>,
    work: Work,
) -> Result<Outcome, TrialError> {
    let Ok(clock) = start.recv() else { return Err(TrialError::Stopped) };
    let started = Some(clock.now());
    let (load, served) = match work {
        Work::Clients(clients) => {
            let load = clients.run(shared);
            // Its server waits for that.
            shared.lost_if(true);
            (Some(load?), None)
        }
        Work::Server(server) => (None, server.run(shared)?),
        Work::Socket(..) | Work::Flows(_) => unreachable!("it is no load"),
    };
    let received = load.as_ref().map(|it| (it.bytes, it.requests));
    let sent = served.map(|it| (it.sent, it.requests));
    let (bytes, calls) = received.or(sent).unwrap_or_default();
    let finished = Some(clock.now());
    let nothing = Application::new(end, &shared.workload, shared.seed).report();
    let report = AppReport { bytes: Bytes::new(bytes), calls, started, finished, ..nothing };
    let (record, device_drops) = (record(end, addresses), device_drops());
    let flows = BTreeMap::new();
    Ok(Outcome { report, flows, record, _socket: None, device_drops, load, served })
}

/// Where the connections of an endpoint are, all alike.
struct Site<'a> {
    end: Endpoint,
    shared: &'a Shared,
    clock: Clock,
    server: SocketAddrV4,
}

/// What a connection leaves at an endpoint.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) report: AppReport,
    pub(crate) records: Vec<OptionRecord>,
    pub(crate) listener: Vec<OptionRecord>,
    pub(crate) socket: Option<OwnedFd>,
}

impl Site<'_> {
    /// No connection: a socket of datagrams.
    fn exchange(
        &self,
        datagrams: &Datagrams,
        socket: OwnedFd,
        options: &OptionSheet,
    ) -> Result<Ran, TrialError> {
        let Site { end, shared, clock, server } = *self;
        let application = DatagramApplication::new(end, datagrams, shared.seed);
        let records = options.records(socket.as_fd());
        let socket = Some(socket);
        let before = Clock::processor();
        let mut exchange = Exchange { application, shared, clock, server, socket, peer: server };
        exchange.drive()?;
        let (records, listener) = match end {
            Endpoint::Client => (records, Vec::new()),
            Endpoint::Server => (Vec::new(), records),
        };
        let Exchange { application, socket, .. } = exchange;
        let processor = Some(Clock::processor().saturating_sub(before));
        let report = AppReport { processor, ..application.report() };
        Ok(Ran { report, records, listener, socket })
    }

    /// One connection, whose socket, or the listening one, is open.
    fn run_one(
        &self,
        socket: OwnedFd,
        options: OptionSheet,
        sockets: Option<Sender<(Endpoint, Sampled)>>,
    ) -> Result<Ran, TrialError> {
        let Site { end, shared, clock, server } = *self;
        let application = Application::new(end, &shared.workload, shared.seed);
        let accepted = &shared.endpoint(end).accepted;
        let watched = Watched::of_flow((end, shared), accepted, sockets, None, options);
        let (socket, arrived, buffer) = (Some(socket), None, Vec::new());
        let mut caller =
            Caller { application, shared, clock, server, socket, arrived, watched, buffer };
        // A server that is not there does nothing.
        if shared.workload.connect.is_none() || end == Endpoint::Client {
            caller.drive()?;
        }
        let Caller { application, watched, socket, .. } = caller;
        Ok(watched.left(application.report(), socket))
    }

    /// All of them, several at once, each from a thread of its own; the first is sampled.
    fn run_many(
        &self,
        many: Connections,
        first: &OwnedFd,
        options: &OptionSheet,
        sockets: &Sender<(Endpoint, Sampled)>,
    ) -> Result<Ran, TrialError> {
        let next = AtomicU64::new(0);
        let ran = Mutex::new(Vec::new());
        let work = || -> Result<(), TrialError> {
            let _ = sys::run_before_others();
            loop {
                let nth = next.fetch_add(1, Ordering::Relaxed);
                if nth >= many.total {
                    return Ok(());
                }
                let (socket, options) = match self.end {
                    Endpoint::Client => {
                        let asked = &self.shared.endpoint(self.end).socket;
                        open(asked, self.end, SocketType::STREAM)?
                    }
                    Endpoint::Server => {
                        let duplicate = first.try_clone();
                        let again = TrialError::setup("listen in another thread");
                        (duplicate.map_err(again)?, options.clone())
                    }
                };
                let watched = (nth == 0).then(|| sockets.clone());
                let one = self.run_one(socket, options, watched)?;
                // Nobody comes any more.
                if one.report.started.is_none() {
                    return Ok(());
                }
                ran.lock().unwrap_or_else(PoisonError::into_inner).push((nth, one));
                if self.shared.is_over() {
                    return Ok(());
                }
            }
        };
        let worked: Result<Vec<()>, TrialError> = thread::scope(|scope| {
            let workers: Vec<_> = (0..many.at_once).map(|_| scope.spawn(work)).collect();
            let ended = |worker: thread::ScopedJoinHandle<'_, _>| {
                worker.join().unwrap_or_else(|_| Err(crate::serve::panicked()))
            };
            workers.into_iter().map(ended).collect()
        });
        // Whoever is still waited for does not come.
        self.shared.lost_if(self.end == Endpoint::Client);
        worked?;
        let mut all = ran.into_inner().unwrap_or_else(PoisonError::into_inner);
        all.sort_by_key(|(nth, _)| *nth);
        let mut all: Vec<Ran> = all.into_iter().map(|(_, one)| one).collect();
        let reports = all.iter().map(|one| one.report.clone()).collect();
        let report = AppReport::of_all(reports).ok_or_else(crate::serve::panicked)?;
        Ok(Ran { report, socket: None, ..all.swap_remove(0) })
    }
}

fn server(addresses: [Ipv4Addr; 2]) -> SocketAddrV4 {
    SocketAddrV4::new(addresses[Endpoint::Server as usize], PORT)
}

pub(crate) fn open(
    asked: &SocketOptions,
    end: Endpoint,
    kind: SocketType,
) -> Result<(OwnedFd, OptionSheet), TrialError> {
    let socket = rustix::net::socket_with(AddressFamily::INET, kind, SocketFlags::CLOEXEC, None)
        .map_err(|e| TrialError::setup("open a socket")(e.into()))?;
    let role = match end {
        Endpoint::Client => SocketRole::Client,
        Endpoint::Server => SocketRole::Listener,
    };
    let options = OptionSheet::set(socket.as_fd(), asked, role)?;
    Ok((socket, options))
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
