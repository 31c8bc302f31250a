//! For programs: one JSON object, or a line for each thing found.

use std::io::Write;
use std::path::Path;

use anyhow::Result;
use serde::Serialize;
use tcplab_quantities::TRACE_DOCUMENT;
use tcplab_report::trace::Chosen;
use tcplab_table::{ConnectionJson, TraceLines};
use tcplab_trace::{
    Ack, BareReset, Connection, Episode, FlowId, LimitPeriod, Note, OtherPackets, Segment, Sink,
    Spurious, Stall, Trace,
};

use super::deep::no_connection;
use super::files::{Files, Shown};
use super::input::Passed;
use super::spool::Spool;
use crate::output::Output;

/// Everything: all connections, or one of them.
pub(super) fn whole(files: Files<'_>, connection: Option<usize>, place: &Path) -> Result<()> {
    let chosen = connection.map_or_else(Chosen::all, |index| Chosen::new([index]));
    let written = Written { chosen, spool: Spool::beside(place), shown: files.shown() };
    let (Passed { trace, sink, head }, files) = files.read(written)?;
    let Written { chosen, spool, shown } = sink;
    if let Some(index) = connection
        && spool.is_empty()
    {
        return Err(no_connection(index, chosen.seen()));
    }
    files.finish(&shown.into_connections())?;
    let capture = Capture::new(&head.names, &trace);
    let whole = serde_json::to_string(&TRACE_DOCUMENT.of(Whole { capture, connections: [] }))?;
    let before = whole.strip_suffix(END).expect("the list of connections stands last");
    let mut out = Output::create(place)?;
    out.write_all(before.as_bytes())?;
    spool.copy(&mut out)?;
    out.write_all(END.as_bytes())?;
    out.write_all(b"\n")?;
    out.commit()?;
    Ok(())
}

/// What follows the connections of the document.
const END: &str = "]}";

/// Writes each connection when it ends: what is kept does not grow with those that have ended.
struct Written {
    chosen: Chosen,
    spool: Spool,
    /// Those that a page shows, too: the input may not last.
    shown: Shown,
}

impl Sink for Written {
    fn segment(&mut self, flow: FlowId, segment: Segment) {
        self.chosen.segment(flow, segment);
    }
    fn ack(&mut self, flow: FlowId, ack: Ack) {
        self.chosen.ack(flow, ack);
    }
    fn reset(&mut self, flow: FlowId, reset: BareReset) {
        self.chosen.reset(flow, reset);
    }
    fn episode(&mut self, flow: FlowId, episode: Episode) {
        self.chosen.episode(flow, episode);
    }
    fn stall(&mut self, flow: FlowId, stall: Stall) {
        self.chosen.stall(flow, stall);
    }
    fn limit(&mut self, flow: FlowId, period: LimitPeriod) {
        self.chosen.limit(flow, period);
    }
    fn spurious(&mut self, flow: FlowId, frame: u64, why: Spurious) {
        self.chosen.spurious(flow, frame, why);
    }
    fn connection(&mut self, index: usize, connection: &Connection) {
        self.chosen.connection(index, connection);
        let Some(whole) = self.chosen.take(index) else { return };
        if self.shown.wants(index, &whole) {
            self.shown.add(index, whole.clone());
        }
        self.spool.add(index, &ConnectionJson::new(index, whole));
    }
}

/// A line for each thing as soon as it is certain: of all connections, or of one of them.
pub(super) fn lines(files: Files<'_>, only: Option<usize>) -> Result<()> {
    let out = Output::create(Path::new(Output::STDOUT))?;
    let (Passed { trace, sink, head }, files) = files.read(TraceLines::create(out, only))?;
    let written = sink.finish("capture", Capture::new(&head.names, &trace));
    files.finish(&[])?;
    Ok(written?)
}

#[derive(Serialize)]
struct Whole<'a> {
    capture: Capture<'a>,
    /// None: they are written apart.
    connections: [(); 0],
}

#[derive(Serialize)]
struct Capture<'a> {
    files: &'a [String],
    /// The zero of all times, nanoseconds after the beginning of 1970.
    zero_unix_ns: u64,
    packets: u64,
    others: &'a [OtherPackets],
    notes: &'a [Note],
}

impl<'a> Capture<'a> {
    fn new(files: &'a [String], trace: &'a Trace) -> Capture<'a> {
        Capture {
            files,
            zero_unix_ns: trace.epoch_nanos,
            packets: trace.packets,
            others: &trace.others,
            notes: &trace.notes,
        }
    }
}
