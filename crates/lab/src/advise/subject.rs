//! The transfer that a case of a run is about, by itself.

use tcplab_path::{PathSpec, PortDelay};
use tcplab_scenario::{Case, PlannedConnection};
use tcplab_units::{Bytes, Endpoint};

use super::ends::Ends;

/// The transfer that a case of a run is about: of its first flow that is not in the background.
#[derive(Debug, Clone, PartialEq)]
pub struct Subject {
    /// The path as it is for this transfer alone: between ends as far apart.
    pub path: PathSpec,
    /// Who sends more.
    pub sender: Endpoint,
    /// Both ends, with the flow's options.
    pub ends: Ends,
    /// What it carries; none where a rule says what is sent.
    pub amount: Option<Bytes>,
}

impl Subject {
    /// That of a case; none of a case that has no connection.
    pub fn of(case: &Case) -> Option<Subject> {
        let flows = case.all_flows();
        let nth = flows.iter().position(|flow| !flow.spec.background)?;
        let connection = case.connections(1).into_iter().find(|it| it.flow == nth)?;
        let sender = connection.workload.sending_side();
        let [client, server] = case.ends_of(&flows[nth]);
        let whole = if case.flows.is_empty() { &case.workload } else { &connection.workload };
        let amount = flows[nth].spec.traffic.is_none().then(|| whole.amount());
        let [_, port] = PlannedConnection::FIRST_PORTS;
        let delay = case.path.delay_between_ports(connection.ports);
        let port_delay = (!delay.is_zero()).then(|| vec![PortDelay { port, delay }]);
        Some(Subject {
            path: PathSpec { port_delay, ..case.path.clone() },
            sender,
            ends: Ends { client, server },
            amount: amount.filter(|amount| *amount > Bytes::ZERO),
        })
    }
}
