//! For programs: one JSON object, or a line for each thing found.

use std::io::Write;
use std::path::Path;

use anyhow::Result;
use serde::Serialize;
use tcplab_quantities::TRACE_DOCUMENT;
use tcplab_report::trace::{Chosen, Ended};
use tcplab_table::{ConnectionJson, TraceLines};
use tcplab_trace::{Connection, Note, OtherPackets, Trace};

use super::deep::no_connection;
use super::files::Files;
use super::input::Passed;
use super::spool::Spool;
use crate::output::Output;

/// Everything: all connections, or one of them.
pub(super) fn whole(files: Files<'_>, connection: Option<usize>, place: &Path) -> Result<()> {
    let chosen = connection.map_or_else(Chosen::all, |index| Chosen::new([index]));
    let mut spool = Spool::beside(place);
    // Those that a page shows are kept, too: the input may not last.
    let mut shown = files.shown();
    // Each is written when it ends: what is kept does not grow with those that have ended.
    let ended = Ended::new(chosen, |index, connection: Connection| {
        if shown.wants(index, &connection) {
            shown.add(index, connection.clone());
        }
        spool.add(index as u64, &ConnectionJson::new(index, connection));
    });
    let (Passed { trace, sink, head }, files) = files.read(ended)?;
    let seen = sink.seen();
    if let Some(index) = connection
        && spool.count() == 0
    {
        return Err(no_connection(index, seen));
    }
    files.finish(&shown.into_connections())?;
    let capture = Capture::new(&head.names, &trace);
    let whole = serde_json::to_string(&TRACE_DOCUMENT.of(Whole { capture, connections: [] }))?;
    let before = whole.strip_suffix(END).expect("the list of connections stands last");
    let mut out = Output::create(place)?;
    out.write_all(before.as_bytes())?;
    spool.copy(&mut out, ",")?;
    out.write_all(END.as_bytes())?;
    out.write_all(b"\n")?;
    out.commit()?;
    Ok(())
}

/// What follows the connections of the document.
const END: &str = "]}";

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
