//! The connections of a trial: their hosts, and their results.

use std::borrow::Cow;
use std::collections::BTreeMap;

use tcplab_recording::{ConnectionLog, EndpointRecord, FlowLog};
use tcplab_scenario::{Case, EndpointSpec, Flow, PlannedConnection};
use tcplab_stack::congestion;
use tcplab_units::{Bytes, Endpoint, Instant};
use tcplab_workload::{AppReport, Application, PayloadMismatch, Role, SocketRole, verify_flow};

use crate::accept_queue::AcceptQueue;
use crate::error::SimError;
use crate::host::Host;
use crate::machine::Machine;
use crate::openings::Openings;
use crate::options;
use crate::packets::{ADDRESSES, Address};
use crate::settings::route_record;
use crate::upcoming::PlannedPair;

/// The flows of a case and their connections, as planned for one seed.
pub(crate) struct Connections<'a> {
    case: &'a Case,
    flows: Cow<'a, [Flow]>,
    planned: Vec<PlannedConnection>,
}

impl Connections<'_> {
    pub(crate) fn of(case: &Case, seed: u64) -> Connections<'_> {
        Connections { case, flows: case.all_flows(), planned: case.connections(seed) }
    }

    /// All connections, in the order in which they begin, which is that of the client's ports.
    pub(crate) fn planned(&self) -> &[PlannedConnection] {
        &self.planned
    }

    /// Client and server of each connection, in the order in which they begin.
    pub(crate) fn pairs(
        &self,
        application: impl Fn(Endpoint, &PlannedConnection) -> Application,
    ) -> Result<Vec<PlannedPair>, SimError> {
        let clients = self.hosts(Endpoint::Client, &application)?;
        let servers = self.hosts(Endpoint::Server, &application)?;
        let hosts = clients.into_iter().zip(servers);
        let pairs = self.planned.iter().zip(hosts);
        Ok(pairs.map(|(planned, (client, server))| (planned.start, [client, server])).collect())
    }

    /// One end of each connection, in the order in which they begin.
    pub(crate) fn hosts(
        &self,
        end: Endpoint,
        application: impl Fn(Endpoint, &PlannedConnection) -> Application,
    ) -> Result<Vec<Host>, SimError> {
        let specs: Vec<EndpointSpec> = self.flows.iter().map(|flow| self.spec(flow, end)).collect();
        let machine = machine(self.case, end)?;
        let queues: Vec<AcceptQueue> =
            specs.iter().map(|spec| AcceptQueue::new(options::backlog(spec))).collect();
        let of = |planned: &PlannedConnection| {
            let mut host = host(&specs[planned.flow], planned, end, application(end, planned))?;
            host.machine = machine.clone();
            host.queue = queues[planned.flow].clone();
            host.is_background = self.is_background(planned);
            host.absent = planned.workload.connect.filter(|_| end == Endpoint::Server);
            Ok(host)
        };
        self.planned.iter().map(of).collect()
    }

    /// The first connection of the main flow, by its number in the plan, and an endpoint as that
    /// flow has it.
    pub(crate) fn main(&self, end: Endpoint) -> Option<(usize, EndpointSpec)> {
        let subject = self.subject()?;
        let first = self.planned.iter().position(|planned| planned.flow == subject)?;
        Some((first, self.spec(&self.flows[subject], end)))
    }

    /// The client's port of the first connection of each flow, whose sockets are sampled; the
    /// samples of the subject are those of the trial, and go without the name of the flow.
    pub(crate) fn sampled(&self) -> Vec<(u16, Option<String>)> {
        let subject = self.subject();
        let of = |(index, flow): (usize, &Flow)| {
            let first = self.planned.iter().find(|planned| planned.flow == index)?;
            Some((first.ports[0], (Some(index) != subject).then(|| flow.name.clone())))
        };
        self.flows.iter().enumerate().filter_map(of).collect()
    }

    /// What the applications of each flow did, of the reports of client and server by the client's
    /// port.
    pub(crate) fn logs_of(&self, [client, server]: [&BTreeMap<u16, AppReport>; 2]) -> Vec<FlowLog> {
        let log = |planned: &PlannedConnection| {
            let client = client.get(&planned.ports[0])?.clone();
            let server = server.get(&planned.ports[0]).cloned().unwrap_or_else(|| {
                let (workload, seed) = (&planned.workload, planned.payload_seed);
                Application::new(Endpoint::Server, workload, seed).report()
            });
            let start = planned.start.unwrap_or_default();
            Some(ConnectionLog { ports: planned.ports, start, client, server })
        };
        let flows = self.flows.iter().enumerate().map(|(index, flow)| FlowLog {
            name: flow.name.clone(),
            background: flow.spec.background,
            connections: self
                .planned
                .iter()
                .filter(|planned| planned.flow == index)
                .filter_map(log)
                .collect(),
        });
        flows.collect()
    }

    /// What the applications of each flow did.
    pub(crate) fn logs(&self, pairs: &[[Host; 2]]) -> Vec<FlowLog> {
        let mut connections: BTreeMap<usize, Vec<ConnectionLog>> = BTreeMap::new();
        for (planned, [client, server]) in self.of_pairs(pairs) {
            let PlannedConnection { ports, start, .. } = *planned;
            let [client, server] = Application::reports([&client.application, &server.application]);
            let log = ConnectionLog { ports, start: start.unwrap_or_default(), client, server };
            connections.entry(planned.flow).or_default().push(log);
        }
        let log = |(index, flow): (usize, &Flow)| FlowLog {
            name: flow.name.clone(),
            background: flow.spec.background,
            connections: connections.remove(&index).unwrap_or_default(),
        };
        self.flows.iter().enumerate().map(log).collect()
    }

    /// The payload of each connection that has arrived, in its main direction.
    pub(crate) fn received<'a>(
        &'a self,
        pairs: &'a [[Host; 2]],
    ) -> impl Iterator<Item = (&'a PlannedConnection, Bytes)> {
        self.of_pairs(pairs).map(|(planned, [client, server])| {
            let [client, server] = Application::reports([&client.application, &server.application]);
            (planned, main_received([&client, &server]))
        })
    }

    /// The endpoints of the first connection of the main flow; none if it did not begin.
    pub(crate) fn records(&self, pairs: &[[Host; 2]]) -> Option<[EndpointRecord; 2]> {
        let subject = self.subject()?;
        let (_, [client, server]) =
            self.of_pairs(pairs).find(|(planned, _)| planned.flow == subject)?;
        let [client_spec, server_spec] = self.case.ends_of(&self.flows[subject]);
        Some([
            record(&client_spec, client, Endpoint::Client),
            record(&server_spec, server, Endpoint::Server),
        ])
    }

    /// Whether what arrived is what was sent, connection by connection.
    ///
    /// # Errors
    /// When it is not.
    pub(crate) fn verify(&self, flows: &[FlowLog]) -> Result<(), PayloadMismatch> {
        for log in flows.iter().flat_map(|flow| &flow.connections) {
            let planned = self.planned.iter().find(|it| it.ports == log.ports);
            let PlannedConnection { workload, payload_seed, stops, .. } =
                planned.expect("it was planned");
            verify_flow(workload, *payload_seed, stops.is_some(), [&log.client, &log.server])?;
        }
        Ok(())
    }

    /// Whether a connection that the trial waits for was to begin after its end.
    pub(crate) fn awaits_more(&self, now: Instant) -> bool {
        self.planned.iter().any(|it| it.start >= Some(now) && !self.is_background(it))
    }

    fn spec(&self, flow: &Flow, end: Endpoint) -> EndpointSpec {
        let [client, server] = self.case.ends_of(flow);
        match end {
            Endpoint::Client => client,
            Endpoint::Server => server,
        }
    }

    pub(crate) fn is_background(&self, planned: &PlannedConnection) -> bool {
        self.flows[planned.flow].spec.background
    }

    /// The flow that the trial is about.
    fn subject(&self) -> Option<usize> {
        self.flows.iter().position(|flow| !flow.spec.background)
    }

    /// The pairs with their plans; both are in the order of the client's ports.
    fn of_pairs<'p>(
        &'p self,
        pairs: &'p [[Host; 2]],
    ) -> impl Iterator<Item = (&'p PlannedConnection, &'p [Host; 2])> {
        pairs.iter().filter_map(|pair| {
            let port = pair[0].address.port;
            let at = self.planned.binary_search_by_key(&port, |planned| planned.ports[0]).ok()?;
            Some((&self.planned[at], pair))
        })
    }
}

