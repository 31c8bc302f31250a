//! The transfer of a trial among its captured connections.

use tcplab_results::TrialData;
use tcplab_trace::{Connection, Flow, Trace};
use tcplab_units::{Endpoint, Instant};

/// The direction of a trial's data at both capture points.
pub(crate) struct Transfer<'a> {
    pub(crate) sender: Endpoint,
    pub(crate) at_sender: &'a Flow,
    /// The connection of that flow, and where it was captured.
    pub(crate) captured: (Endpoint, &'a Connection),
    pub(crate) at_receiver: Option<&'a Flow>,
    /// The connection's last packet.
    pub(crate) until: Instant,
}

impl<'a> Transfer<'a> {
    /// The main direction of the connection with the most data.
    pub(crate) fn of(data: &'a TrialData) -> Option<Transfer<'a>> {
        let (here, sender) = busiest(&data.client).or_else(|| busiest(&data.server))?;
        let there = |trace: &'a Trace| trace.connections.iter().find(|c| c.client == here.client);
        let flow = |connection: &'a Connection| match sender {
            Endpoint::Client => &connection.forward,
            Endpoint::Server => &connection.reverse,
        };
        let at_client = there(&data.client);
        let at_server = there(&data.server);
        let until = [at_client, at_server].into_iter().flatten().map(|c| c.last).max()?;
        let (near, far) = match sender {
            Endpoint::Client => (at_client, at_server),
            Endpoint::Server => (at_server, at_client),
        };
        let captured = match near {
            Some(connection) => (sender, connection),
            None => (sender.other(), far?),
        };
        Some(Transfer {
            sender,
            at_sender: flow(captured.1),
            captured,
            at_receiver: near.and(far).map(flow),
            until,
        })
    }

    pub(crate) fn receiver(&self) -> Endpoint {
        self.sender.other()
    }
}

fn busiest(trace: &Trace) -> Option<(&Connection, Endpoint)> {
    let size = |c: &Connection| c.forward.totals.unique + c.reverse.totals.unique;
    let connection = trace.connections.iter().max_by_key(|c| size(c))?;
    let upload = connection.forward.totals.unique >= connection.reverse.totals.unique;
    Some((connection, if upload { Endpoint::Client } else { Endpoint::Server }))
}
