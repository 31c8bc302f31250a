//! The kinds of graphs, and their common settings.

use tcplab_units::Span;

use super::writer::Page;
use crate::round_trips::RttKind;

/// What a graph shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum XplGraph {
    /// `a2b_tsg.xpl`: sequence numbers over time.
    TimeSequence,
    /// `a2b_tput.xpl`: throughput over ten data segments each or a span, and since the start.
    Throughput,
    /// `a2b_rtt.xpl`: RTTs, by default of data sent once.
    RoundTrips,
    /// `a2b_owin.xpl`: data in flight, also less SACKed data, and the advertised window.
    Outstanding,
    /// `a2b_ssize.xpl`: bytes of each data segment, and their mean since the start.
    SegmentSizes,
    /// `a2b_rttseq.xpl`: the same RTTs by sequence number. Not tcptrace's.
    RoundTripsBySequence,
}

impl XplGraph {
    /// All of them.
    pub const ALL: [XplGraph; 6] = [
        XplGraph::TimeSequence,
        XplGraph::Throughput,
        XplGraph::RoundTrips,
        XplGraph::Outstanding,
        XplGraph::SegmentSizes,
        XplGraph::RoundTripsBySequence,
    ];

    /// As in its file name: `tsg`, `tput`, `rtt`, `owin`, `ssize`, `rttseq`.
    pub fn name(self) -> &'static str {
        match self {
            XplGraph::TimeSequence => "tsg",
            XplGraph::Throughput => "tput",
            XplGraph::RoundTrips => "rtt",
            XplGraph::Outstanding => "owin",
            XplGraph::SegmentSizes => "ssize",
            XplGraph::RoundTripsBySequence => "rttseq",
        }
    }
    pub(super) fn title(self) -> &'static str {
        match self {
            XplGraph::TimeSequence => "time sequence graph",
            XplGraph::Throughput => "throughput",
            XplGraph::RoundTrips => "rtt samples",
            XplGraph::Outstanding => "outstanding data",
            XplGraph::SegmentSizes => "segment size graph",
            XplGraph::RoundTripsBySequence => "rtt samples by sequence number",
        }
    }
    pub(super) fn unit(self) -> &'static str {
        match self {
            XplGraph::TimeSequence => "sequence offset",
            XplGraph::Throughput => "thruput (bytes/sec)",
            XplGraph::RoundTrips | XplGraph::RoundTripsBySequence => "rtt (ms)",
            XplGraph::Outstanding => "Outstanding Data (bytes)",
            XplGraph::SegmentSizes => "segment size (bytes)",
        }
    }
}

/// Settings of all graphs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Axes {
    /// By [`XplGraph`].
    pub(super) graphs: [bool; XplGraph::ALL.len()],
    /// The RTT samples to draw, by [`RttKind`].
    pub(super) samples: [bool; RttKind::ALL.len()],
    /// Throughput is averaged over this; without, as tcptrace does.
    pub(super) average: Option<Span>,
    /// Of both axes, where time is across.
    pub(super) types: &'static str,
    pub(super) epoch: u64,
}

impl Axes {
    pub(super) fn has(self, graph: XplGraph) -> bool {
        self.graphs[graph as usize]
    }

    pub(super) fn has_samples(self, kind: RttKind) -> bool {
        self.samples[kind as usize]
    }

    pub(super) fn page(self, kind: XplGraph) -> Page {
        if kind == XplGraph::RoundTripsBySequence {
            return Page::new("double double", "sequence offset", kind.unit());
        }
        let time = if self.types.starts_with("dtime") { "relative time" } else { "time" };
        Page::new(self.types, time, kind.unit())
    }
}
