//! A connection that has graphs on the page.

use tcplab_findings::Finding;
use tcplab_trace::{Connection, PacketBytes};

/// A connection to be shown with its graphs.
#[derive(Debug, Clone, Copy)]
pub struct ShownConnection<'a> {
    /// Its place in the trace, from 0.
    pub index: usize,
    /// With its packets.
    pub connection: &'a Connection,
    /// What was found out about it.
    pub findings: &'a [Finding],
    /// The packets that the page opens as bytes, those of [`page_frames`](super::page_frames);
    /// none where the capture cannot be read again.
    pub packets: &'a [PacketBytes],
}

/// The id of a connection on the page.
pub(super) fn anchor(index: usize) -> String {
    format!("connection-{index}")
}