/// The payload that has arrived, in the main direction.
pub(crate) fn main_received([client, server]: [&AppReport; 2]) -> Bytes {
    match client.role {
        Role::Sender => server.bytes,
        Role::Receiver => client.bytes,
    }
}

/// The machine of an end, which all its connections share.
fn machine(case: &Case, end: Endpoint) -> Result<Machine, SimError> {
    let config = options::config(case.end(end))
        .map_err(|source| SimError::Settings { endpoint: end.name(), source })?;
    Ok(Machine::new(&config.host))
}

/// One end of a connection, with the settings of `spec`.
fn host(
    spec: &EndpointSpec,
    planned: &PlannedConnection,
    endpoint: Endpoint,
    application: Application,
) -> Result<Host, SimError> {
    let name = endpoint.name();
    let refused = |source| SimError::Settings { endpoint: name, source };
    let config = options::config(spec).map_err(refused)?;
    let openings = Openings::new(endpoint, planned, &config);
    let openings = openings.ok_or_else(|| SimError::Congestion {
        endpoint: name,
        name: config.window.congestion.clone(),
        known: congestion::NAMES.join(", "),
    })?;
    let accepted = options::of_accepted(&config, &spec.accepted).map_err(refused)?;
    let index = endpoint as usize;
    let address = Address { ip: ADDRESSES[index], port: planned.ports[index] };
    let mut host = Host::new(endpoint, address, config, openings, application);
    host.accepted = accepted;
    host.calls.timeouts = options::timeouts(spec);
    host.calls.accept_timeout = spec.socket.receive_timeout();
    Ok(host)
}

/// How the connection of a host was set up, which is that end of it.
pub(crate) fn record(spec: &EndpointSpec, host: &Host, end: Endpoint) -> EndpointRecord {
    let role = match end {
        Endpoint::Client => SocketRole::Client,
        Endpoint::Server => SocketRole::Accepted,
    };
    let options = host.connection.as_ref().map_or_else(Vec::new, |connection| {
        options::of_connection(connection, &host.config, spec, role)
    });
    let listens = role == SocketRole::Accepted;
    let listener = listens.then(|| options::of_listener(&host.config, spec));
    EndpointRecord {
        address: host.address.ip.to_string(),
        options,
        listener: listener.unwrap_or_default(),
        sysctls: spec.sysctl.clone(),
        route: route_record(&spec.route),
        modules: BTreeMap::new(),
        pool: host.machine.record(),
    }
}
