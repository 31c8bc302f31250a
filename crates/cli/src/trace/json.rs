//! For programs: one JSON object, or a line for each thing found.

use std::io::{self, BufWriter, Write};
use std::path::Path;

use crate::output::Output;
use anyhow::{Context, Result, bail};
use serde::Serialize;
use tcplab_findings::Finding;
use tcplab_report::trace::Chosen;
use tcplab_trace::{Connection, Episode, FlowId, LimitPeriod, Note, OtherPackets, Sink, Stall};

use super::files::Files;
use super::input::Passed;

/// Everything: all connections, or one of them.
pub(super) fn whole(files: Files<'_>, connection: Option<usize>, place: &Path) -> Result<()> {
    let chosen = connection.map_or_else(Chosen::all, |index| Chosen::new([index]));
    let (Passed { trace, sink, head }, files) = files.read(chosen)?;
    let all = sink.seen();
    let connections = sink.into_connections();
    if let Some(index) = connection
        && connections.is_empty()
    {
        bail!("there is no connection {index}: there are {all}, numbered from 0");
    }
    files.finish(&connections)?;
    let connections = connections.iter().map(|(index, connection)| One {
        connection: *index,
        facts: connection,
        findings: tcplab_findings::examine(connection),
    });
    let whole = Whole {
        capture: Capture {
            files: &head.names,
            epoch_nanos: trace.epoch_nanos,
            packets: trace.packets,
            others: &trace.others,
            notes: &trace.notes,
        },
        connections: connections.collect(),
    };
    let mut out = Output::create(place)?;
    serde_json::to_writer(&mut out, &whole).map_err(io::Error::from)?;
    out.write_all(b"\n")?;
    out.commit()?;
    Ok(())
}

/// A line for each thing as soon as it is certain: of all connections, or of one of them.
pub(super) fn lines(files: Files<'_>, only: Option<usize>) -> Result<()> {
    let out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    let (Passed { trace, sink, head }, files) = files.read(Lines { out, only, error: None })?;
    let mut lines = sink;
    lines.line(&Line::Capture(Capture {
        files: &head.names,
        epoch_nanos: trace.epoch_nanos,
        packets: trace.packets,
        others: &trace.others,
        notes: &trace.notes,
    }));
    if lines.error.is_none() {
        lines.error = lines.out.flush().err();
    }
    files.finish(&[])?;
    lines.error.map_or(Ok(()), |error| Err(error).context(UNHEARD))
}

const UNHEARD: &str = "cannot write to standard output";

#[derive(Serialize)]
struct Whole<'a> {
    capture: Capture<'a>,
    connections: Vec<One<'a>>,
}

#[derive(Serialize)]
struct Capture<'a> {
    files: &'a [String],
    epoch_nanos: u64,
    packets: u64,
    others: &'a [OtherPackets],
    notes: &'a [Note],
}

/// A connection, its number and what was found out.
#[derive(Serialize)]
struct One<'a> {
    connection: usize,
    #[serde(flatten)]
    facts: &'a Connection,
    findings: Vec<Finding>,
}

/// One thing that was found.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
enum Line<'a> {
    Episode(Part<'a, Episode>),
    Stall(Part<'a, Stall>),
    Limit(Part<'a, LimitPeriod>),
    Connection {
        connection: usize,
        #[serde(flatten)]
        facts: &'a Connection,
    },
    Finding {
        connection: usize,
        #[serde(flatten)]
        finding: &'a Finding,
    },
    Capture(Capture<'a>),
}

impl Line<'_> {
    /// The connection that it is about, if it is about one.
    fn connection(&self) -> Option<usize> {
        match self {
            Line::Episode(part) => Some(part.connection),
            Line::Stall(part) => Some(part.connection),
            Line::Limit(part) => Some(part.connection),
            Line::Connection { connection, .. } | Line::Finding { connection, .. } => {
                Some(*connection)
            }
            Line::Capture(_) => None,
        }
    }
}

/// What belongs to a direction of a connection.
#[derive(Serialize)]
struct Part<'a, T> {
    connection: usize,
    /// Who sends the data.
    sender: &'static str,
    #[serde(flatten)]
    facts: &'a T,
}

impl<'a, T> Part<'a, T> {
    fn new(flow: FlowId, facts: &'a T) -> Part<'a, T> {
        let sender = if flow.forward { "client" } else { "server" };
        Part { connection: flow.connection, sender, facts }
    }
}

/// Writes what the analyser says.
struct Lines<W> {
    out: W,
    /// The connection of which alone it writes.
    only: Option<usize>,
    /// The first line that nobody took; no more are written then.
    error: Option<io::Error>,
}

impl<W: Write> Lines<W> {
    fn line(&mut self, line: &Line<'_>) {
        let of_another = self.only.zip(line.connection()).is_some_and(|(only, it)| only != it);
        if of_another || self.error.is_some() {
            return;
        }
        let written = serde_json::to_writer(&mut self.out, line).map_err(io::Error::from);
        self.error = written.and_then(|()| self.out.write_all(b"\n")).err();
    }
}

impl<W: Write> Sink for Lines<W> {
    fn wants_packets(&self) -> bool {
        false
    }
    fn episode(&mut self, flow: FlowId, episode: Episode) {
        self.line(&Line::Episode(Part::new(flow, &episode)));
    }
    fn stall(&mut self, flow: FlowId, stall: Stall) {
        self.line(&Line::Stall(Part::new(flow, &stall)));
    }
    fn limit(&mut self, flow: FlowId, period: LimitPeriod) {
        self.line(&Line::Limit(Part::new(flow, &period)));
    }
    fn connection(&mut self, index: usize, connection: Connection) {
        if self.only.is_some_and(|only| only != index) {
            return;
        }
        self.line(&Line::Connection { connection: index, facts: &connection });
        for finding in tcplab_findings::examine(&connection) {
            self.line(&Line::Finding { connection: index, finding: &finding });
        }
    }
}
