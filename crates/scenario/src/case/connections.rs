//! The TCP connections of a trial.

use std::borrow::Cow;

use tcplab_units::{Instant, Span};
use tcplab_workload::{Connections, WorkloadSpec};

use super::endpoint::EndpointSpec;
use super::flow::FlowSpec;
use super::{Case, Flow};

/// The client's port of the first connection, where Linux begins to give them out, and the server's
/// of the first flow; those of the others follow. A trial has its own network, so all are free.
const PORTS: [u16; 2] = [32_768, 5_001];

/// One TCP connection of a trial, as it is planned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedConnection {
    /// Its flow: index into [`Case::all_flows`].
    pub flow: usize,
    /// Its ports, the client's and the server's. The first belongs to it alone, the second to its
    /// flow.
    pub ports: [u16; 2],
    /// When its client connects; `None`: as soon as another connection is over.
    pub start: Option<Instant>,
    /// When it stops to begin writes.
    pub stops: Option<Instant>,
    /// What it does.
    pub workload: WorkloadSpec,
    /// Seeds its sequence numbers, timestamps and IP identification.
    pub seed: u64,
    /// Seeds its payload and its congestion control. The connections of a `[workload]` share it.
    pub payload_seed: u64,
}

impl PlannedConnection {
    /// The ports of the first connection of a trial whose first flow it belongs to, as of every
    /// scenario without flows.
    pub const FIRST_PORTS: [u16; 2] = PORTS;

    /// The server's port of the flow with this index.
    pub fn server_port(flow: usize) -> u16 {
        PORTS[1] + flow as u16
    }

    /// Whether clients have such ports; the others are servers'.
    pub(super) fn is_client_port(port: u16) -> bool {
        port >= PORTS[0]
    }
}

impl Case {
    /// Every TCP flow of a trial: those of the file, or the one without a name that `[workload]`
    /// describes.
    pub fn all_flows(&self) -> Cow<'_, [Flow]> {
        if self.flows.is_empty() {
            Cow::Owned(vec![Flow { name: String::new(), spec: FlowSpec::default() }])
        } else {
            Cow::Borrowed(&self.flows)
        }
    }

    /// Whose the metrics of a trial are that belong to one flow: the first that is not in the
    /// background.
    pub fn subject(&self) -> Option<&Flow> {
        self.flows.iter().find(|flow| !flow.spec.background)
    }

    /// Client and server as a flow has them.
    pub fn ends_of(&self, flow: &Flow) -> [EndpointSpec; 2] {
        [flow.spec.client.on(&self.client), flow.spec.server.on(&self.server)]
    }

    /// Every connection of a trial with this seed, in the order in which they begin.
    pub fn connections(&self, seed: u64) -> Vec<PlannedConnection> {
        let in_turn = self.workload.connections.filter(|_| self.flows.is_empty());
        let mut all = match in_turn {
            Some(connections) => self.in_turn(connections, seed),
            None => self.of_flows(seed),
        };
        // The sort is stable: those that begin together keep the order of the file. Those that wait
        // for others come last.
        all.sort_by_key(|connection| (connection.start.is_none(), connection.start));
        for (nth, connection) in all.iter_mut().enumerate() {
            connection.ports[0] = PORTS[0] + nth as u16;
            connection.seed = seed.wrapping_add(nth as u64);
            if in_turn.is_none() {
                connection.payload_seed = connection.seed;
            }
        }
        all
    }

    /// The connections of `[workload]`: some at once, the others as places become free.
    fn in_turn(&self, connections: Connections, seed: u64) -> Vec<PlannedConnection> {
        let workload = WorkloadSpec { connections: None, ..self.workload.clone() };
        let planned = |nth| PlannedConnection {
            flow: 0,
            ports: [0, PlannedConnection::server_port(0)],
            start: (nth < connections.at_once).then_some(Instant::ZERO),
            stops: None,
            workload: workload.clone(),
            seed,
            payload_seed: seed,
        };
        (0..connections.total).map(planned).collect()
    }

    fn of_flows(&self, seed: u64) -> Vec<PlannedConnection> {
        let limit = self.limits.trial;
        let mut all = Vec::new();
        for (index, Flow { name, spec }) in self.all_flows().iter().enumerate() {
            let begin = Instant::ZERO + spec.start;
            let rest = Span::from_nanos(limit.as_nanos().saturating_sub(spec.start.as_nanos()));
            let until = spec.lasting.unwrap_or(rest).min(rest);
            for nth in 0..spec.count {
                let planned = match &spec.traffic {
                    None => {
                        let workload = spec.workload.as_ref().unwrap_or(&self.workload);
                        vec![(Span::ZERO, workload.clone())]
                    }
                    Some(traffic) => {
                        traffic.connections(seed, &format!("flow {name} {nth}"), until)
                    }
                };
                let stops = spec.lasting.filter(|_| spec.traffic.is_some());
                all.extend(planned.into_iter().map(|(after, mut workload)| {
                    if spec.background {
                        workload.may_fail = Some(true);
                    }
                    PlannedConnection {
                        flow: index,
                        ports: [0, PlannedConnection::server_port(index)],
                        start: Some(begin + after),
                        stops: stops.map(|span| begin + span),
                        workload,
                        seed,
                        payload_seed: seed,
                    }
                }));
            }
        }
        all
    }
}
