//! A connection that has graphs on the page.

use tcplab_findings::Finding;
use tcplab_trace::Connection;

/// A connection to be shown with its graphs.
#[derive(Debug, Clone, Copy)]
pub struct ShownConnection<'a> {
    /// Its place in the trace, from 0.
    pub index: usize,
    /// With its packets.
    pub connection: &'a Connection,
    /// What was found out about it.
    pub findings: &'a [Finding],
}

/// The id of a connection on the page.
pub(super) fn anchor(index: usize) -> String {
    format!("connection-{index}")
}
