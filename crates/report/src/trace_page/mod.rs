//! The page of a trace: one HTML file that needs nothing else.

mod average;
mod connection;
mod found;
mod shown;
mod sums;

use askama::Template;
use std::io;
use tcplab_trace::{Connection, Trace};
use tcplab_units::Span;
use tcplab_units::rounded::{self, bytes, counted, grouped};

use crate::html::assets::{SCRIPTS, STYLES, THEME};
use crate::html::error::ReportError;
use crate::html::rendered::rendered;
pub use crate::trial::packets::page_frames;
use connection::ConnectionView;
use found::FoundView;
use shown::anchor;
pub use shown::{GraphChoice, ShownConnection};
pub use sums::{CaptureSums, Rank};

/// What to show of a trace.
#[derive(Debug, Clone, Copy)]
pub struct TracePage<'a> {
    /// What was captured: the names of the files.
    pub name: &'a str,
    /// Its packets and notes count, not its connections.
    pub trace: &'a Trace,
    /// All connections.
    pub sums: &'a CaptureSums,
    /// Connections with graphs, the most important first.
    pub shown: &'a [ShownConnection<'a>],
    /// What their graphs show at first.
    pub choice: &'a GraphChoice,
}

/// Writes the page. The same trace gives the same bytes.
///
/// # Errors
/// When `out` refuses.
pub fn write_trace(page: &TracePage<'_>, out: &mut impl io::Write) -> Result<(), ReportError> {
    out.write_all(rendered(&head(page))?.as_bytes())?;
    for (place, shown) in page.shown.iter().enumerate() {
        let view = ConnectionView::new(shown, place == 0, page.choice);
        out.write_all(rendered(&Part { view })?.as_bytes())?;
    }
    out.write_all(rendered(&Foot { script: SCRIPTS.concat() })?.as_bytes())?;
    Ok(())
}

fn head<'a>(page: &TracePage<'a>) -> Head<'a> {
    let shown = |index: usize| page.shown.iter().any(|shown| shown.index == index);
    let (found, more) = found::findings(page.shown);
    Head {
        name: page.name,
        style: [STYLES.concat().as_str(), include_str!("../../assets/trace.css")].concat(),
        theme: THEME,
        lead: lead(page.trace, page.sums),
        notes: page.trace.notes.iter().map(note).collect(),
        rows: page
            .sums
            .rows()
            .map(|row| (shown(row.number).then(|| anchor(row.number)), row))
            .collect(),
        others: page.sums.left_out(),
        shown: page.shown.iter().map(|shown| (anchor(shown.index), shown.index)).collect(),
        found,
        more,
    }
}

fn lead(trace: &Trace, sums: &CaptureSums) -> String {
    let &CaptureSums { connections, last, data, retransmissions: again, segments, .. } = sums;
    let mut text = format!(
        "{} packets in {}: {} with {} of data.",
        grouped(trace.packets),
        rounded::span(Span::from_nanos(last.as_nanos())),
        counted(connections, "TCP connection", "TCP connections"),
        bytes(data),
    );
    if again > 0 && segments > 0 {
        let share = 100.0 * again as f64 / segments as f64;
        let of = counted(segments as usize, "segment", "segments");
        text += &format!(" {} of {of} were retransmitted ({share:.2} %).", grouped(again));
    }
    text
}

fn note(note: &tcplab_trace::Note) -> String {
    match note.frame {
        Some(frame) => format!("Frame {frame}: {}", note.text),
        None => note.text.clone(),
    }
}

/// A line of the table of connections.
#[derive(Debug)]
struct Row {
    number: usize,
    client: String,
    server: String,
    state: &'static str,
    start: String,
    time: String,
    sent: String,
    received: String,
    again: String,
    round_trip: String,
    limit: &'static str,
}

impl Row {
    fn new(index: usize, connection: &Connection) -> Row {
        let Connection { forward, reverse, .. } = connection;
        let again = forward.causes.retransmissions() + reverse.causes.retransmissions();
        let busier = if forward.totals.unique >= reverse.totals.unique { forward } else { reverse };
        let smallest = connection.path_round_trip(busier);
        Row {
            number: index,
            client: connection.client.to_string(),
            server: connection.server.to_string(),
            state: connection::ending(connection),
            start: format!("{:.3}", connection.first.as_secs_f64()),
            time: rounded::span(connection.last.since(connection.first)),
            sent: bytes(forward.totals.unique),
            received: bytes(reverse.totals.unique),
            again: if again == 0 { String::new() } else { grouped(again) },
            round_trip: smallest.map(rounded::span).unwrap_or_default(),
            limit: busier.shares.largest().map_or("", |limit| busier.limit_name(limit)),
        }
    }
}

#[derive(Template)]
#[template(path = "trace_head.html")]
struct Head<'a> {
    name: &'a str,
    style: String,
    theme: &'static str,
    lead: String,
    notes: Vec<String>,
    /// Where its graphs are, if it has some, and a connection.
    rows: Vec<(Option<String>, &'a Row)>,
    others: usize,
    /// Anchor and number.
    shown: Vec<(String, usize)>,
    found: Vec<FoundView>,
    more: usize,
}

#[derive(Template)]
#[template(path = "trace_connection.html")]
struct Part {
    view: ConnectionView,
}

#[derive(Template)]
#[template(path = "trace_foot.html")]
struct Foot {
    script: String,
}
