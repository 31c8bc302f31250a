//! The packets of all connections of a capture, in its order.

use std::io::Write;
use std::path::Path;

use anyhow::{Result, bail};
use tcplab_report::trace::{Chosen, Ended};
use tcplab_trace::{Connection, packet_lines};

use super::deep;
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
