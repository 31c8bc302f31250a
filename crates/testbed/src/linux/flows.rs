//! The TCP flows of a trial, as both ends see them.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, OnceLock};

use tcplab_recording::{ConnectionLog, FlowLog};
use tcplab_scenario::{Case, EndpointSpec, Flow, PlannedConnection};
use tcplab_units::{Endpoint, Span};
use tcplab_workload::{AppReport, Application, Medium, PayloadMismatch, verify_flow};

/// Once both applications are done, the path must be empty for this long: the last ACK counts.
pub(crate) const QUIET: Span = Span::from_millis(50);

/// What happens to a connection at one end, by its number in the plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FlowEvent {
    /// The server has accepted it.
    Accepted(usize),
    /// This end is done with it.
    Ended { nth: usize, was_connected: bool },
}

/// The flows of a trial, their connections, and how far these are.
#[derive(Debug)]
pub(crate) struct Flows {
    list: Vec<Flow>,
    names: Vec<Arc<str>>,
    /// Client and server of each flow.
    ends: Vec<[EndpointSpec; 2]>,
    /// Index of the first flow that is not in the background.
    subject: usize,
    planned: Vec<PlannedConnection>,
    /// The next connection that waits for a place, at the client and at the server.
    waiting: [AtomicUsize; 2],
    /// By connection: its client is done and has never been connected.
    never_connected: Vec<AtomicBool>,
    /// Clients that the trial waits for and that are not done.
    clients: AtomicU64,
    /// Servers that have accepted such a client and are not done.
    servers: AtomicU64,
    /// A connection failed that must not.
    has_failed: AtomicBool,
    /// Takes what happens at this end, if the other end is on another machine.
    observer: OnceLock<Sender<FlowEvent>>,
    /// The time between the end of the last awaited connection and that of the background flows:
    /// the rest of its close crosses the path twice.
    farewell: Span,
}

impl Flows {
    /// Those of a case; none if it has no connections of its own: datagrams, a load, or what is
    /// not TCP.
    pub(crate) fn of(case: &Case, seed: u64) -> Option<Flows> {
        let workload = &case.workload;
        if workload.datagrams.is_some()
            || workload.load.is_some()
            || !workload.through.has_packets()
        {
            return None;
        }
        let flows = case.all_flows().into_owned();
        let planned = case.connections(seed);
        let awaited = planned.iter().filter(|it| !flows[it.flow].spec.background).count() as u64;
        let timed = planned.iter().filter(|it| it.start.is_some()).count();
        Some(Flows {
            names: flows.iter().map(|flow| flow.name.as_str().into()).collect(),
            ends: flows.iter().map(|flow| case.ends_of(flow)).collect(),
            subject: flows.iter().position(|flow| !flow.spec.background)?,
            waiting: [timed, timed].map(AtomicUsize::new),
            never_connected: planned.iter().map(|_| AtomicBool::new(false)).collect(),
            clients: AtomicU64::new(awaited),
            servers: AtomicU64::new(0),
            has_failed: AtomicBool::new(false),
            observer: OnceLock::new(),
            farewell: QUIET + case.round_trip() * 2,
            list: flows,
            planned,
        })
    }

    /// All connections, in the order in which they begin.
    pub(crate) fn planned(&self) -> &[PlannedConnection] {
        &self.planned
    }

    /// An endpoint as each flow has it, in the order of the flows.
    pub(crate) fn specs(&self, end: Endpoint) -> impl Iterator<Item = &EndpointSpec> {
        self.ends.iter().map(move |ends| &ends[end as usize])
    }

    /// What the connections of a flow go through.
    pub(crate) fn medium(&self, flow: usize) -> Medium {
        let own = self.planned.iter().find(|it| it.flow == flow);
        own.map_or(Medium::Tcp, |it| it.workload.through)
    }

    /// An endpoint as the flow of a connection has it.
    pub(crate) fn spec(&self, planned: &PlannedConnection, end: Endpoint) -> &EndpointSpec {
        &self.ends[planned.flow][end as usize]
    }

    /// The first connection of the flow that the trial is about.
    pub(crate) fn main_connection(&self) -> Option<&PlannedConnection> {
        self.planned.iter().find(|it| it.flow == self.subject)
    }

    /// Whether the sockets of a connection are sampled: those of the first of each flow.
    pub(crate) fn is_sampled(&self, planned: &PlannedConnection) -> bool {
        let first = self.planned.iter().find(|it| it.flow == planned.flow);
        first.is_some_and(|first| first.ports == planned.ports)
    }

    /// The flow whose samples have a file of their own; none of the flow that the trial is about.
    pub(crate) fn samples_name(&self, planned: &PlannedConnection) -> Option<Arc<str>> {
        (planned.flow != self.subject).then(|| Arc::clone(&self.names[planned.flow]))
    }

    /// The next connection that an end begins in the place of one that is over.
    pub(crate) fn next_waiting(&self, end: Endpoint) -> Option<usize> {
        let next = self.waiting[end as usize].fetch_add(1, Ordering::Relaxed);
        (next < self.planned.len()).then_some(next)
    }

