//! The packets of all connections of a capture, in its order; for programs also those of one.

use std::io::Write;
use std::path::Path;

use anyhow::{Result, bail};
use tcplab_report::trace::{Chosen, Ended};
use tcplab_trace::{Connection, PacketField, packet_lines, packet_values};

use super::deep::{self, no_connection};
use super::files::Files;
use super::input::{Input, Passed};
use super::span::Part;
use super::spool::Spool;
use crate::arguments::{Outputs, ViewArguments};
use crate::output::{Output, counted};

/// Lists the packets of all connections; of the only one, if there is one, as if it were named.
pub(super) fn show(
    input: &Input<'_>,
    files: Files<'_>,
    view: &ViewArguments,
    outputs: &Outputs,
) -> Result<()> {
    let dropped = input.dropped_frames()?.unwrap_or_default();
    let mut lines = Lines::new(view);
    // It waits until another one shows that it is not the only one.
    let mut first = None;
    let mut shown = files.shown();
    let ended = Ended::new(Chosen::all(), |index, mut connection: Connection| {
        connection.mark_dropped(&dropped);
        if shown.wants(index, &connection) {
            shown.add(index, connection.clone());
        }
        if lines.connections == 0 && first.is_none() {
            first = Some((index, connection));
            return;
        }
        if let Some((index, connection)) = first.take() {
            lines.add(index, &connection);
        }
        lines.add(index, &connection);
    });
    let (Passed { head, .. }, files) = files.read(ended)?;
    if let Some(only) = first {
        return deep::show_one(&only, &head, files, view, outputs);
    }
    files.finish(&shown.into_connections())?;
    if lines.connections == 0 {
        bail!("no TCP connection in {}", head.names.join(", "));
    }
    lines.write()
}

/// Lists fields of packets for programs: of all connections, or of the one that is asked for.
pub(super) fn fields(input: &Input<'_>, files: Files<'_>, view: &ViewArguments) -> Result<()> {
    let dropped = input.dropped_frames()?.unwrap_or_default();
    let fields = if view.field.is_empty() { PacketField::all() } else { view.field.clone() };
    let filter = view.display_filter.as_ref();
    let part = Part::of_any(view.from, view.to);
    let mut spool = Spool::beside(Path::new(Output::STDOUT));
    let mut shown = files.shown();
    let mut listed = 0_u64;
    let chosen = view.connection.map_or_else(Chosen::all, |index| Chosen::new([index]));
    let ended = Ended::new(chosen, |index, mut connection: Connection| {
        connection.mark_dropped(&dropped);
        listed += 1;
        for packet in packet_values(index, &part.of(&connection), filter, &fields) {
            if view.jsonl {
                spool.add(packet.frame, &packet);
            } else {
                spool.add_text(packet.frame, &packet.to_string());
            }
        }
        if shown.wants(index, &connection) {
            shown.add(index, connection);
        }
    });
    let (Passed { head, sink, .. }, files) = files.read(ended)?;
    let seen = sink.seen();
    files.finish(&shown.into_connections())?;
    match view.connection {
        Some(index) if listed == 0 => return Err(no_connection(index, seen)),
        None if listed == 0 => bail!("no TCP connection in {}", head.names.join(", ")),
        _ => (),
    }
    let end = if spool.count() > 0 { "\n" } else { "" };
    let mut out = Output::create(Path::new(Output::STDOUT))?;
    spool.copy(&mut out, "\n")?;
    out.write_all(end.as_bytes())?;
    out.commit()?;
    Ok(())
}

/// Lines of packets, sorted by frame.
struct Lines<'a> {
    view: &'a ViewArguments,
    part: Part,
    spool: Spool,
    connections: u64,
    /// Of the part, whether they are shown or not.
    packets: u64,
}

impl<'a> Lines<'a> {
    fn new(view: &'a ViewArguments) -> Lines<'a> {
        let part = Part::of_any(view.from, view.to);
        let spool = Spool::beside(Path::new(Output::STDOUT));
        Lines { view, part, spool, connections: 0, packets: 0 }
    }

    fn add(&mut self, index: usize, connection: &Connection) {
        self.connections += 1;
        let filter = self.view.display_filter.as_ref();
        let (lines, packets) = packet_lines(index, &self.part.of(connection), filter);
        self.packets += packets as u64;
        for (frame, line) in lines {
            self.spool.add_text(frame, &line);
        }
    }

    fn write(self) -> Result<()> {
        let shown = self.spool.count();
        let mut out = Output::create(Path::new(Output::STDOUT))?;
        self.spool.copy(&mut out, "")?;
        let all = counted(self.packets, "packet");
        writeln!(out, "{shown} of {all} of {}", counted(self.connections, "connection"))?;
        out.commit()?;
        Ok(())
    }
}
