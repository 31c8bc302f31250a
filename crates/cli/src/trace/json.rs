//! For programs: one JSON object, or a line for each thing found.

use std::io::{self, Write};
use std::path::Path;

use anyhow::{Result, bail};
use serde::Serialize;
use tcplab_quantities::TRACE_DOCUMENT;
use tcplab_report::trace::Chosen;
use tcplab_table::{ConnectionJson, TraceLines};
use tcplab_trace::{Note, OtherPackets, Trace};

use super::files::Files;
use super::input::Passed;
use crate::output::Output;

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
    let json = connections.into_iter().map(|(index, it)| ConnectionJson::new(index, it));
    let whole = TRACE_DOCUMENT
        .of(Whole { capture: Capture::new(&head.names, &trace), connections: json.collect() });
    let mut out = Output::create(place)?;
    serde_json::to_writer(&mut out, &whole).map_err(io::Error::from)?;
    out.write_all(b"\n")?;
    out.commit()?;
    Ok(())
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
    connections: Vec<ConnectionJson>,
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
