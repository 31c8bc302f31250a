//! A connection that has graphs on the page.

use tcplab_findings::Finding;
use tcplab_plot::RttKind;
use tcplab_trace::{Connection, PacketBytes};
use tcplab_units::Span;

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

/// What the graphs of a capture show until the reader chooses otherwise.
#[derive(Debug, Clone)]
pub struct GraphChoice {
    /// The RTT samples that are not hidden.
    pub rtt: Vec<RttKind>,
    /// Over which span throughput is averaged, from [`GraphChoice::SHORTEST_AVERAGE`] to
    /// [`GraphChoice::LONGEST_AVERAGE`]; by default a part of the connection's time.
    pub average: Option<Span>,
}

impl GraphChoice {
    /// A page of seconds has at most some millions of steps.
    pub const SHORTEST_AVERAGE: Span = Span::from_millis(1);
    /// An hour.
    pub const LONGEST_AVERAGE: Span = Span::from_secs(3_600);
}

impl Default for GraphChoice {
    fn default() -> GraphChoice {
        GraphChoice { rtt: vec![RttKind::Once], average: None }
    }
}
