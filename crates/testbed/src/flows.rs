//! Several flows at the same time: a thread for each connection at each end.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, Scope};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{SocketFlags, SocketType};
use tcplab_recording::{AppLog, ConnectionLog, FlowLog};
use tcplab_scenario::{Case, EndpointSpec, PlannedConnection};
use tcplab_units::{Endpoint, Instant, Span};
use tcplab_workload::{AppReport, Application, PayloadMismatch, verify_flow};

use crate::calls::{Caller, LOOK};
use crate::clock::Clock;
use crate::endpoint::{BACKLOG, Ran, Shared, open};
use crate::options::OptionSheet;
use crate::sampler::Sampled;
use crate::serve::QUIET;
use crate::watched::Watched;
use crate::{TrialError, sys};

/// The flows of a trial as both ends see them.
#[derive(Debug)]
pub(crate) struct Flows {
    names: Vec<Arc<str>>,
    background: Vec<bool>,
    /// Client and server of each flow.
    ends: Vec<[EndpointSpec; 2]>,
    /// Index of the first that is not in the background.
    subject: usize,
    planned: Vec<PlannedConnection>,
    /// Clients that are waited for and not done.
    clients: AtomicU64,
    /// Servers that have accepted such a client and are not done.
    servers: AtomicU64,
    /// A connection failed that must not.
    has_failed: AtomicBool,
    /// So long after the last that is waited for is done, those in the background are ended: what
    /// is left of its farewell crosses the path twice.
    farewell: Span,
}

impl Flows {
    /// Those of a case; none where it has one connection, or as many as its workload says.
    pub(crate) fn of(case: &Case, seed: u64) -> Option<Flows> {
        let subject = case.flows.iter().position(|flow| !flow.spec.background)?;
        let planned = case.connections(seed);
        let background: Vec<bool> = case.flows.iter().map(|flow| flow.spec.background).collect();
        let awaited = planned.iter().filter(|it| !background[it.flow]).count() as u64;
        Some(Flows {
            names: case.flows.iter().map(|flow| flow.name.as_str().into()).collect(),
            background,
            ends: case.flows.iter().map(|flow| case.ends_of(flow)).collect(),
            subject,
            planned,
            clients: AtomicU64::new(awaited),
            servers: AtomicU64::new(0),
            has_failed: AtomicBool::new(false),
            farewell: case
                .links()
                .map_or(QUIET, |links| QUIET + (links[0].delay() + links[1].delay()) * 2),
        })
    }

    /// Whether all is done that is waited for.
    pub(crate) fn are_done(&self) -> bool {
        self.clients.load(Ordering::SeqCst) == 0 && self.servers.load(Ordering::SeqCst) == 0
    }

    /// How long after that the trial is over, where others go on in the background.
    pub(crate) fn farewell(&self) -> Option<Span> {
        let goes_on = self.planned.iter().any(|it| self.background[it.flow]);
        (goes_on && self.are_done()).then_some(self.farewell)
    }

    /// Whether those that still wait for something may be told that the time is over: what is in
    /// the background always, the others where their calls may fail.
    pub(crate) fn may_run_out(&self) -> bool {
        let awaited = self.planned.iter().filter(|it| !self.background[it.flow]);
        self.are_done() || self.has_failed() || awaited.into_iter().all(|it| it.workload.may_fail())
    }

    fn has_failed(&self) -> bool {
        self.has_failed.load(Ordering::SeqCst)
    }

    /// What the applications of both ends did, put together.
    pub(crate) fn log(&self, [client, server]: [&BTreeMap<u16, AppReport>; 2]) -> Option<AppLog> {
        let nothing = |end: Endpoint, planned: &PlannedConnection| {
            Application::new(end, &planned.workload, planned.payload_seed).report()
        };
        let flows = self.names.iter().enumerate().map(|(index, name)| {
            let own = self.planned.iter().filter(|it| it.flow == index);
            let connections = own.filter_map(|it| {
                let port = it.ports[0];
                let client = client.get(&port)?.clone();
                let server = server.get(&port).cloned();
                let server = server.unwrap_or_else(|| nothing(Endpoint::Server, it));
                Some(ConnectionLog {
                    ports: it.ports,
                    start: it.start.unwrap_or_default(),
                    client,
                    server,
                })
            });
            FlowLog {
                name: name.to_string(),
                background: self.background[index],
                connections: connections.collect(),
            }
        });
        AppLog::of_flows(flows.collect())
    }

    /// Whether what arrived is what was sent.
    pub(crate) fn verify(&self, app: &AppLog) -> Result<(), PayloadMismatch> {
        for log in app.flows.iter().flat_map(|flow| &flow.connections) {
            let Some(planned) = self.planned.iter().find(|it| it.ports == log.ports) else {
                continue;
            };
            let (seed, stopped) = (planned.payload_seed, planned.stops.is_some());
            verify_flow(&planned.workload, seed, stopped, [&log.client, &log.server])?;
        }
        Ok(())
    }
}