    /// From now on `observer` takes what happens at this end; only the first call counts.
    pub(crate) fn report_to(&self, observer: Sender<FlowEvent>) {
        let _ = self.observer.set(observer);
    }

    /// The server has accepted a connection.
    pub(crate) fn accepted(&self, planned: &PlannedConnection) {
        if let Some(nth) = self.planned.iter().position(|it| it.ports == planned.ports) {
            self.observed(FlowEvent::Accepted(nth));
            self.heard_accepted(nth);
        }
    }

    /// The server, on another machine, has accepted a connection.
    pub(crate) fn heard_accepted(&self, nth: usize) {
        if let Some(planned) = self.planned.get(nth) {
            self.servers.fetch_add(self.awaited(planned), Ordering::SeqCst);
        }
    }

    /// An end is done with a connection; whether it was ever connected.
    pub(crate) fn ended(&self, end: Endpoint, nth: usize, was_connected: bool) {
        self.observed(FlowEvent::Ended { nth, was_connected });
        self.heard_ended(end, nth, was_connected);
    }

    fn observed(&self, event: FlowEvent) {
        if let Some(observer) = self.observer.get() {
            let _ = observer.send(event);
        }
    }

    /// An end, perhaps on another machine, is done with a connection.
    pub(crate) fn heard_ended(&self, end: Endpoint, nth: usize, was_connected: bool) {
        if nth >= self.planned.len() {
            return;
        }
        let awaited = self.awaited(&self.planned[nth]);
        match end {
            Endpoint::Client => {
                self.never_connected[nth].store(!was_connected, Ordering::SeqCst);
                self.clients.fetch_sub(awaited, Ordering::SeqCst);
            }
            Endpoint::Server if was_connected => {
                self.servers.fetch_sub(awaited, Ordering::SeqCst);
            }
            Endpoint::Server => {}
        }
    }

    /// Whether the client of a connection has given up.
    pub(crate) fn has_no_client(&self, nth: usize) -> bool {
        self.never_connected[nth].load(Ordering::SeqCst)
    }

    /// A connection failed that must not.
    pub(crate) fn fail(&self) {
        self.has_failed.store(true, Ordering::SeqCst);
    }

    pub(crate) fn has_failed(&self) -> bool {
        self.has_failed.load(Ordering::SeqCst)
    }

    /// Whether all connections are done that the trial waits for.
    pub(crate) fn are_done(&self) -> bool {
        self.clients.load(Ordering::SeqCst) == 0 && self.servers.load(Ordering::SeqCst) == 0
    }

    /// How long after that the trial is over, if others go on in the background.
    pub(crate) fn farewell(&self) -> Option<Span> {
        let goes_on = self.planned.iter().any(|it| self.is_background(it));
        (goes_on && self.are_done()).then_some(self.farewell)
    }

    /// Whether calls that still wait may be ended when the time is over: those in the background
    /// always, the others if they may fail.
    pub(crate) fn may_run_out(&self) -> bool {
        let mut awaited = self.planned.iter().filter(|it| !self.is_background(it));
        self.are_done() || self.has_failed() || awaited.all(|it| it.workload.may_fail())
    }

    fn is_background(&self, planned: &PlannedConnection) -> bool {
        self.list[planned.flow].spec.background
    }

    fn awaited(&self, planned: &PlannedConnection) -> u64 {
        u64::from(!self.is_background(planned))
    }

    /// What the applications of both ends did, flow by flow.
    pub(crate) fn logs(&self, [client, server]: [&BTreeMap<u16, AppReport>; 2]) -> Vec<FlowLog> {
        let log = |it: &PlannedConnection| {
            let client = client.get(&it.ports[0])?.clone();
            let server = server.get(&it.ports[0]).cloned().unwrap_or_else(|| {
                Application::new(Endpoint::Server, &it.workload, it.payload_seed).report()
            });
            let start = it.start.unwrap_or_default();
            Some(ConnectionLog { ports: it.ports, start, client, server })
        };
        let flows = self.list.iter().enumerate().map(|(index, flow)| FlowLog {
            name: flow.name.clone(),
            background: flow.spec.background,
            connections: self
                .planned
                .iter()
                .filter(|it| it.flow == index)
                .filter_map(log)
                .collect(),
        });
        flows.collect()
    }

    /// Whether what arrived is what was sent, connection by connection.
    ///
    /// # Errors
    /// When it is not.
    pub(crate) fn verify(&self, flows: &[FlowLog]) -> Result<(), PayloadMismatch> {
        for log in flows.iter().flat_map(|flow| &flow.connections) {
            let Some(planned) = self.planned.iter().find(|it| it.ports == log.ports) else {
                continue;
            };
            let (seed, stopped) = (planned.payload_seed, planned.stops.is_some());
            verify_flow(&planned.workload, seed, stopped, [&log.client, &log.server])?;
        }
        Ok(())
    }
}
