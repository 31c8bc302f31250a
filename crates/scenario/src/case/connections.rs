//! The connections of a trial with several flows.

use tcplab_units::{Instant, Span};
use tcplab_workload::WorkloadSpec;

use super::{Case, EndpointSpec, Flow};

/// The server's port of the first flow, those of the others follow; the client's port of the first
/// connection, those of the others follow. Nobody else is in a trial's network, so all are free.
const PORTS: [u16; 2] = [32_768, 5_001];

/// One connection of a trial with flows, as it is planned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlowConnection {
    /// Whose it is: index into [`Case::flows`].
    pub flow: usize,
    /// Its ports, the client's and the server's. The first belongs to it alone, the second to its
    /// flow.
    pub ports: [u16; 2],
    /// When its client connects.
    pub start: Instant,
    /// When it begins no write any more.
    pub stops: Option<Instant>,
    /// What it does.
    pub workload: WorkloadSpec,
}

impl FlowConnection {
    /// The server's port of the flow with this index.
    pub fn server_port(flow: usize) -> u16 {
        PORTS[1] + flow as u16
    }

    /// The seed of what it sends, given that of its trial: each sends other bytes.
    pub fn seed(&self, trial: u64) -> u64 {
        trial.wrapping_add(u64::from(self.ports[0] - PORTS[0]))
    }
}

impl Case {
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
    pub fn connections(&self, seed: u64) -> Vec<FlowConnection> {
        let limit = self.limits.trial;
        let mut all = Vec::new();
        for (index, Flow { name, spec }) in self.flows.iter().enumerate() {
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
                    FlowConnection {
                        flow: index,
                        ports: [0, FlowConnection::server_port(index)],
                        start: begin + after,
                        stops: stops.map(|span| begin + span),
                        workload,
                    }
                }));
            }
        }
        // The sort is stable: those that begin together keep the order of the file.
        all.sort_by_key(|connection| connection.start);
        for (nth, connection) in all.iter_mut().enumerate() {
            connection.ports[0] = PORTS[0] + nth as u16;
        }
        all
    }
}