/// The sockets that the server listens on, one for each flow, in the order of the flows.
pub(crate) struct Listeners(Vec<(OwnedFd, OptionSheet)>);

impl Listeners {
    /// Opens them in the calling thread's namespace.
    pub(crate) fn open(flows: &Flows, address: Ipv4Addr) -> Result<Listeners, TrialError> {
        let call = |call| {
            let endpoint = Endpoint::Server.name();
            move |e: Errno| TrialError::Application { endpoint, call, source: e.into() }
        };
        let of = |(index, [_, server]): (usize, &[EndpointSpec; 2])| {
            let (socket, mut options) = open(&server.socket, Endpoint::Server, SocketType::STREAM)?;
            // Each flow has a port of its own, even one of which no connection comes.
            let port = PlannedConnection::server_port(index);
            rustix::net::bind(&socket, &SocketAddrV4::new(address, port)).map_err(call("bind"))?;
            let own = flows.planned.iter().filter(|it| it.flow == index).count();
            let enough = u32::try_from(own).unwrap_or(u32::MAX).max(BACKLOG);
            let backlog = server.socket.backlog().unwrap_or(enough);
            rustix::net::listen(&socket, backlog.try_into().unwrap_or(i32::MAX))
                .map_err(call("listen"))?;
            options.connected(socket.as_fd())?;
            Ok((socket, options))
        };
        flows.ends.iter().enumerate().map(of).collect::<Result<_, _>>().map(Listeners)
    }
}

/// One end of all flows.
pub(crate) struct Station<'a> {
    pub(crate) end: Endpoint,
    pub(crate) addresses: [Ipv4Addr; 2],
    pub(crate) shared: &'a Shared,
    pub(crate) flows: &'a Flows,
    pub(crate) clock: Clock,
    pub(crate) sockets: Sender<(Endpoint, Sampled)>,
    /// What connections left, by the client's port.
    pub(crate) ran: Mutex<BTreeMap<u16, Result<Ran, TrialError>>>,
}

/// What an end of all flows leaves: the records of the subject's first connection, and the reports
/// of all by the client's port.
pub(crate) type Left = (Ran, BTreeMap<u16, AppReport>);

