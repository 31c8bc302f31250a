//! Where two transfers part, drawn.

use tcplab_plot::{Figure, LadderScene, OverlaidFlow, View, ladder, overlay, time_sequence};
use tcplab_results::TrialData;
use tcplab_results::comparison::{Divergence, PacketSequence, divergence};
use tcplab_trace::{Connection, Flow, LadderLine};
use tcplab_units::{Endpoint, Span};

use crate::trial::transfer::Transfer;

/// The same transfer on both sides, to be seen close.
#[derive(Debug, Clone)]
pub struct CloseUp<'a> {
    /// What it is, such as `reno, trial 3`.
    pub title: String,
    /// What A and B are called.
    pub names: [String; 2],
    /// A's and B's connection.
    pub connections: [&'a Connection; 2],
    /// Whether their clients send most of the data.
    pub is_from_client: bool,
    /// Whether both are simulated, where the order of packets is exact.
    pub is_virtual: bool,
}

impl<'a> CloseUp<'a> {
    /// Of two trials, each seen at its sender; none where one has no connection, or where the data
    /// goes the other way.
    pub fn of_trials(
        title: String,
        names: [String; 2],
        data: [&'a TrialData; 2],
        is_virtual: bool,
    ) -> Option<CloseUp<'a>> {
        let senders = [Transfer::of(data[0])?.sender, Transfer::of(data[1])?.sender];
        if senders[0] != senders[1] {
            return None;
        }
        let is_from_client = senders[0] == Endpoint::Client;
        let connection = |data: &'a TrialData| {
            let trace = if is_from_client { &data.client } else { &data.server };
            let size = |c: &&Connection| c.forward.totals.unique + c.reverse.totals.unique;
            trace.connections.iter().max_by_key(size)
        };
        let connections = [connection(data[0])?, connection(data[1])?];
        Some(CloseUp { title, names, connections, is_from_client, is_virtual })
    }

    /// Their first difference.
    pub fn divergence(&self) -> Option<Divergence> {
        let courses = self.connections.map(|connection| {
            let course = PacketSequence::of(connection, self.is_from_client);
            if self.is_virtual { course } else { course.of_data() }
        });
        divergence(&courses[0], &courses[1], self.ends())
    }

    fn ends(&self) -> [&'static str; 2] {
        if self.is_from_client { ["client", "server"] } else { ["server", "client"] }
    }

    fn flow(&self, side: usize) -> &'a Flow {
        let connection = self.connections[side];
        if self.is_from_client { &connection.forward } else { &connection.reverse }
    }

    fn lasting(&self) -> Span {
        let spans = self.connections.map(|connection| connection.last.since(connection.first));
        spans[0].max(spans[1])
    }

    pub(super) fn overlaid(&self) -> Figure {
        let laid = |side: usize| OverlaidFlow {
            name: if side == 0 { "A" } else { "B" },
            flow: self.flow(side),
            began: self.connections[side].first,
        };
        overlay("Data of A and B, overlaid", [laid(0), laid(1)], self.lasting())
    }

    /// Beside one another, over the same time; the page's nth, from 0.
    pub(super) fn beside(&self, nth: usize) -> [Figure; 2] {
        [0, 1].map(|side| {
            let from = self.connections[side].first;
            let view = View { from, until: from + self.lasting(), bands: &[] };
            let letter = if side == 0 { "A" } else { "B" };
            let title = format!("{letter}: {}", self.names[side]);
            time_sequence(
                &format!("transfer-{}-{}", nth + 1, letter.to_lowercase()),
                &title,
                self.flow(side),
                &view,
            )
        })
    }

    /// The ladders around the first difference.
    pub(super) fn ladders(&self, divergence: &Divergence) -> [String; 2] {
        let [sender, receiver] = self.ends();
        [0, 1].map(|side| {
            let lines: Vec<LadderLine> =
                divergence.around[side].iter().map(|step| step.line.clone()).collect();
            ladder(&LadderScene {
                title: &format!("Ladder diagram of {}", if side == 0 { "A" } else { "B" }),
                sender,
                receiver,
                flow: Some(self.flow(side)),
                lines: &lines,
                interruptions: &[],
            })
        })
    }
}
