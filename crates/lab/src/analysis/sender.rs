//! Which end of a trial sends the payload.

use tcplab_recording::AppLog;
use tcplab_trace::{Connection, Flow};
use tcplab_units::Endpoint;
use tcplab_workload::Role;

/// Which end sends the payload.
pub(crate) fn sending_end(app: &AppLog) -> Endpoint {
    match app.client.role {
        Role::Sender => Endpoint::Client,
        Role::Receiver => Endpoint::Server,
    }
}

/// The direction of the payload.
pub(crate) fn flow_of(connection: &Connection, sending_end: Endpoint) -> &Flow {
    match sending_end {
        Endpoint::Client => &connection.forward,
        Endpoint::Server => &connection.reverse,
    }
}