impl Station<'_> {
    /// Opens each connection at its time, until all are done.
    pub(crate) fn connect_all(self) -> Result<Left, TrialError> {
        thread::scope(|scope| {
            for (nth, planned) in self.flows.planned.iter().enumerate() {
                if !self.wait_until(planned.start.unwrap_or_default()) {
                    break;
                }
                let station = &self;
                scope.spawn(move || station.work(planned, || station.client(nth, planned)));
            }
        });
        // Whoever is still waited for does not come.
        self.shared.lost_if(true);
        self.leave()
    }

    /// Accepts each connection as it comes, until all are done.
    pub(crate) fn accept_all(self, listeners: &Listeners) -> Result<Left, TrialError> {
        thread::scope(|scope| {
            let accepted = self.accept(listeners, scope);
            if accepted.is_err() {
                self.give_up();
            }
            accepted
        })?;
        self.leave()
    }

    fn accept<'s>(
        &'s self,
        listeners: &'s Listeners,
        scope: &'s Scope<'s, '_>,
    ) -> Result<(), TrialError> {
        let failed = |call| {
            let endpoint = self.end.name();
            move |e: Errno| TrialError::Application { endpoint, call, source: e.into() }
        };
        let timeout = Timespec { tv_sec: 0, tv_nsec: LOOK.as_nanos().cast_signed() };
        let mut left = self.flows.planned.len();
        while left > 0 && !self.shared.is_over() && !self.shared.is_lost() {
            let mut asked: Vec<PollFd<'_>> =
                listeners.0.iter().map(|(socket, _)| PollFd::new(socket, PollFlags::IN)).collect();
            match poll(&mut asked, Some(&timeout)) {
                Err(Errno::INTR) => continue,
                found => found.map_err(failed("poll"))?,
            };
            for (found, (listener, options)) in asked.iter().zip(&listeners.0) {
                if !found.revents().contains(PollFlags::IN) {
                    continue;
                }
                let accepted = rustix::net::acceptfrom_with(listener, SocketFlags::CLOEXEC);
                let (socket, peer) = match accepted {
                    // It has gone again.
                    Err(Errno::CONNABORTED | Errno::INTR) => continue,
                    accepted => accepted.map_err(failed("accept"))?,
                };
                let peer = peer.and_then(|peer| SocketAddr::try_from(peer).ok());
                let port = peer.map_or(0, |peer| peer.port());
                let planned = self.flows.planned.iter().enumerate();
                let Some((nth, planned)) = planned.into_iter().find(|(_, it)| it.ports[0] == port)
                else {
                    continue;
                };
                left -= 1;
                let awaited = u64::from(!self.flows.background[planned.flow]);
                self.flows.servers.fetch_add(awaited, Ordering::SeqCst);
                scope.spawn(move || {
                    self.work(planned, || self.server(nth, planned, (listener, options), socket));
                });
            }
        }
        Ok(())
    }

    /// Waits for a connection's time; whether it is still to begin then.
    fn wait_until(&self, start: Instant) -> bool {
        sleep_while(self.clock, start, || {
            !(self.shared.is_over() || self.flows.are_done() || self.flows.has_failed())
        })
    }

    /// Does the work of a connection's thread.
    fn work(&self, planned: &PlannedConnection, work: impl FnOnce() -> Result<Ran, TrialError>) {
        let _ = sys::run_before_others();
        let ran = work();
        if ran.is_err() {
            self.give_up();
        }
        let mut all = self.ran.lock().unwrap_or_else(PoisonError::into_inner);
        all.insert(planned.ports[0], ran);
        drop(all);
        if !self.flows.background[planned.flow] {
            let left = match self.end {
                Endpoint::Client => &self.flows.clients,
                Endpoint::Server => &self.flows.servers,
            };
            left.fetch_sub(1, Ordering::SeqCst);
        }
    }

    /// Something failed that must not: nobody waits any more, at either end.
    fn give_up(&self) {
        self.flows.has_failed.store(true, Ordering::SeqCst);
        self.shared.run_out();
    }

    fn client(&self, nth: usize, planned: &PlannedConnection) -> Result<Ran, TrialError> {
        let [client, _] = &self.flows.ends[planned.flow];
        let (socket, options) = open(&client.socket, self.end, SocketType::STREAM)?;
        let own = SocketAddrV4::new(self.addresses[0], planned.ports[0]);
        rustix::net::bind(&socket, &own).map_err(|e| {
            let (endpoint, call) = (self.end.name(), "bind");
            TrialError::Application { endpoint, call, source: e.into() }
        })?;
        self.drive(nth, planned, socket, options, None)
    }

    fn server(
        &self,
        nth: usize,
        planned: &PlannedConnection,
        (listener, options): (&OwnedFd, &OptionSheet),
        accepted: OwnedFd,
    ) -> Result<Ran, TrialError> {
        let again = TrialError::setup("listen in another thread");
        let listener = listener.try_clone().map_err(again)?;
        self.drive(nth, planned, listener, options.clone(), Some(accepted))
    }

    /// Runs one connection's application until it is done.
    fn drive(
        &self,
        nth: usize,
        planned: &PlannedConnection,
        socket: OwnedFd,
        options: OptionSheet,
        arrived: Option<OwnedFd>,
    ) -> Result<Ran, TrialError> {
        let Station { end, shared, clock, flows, .. } = *self;
        let application =
            Application::new(end, &planned.workload, planned.payload_seed).stopping(planned.stops);
        // Of each flow the first is looked at; that of the subject has no name, for the samples of
        // the trial are its.
        let is_first = flows.planned.iter().position(|it| it.flow == planned.flow) == Some(nth);
        let name = (planned.flow != flows.subject).then(|| Arc::clone(&flows.names[planned.flow]));
        let watched = Watched::of_flow(
            (end, shared),
            &flows.ends[planned.flow][end as usize].accepted,
            is_first.then(|| self.sockets.clone()),
            name,
            options,
        );
        let server = SocketAddrV4::new(self.addresses[1], planned.ports[1]);
        let (socket, buffer) = (Some(socket), Vec::new());
        let mut caller =
            Caller { application, shared, clock, server, socket, arrived, watched, buffer };
        caller.drive()?;
        let Caller { application, watched, socket, .. } = caller;
        Ok(watched.left(application.report(), socket))
    }

    fn leave(self) -> Result<Left, TrialError> {
        let all = self.ran.into_inner().unwrap_or_else(PoisonError::into_inner);
        let subject = self.flows.planned.iter().find(|it| it.flow == self.flows.subject);
        let first = subject.map(|planned| planned.ports[0]);
        let mut reports = BTreeMap::new();
        let mut main = None;
        for (port, ran) in all {
            let ran = ran?;
            reports.insert(port, ran.report.clone());
            if Some(port) == first {
                main = Some(ran);
            }
        }
        let main = main.ok_or_else(|| TrialError::Reported {
            message: "no connection of the flow that the trial is about came about".into(),
            remedy: Some("look whether its calls may fail, or let it begin earlier".into()),
        })?;
        Ok((main, reports))
    }
}

/// Sleeps as long as `goes_on` says so; whether it slept to the end.
pub(crate) fn sleep_while(clock: Clock, until: Instant, goes_on: impl Fn() -> bool) -> bool {
    loop {
        if !goes_on() {
            return false;
        }
        let now = clock.now();
        if now >= until {
            return true;
        }
        clock.sleep_until(until.min(now + LOOK));
    }
}
