//! One connection in detail: as text, packet by packet, or as a ladder.

use anyhow::{Error, Result, anyhow, bail};
use tcplab_findings::worst_first;
use tcplab_plot::LadderScene;
use tcplab_report::figure_file;
use tcplab_report::trace::{
    CaptureHead, Chosen, LadderView, Look, connection_text, ladder_text, notes_text,
};
use tcplab_trace::{Connection, Flow, LadderLine, Note, ladder, ladder_between, listing};
use tcplab_units::Instant;

use super::files::{Files, Filled};
use super::input::{Input, Passed};
use super::outputs::look;
use super::span::Part;
use crate::arguments::{Outputs, ViewArguments};
use crate::output::{answer_coloured, write_file};
use crate::remedied::Remedied;

/// Whether the request is about one connection.
pub(super) fn is_asked_for(view: &ViewArguments, outputs: &Outputs) -> bool {
    view.connection.is_some() || view.ladder || outputs.ladder_svg.is_some()
}

pub(super) fn show(
    input: &Input<'_>,
    files: Files<'_>,
    view: &ViewArguments,
    outputs: &Outputs,
) -> Result<()> {
    let (Passed { head, sink, .. }, files) =
        files.read(Chosen::new([view.connection.unwrap_or(0)]))?;
    if let (Some(ladder), None, 2..) = (&outputs.ladder_svg, view.connection, sink.seen()) {
        let all = sink.seen();
        // The other files are of all connections.
        files.finish(&[])?;
        bail!(
            "{} was not written: --ladder-svg draws one connection, and the capture has {all}: \
             choose one with -c N (numbers in the table of `tcplab trace`)",
            ladder.display()
        );
    }
    let mut chosen = only(sink, view.connection, &head.names.join(", "))?;
    if let Some(dropped) = input.dropped_frames()? {
        chosen.1.mark_dropped(&dropped);
    }
    show_one(&chosen, &head, files, view, outputs)
}

/// Shows a connection with its packets.
pub(super) fn show_one(
    chosen: &(usize, Connection),
    head: &CaptureHead,
    files: Filled<'_>,
    view: &ViewArguments,
    outputs: &Outputs,
) -> Result<()> {
    let (index, connection) = (chosen.0, &chosen.1);
    let part = Part::new(connection, view.from, view.to)?;
    if let Some(file) = &outputs.ladder_svg {
        let drawn = Drawn::new(connection, view, &part);
        let scene = LadderScene {
            title: &drawn.title(index),
            sender: &drawn.sender,
            receiver: &drawn.receiver,
            flow: Some(drawn.flow),
            lines: &drawn.lines,
            interruptions: &[],
        };
        write_file(file, &figure_file(&tcplab_plot::ladder(&scene)))?;
    }
    files.finish(std::slice::from_ref(chosen))?;
    answer_coloured(|colours| text(chosen, &head.notes, view, &part, look(colours)))
}

fn text(
    (index, connection): &(usize, Connection),
    notes: &[Note],
    view: &ViewArguments,
    part: &Part,
    look: Look,
) -> String {
    let mut text = String::new();
    if view.is_listing() || view.ladder {
        if view.is_listing() {
            text += &listing(*index, &part.of(connection), view.display_filter.as_ref());
        }
        if view.ladder {
            let drawn = Drawn::new(connection, view, part);
            let view = LadderView {
                sender: &drawn.sender,
                receiver: &drawn.receiver,
                lines: &drawn.lines,
            };
            text += &ladder_text(view, look);
        }
    } else if view.connection.is_some() {
        text += &notes_text(notes, look);
        let mut findings = tcplab_findings::examine(connection);
        worst_first(&mut findings);
        text += &connection_text(*index, connection, &findings, look);
    }
    text
}

/// The connection with that number, by default the only one of a capture.
pub(crate) fn only(
    chosen: Chosen,
    wanted: Option<usize>,
    capture: &str,
) -> Result<(usize, Connection)> {
    let all = chosen.seen();
    if wanted.is_none() && all > 1 {
        bail!(
            "{all} connections in the capture: choose one with -c N (numbers in the table of `tcplab \
             trace`)"
        );
    }
    let connection = chosen.into_connections().pop();
    connection.ok_or_else(|| match wanted.unwrap_or(0) {
        _ if all == 0 => anyhow!("no TCP connection in {capture}"),
        wanted => no_connection(wanted, all),
    })
}

/// Why there is none of that number among so many.
pub(super) fn no_connection(wanted: usize, all: usize) -> Error {
    match all {
        0 => anyhow!("no connection {wanted}: there is no TCP connection"),
        1 => {
            let said = format!("no connection {wanted}: the only one is number 0");
            Remedied::error(said, "-c 0")
        }
        n => anyhow!("no connection {wanted}: there are {n}, numbered from 0"),
    }
}

/// The contents of a ladder.
struct Drawn<'a> {
    sender: String,
    receiver: String,
    flow: &'a Flow,
    lines: Vec<LadderLine>,
}

impl<'a> Drawn<'a> {
    /// Of the requested part; by default of the longest recovery episode, else of everything.
    fn new(connection: &'a Connection, view: &ViewArguments, part: &Part) -> Drawn<'a> {
        let Connection { client, server, forward, reverse, .. } = connection;
        let down = reverse.totals.unique > forward.totals.unique;
        let (sender, receiver, flow) = if view.reverse || (down && !view.forward) {
            (server, client, reverse)
        } else {
            (client, server, forward)
        };
        let longest = flow.episodes.iter().max_by_key(|e| e.duration(connection.last));
        let lines = match longest.filter(|_| part.is_whole()) {
            Some(episode) => ladder(flow, episode),
            None => part.frames(flow).map_or(vec![], |(a, b)| ladder_between(flow, a, b)),
        };
        Drawn { sender: sender.to_string(), receiver: receiver.to_string(), flow, lines }
    }

    fn title(&self, index: usize) -> String {
        let edge = |line: Option<&LadderLine>| line.map_or(Instant::ZERO, |line| line.at);
        let (from, until) = (edge(self.lines.first()), edge(self.lines.last()));
        format!("Connection {index}, {:.6} s to {:.6} s", from.as_secs_f64(), until.as_secs_f64())
    }
}
