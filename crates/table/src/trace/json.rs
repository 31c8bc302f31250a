//! Connections as JSON, from the columns of the tables.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use tcplab_findings::Finding;
use tcplab_quantities::{CONNECTION, TRACE_LINES_DOCUMENT};
use tcplab_trace::{Connection, Episode, FlowId, LimitPeriod, Sink, Stall};

use super::connections::{ConnectionRow, IDENTITY};
use super::details::{self, FindingRow, MssRow, StallCauseRow};
use super::packets::packets;
use super::periods::{self, EpisodeRow, LimitRow, LostRow, StallRow};
use super::{directions, events, segments};
use crate::column::{Column, Object, Present};

/// A connection as a JSON object: its columns, those of each direction below `forward` and
/// `reverse`, and a list of rows for each other table.
pub struct ConnectionJson {
    row: ConnectionRow,
    findings: Vec<Finding>,
}

impl ConnectionJson {
    /// The connection of this number, from 0, and what was found in it.
    pub fn new(number: usize, connection: Connection) -> ConnectionJson {
        let findings = tcplab_findings::examine(&connection);
        ConnectionJson { row: ConnectionRow { number: number as u64, connection }, findings }
    }

    fn number(&self) -> usize {
        self.row.number as usize
    }
}

impl std::fmt::Debug for ConnectionJson {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("ConnectionJson").field(&self.row.number).finish()
    }
}

impl Serialize for ConnectionJson {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
        self.write_sums(&mut map, &Form::Whole)?;
        let flows = self.flows();
        let all = flows.iter().flat_map(|&(id, flow)| {
            (1..).zip(&flow.episodes).map(move |(number, episode)| (id, number, episode))
        });
        let lost = all.clone().flat_map(|(flow, episode, it)| {
            it.lost.iter().map(move |&lost| LostRow { flow, episode, lost })
        });
        let episodes =
            all.map(|(flow, number, it)| EpisodeRow { flow, number, episode: it.clone() });
        Form::Whole.list(&mut map, "episodes", periods::EPISODES, episodes)?;
        Form::Whole.list(&mut map, "lost", periods::LOST, lost)?;
        let stalls = flows
            .iter()
            .flat_map(|&(flow, it)| it.stalls.iter().map(move |&stall| StallRow { flow, stall }));
        Form::Whole.list(&mut map, "stalls", periods::STALLS, stalls)?;
        let limits = flows
            .iter()
            .flat_map(|&(flow, it)| it.limits.iter().map(move |&period| LimitRow { flow, period }));
        Form::Whole.list(&mut map, "limits", periods::LIMITS, limits)?;
        let (mut all_segments, mut all_events) = (Vec::new(), Vec::new());
        for (id, flow) in flows {
            let (segments, events) = packets(id, flow);
            all_segments.extend(segments);
            all_events.extend(events);
        }
        Form::Whole.list(&mut map, "segments", segments::COLUMNS, all_segments)?;
        Form::Whole.list(&mut map, "events", events::COLUMNS, all_events)?;
        let connection = self.row.number;
        let finding = |finding: &Finding| FindingRow { connection, finding: finding.clone() };
        Form::Whole.list(
            &mut map,
            "findings",
            details::FINDINGS,
            self.findings.iter().map(finding),
        )?;
        map.end()
    }
}

impl ConnectionJson {
    /// Client to server, and back.
    fn flows(&self) -> [(FlowId, &tcplab_trace::Flow); 2] {
        let of = |forward| FlowId { connection: self.number(), forward };
        [(of(true), &self.row.connection.forward), (of(false), &self.row.connection.reverse)]
    }

    /// All but what has lines of its own, and single packets.
    fn write_sums<M: SerializeMap>(&self, map: &mut M, form: &Form) -> Result<(), M::Error> {
        for column in IDENTITY {
            let value = column.cells.value(&self.row);
            // The connection's number is there, be it zero.
            if *form == Form::Whole || column.is_there(&value) || column.name() == CONNECTION.key {
                map.serialize_entry(column.name(), &value)?;
            }
        }
        let flows = self.flows();
        for (name, (_, flow)) in ["forward", "reverse"].into_iter().zip(flows) {
            form.object(map, name, Object { columns: directions::OF_ONE, row: flow })?;
        }
        let notable = flows.iter().flat_map(|(id, flow)| details::notable(*id, flow));
        form.list(map, "notable", details::NOTABLE, notable)?;
        let sums = flows.iter().flat_map(|&(flow, it)| {
            it.stall_sums.iter().map(move |&sum| StallCauseRow { flow, sum })
        });
        form.list(map, "stall_causes", details::STALL_CAUSES, sums)?;
        let smaller = flows.iter().flat_map(|&(flow, it)| {
            it.marks.mss_changes.iter().map(move |&change| MssRow { flow, change })
        });
        form.list(map, "mss_changes", details::MSS_CHANGES, smaller)?;
        let series = flows.iter().flat_map(|(id, flow)| details::series(*id, flow));
        form.list(map, "series", details::SERIES, series)?;
        let states = details::states(self.row.number, &self.row.connection);
        form.list(map, "states", details::STATES, states)
    }
}

/// How much of a connection is written.
#[derive(PartialEq)]
enum Form {
    /// Each key.
    Whole,
    /// What is there: neither empty columns nor zeros.
    Present,
}

impl Form {
    fn object<M: SerializeMap, R>(
        &self,
        map: &mut M,
        name: &'static str,
        object: Object<'_, R>,
    ) -> Result<(), M::Error> {
        match self {
            Form::Whole => map.serialize_entry(name, &object),
            Form::Present => map.serialize_entry(name, &Present(object)),
        }
    }

    /// Rows of the connection: its number, which is the first column, is left out.
    fn list<M: SerializeMap, R>(
        &self,
        map: &mut M,
        name: &'static str,
        columns: &[Column<R>],
        rows: impl IntoIterator<Item = R>,
    ) -> Result<(), M::Error> {
        let rows: Vec<R> = rows.into_iter().collect();
        let objects = rows.iter().map(|row| Object { columns: &columns[1..], row });
        match self {
            Form::Whole => map.serialize_entry(name, &objects.collect::<Vec<_>>()),
            Form::Present if rows.is_empty() => Ok(()),
            Form::Present => map.serialize_entry(name, &objects.map(Present).collect::<Vec<_>>()),
        }
    }
}

/// The sums of a connection.
struct Sums<'a>(&'a ConnectionJson);

impl Serialize for Sums<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
        self.0.write_sums(&mut map, &Form::Present)?;
        map.end()
    }
}

/// A line, with what it is about.
#[derive(Serialize)]
struct Line<T: Serialize> {
    #[serde(rename = "type")]
    about: &'static str,
    #[serde(flatten)]
    facts: T,
}

/// A JSON object for each thing found, on a line of its own as soon as it is certain. `type` says
/// what it is: `header`, which is the first, `episode`, `lost`, `stall`, `limit`, `connection` or
/// `finding`. The keys of the others are the columns of the table of that name; a `connection` has
/// only the keys of what is there, for most columns of most connections are zero or empty.
pub struct TraceLines<W> {
    out: W,
    /// The connection of which alone it writes.
    only: Option<usize>,
    /// How many episodes each direction of a connection had.
    episodes: BTreeMap<(usize, bool), u64>,
    /// The first line that could not be written; no more are written then.
    error: Option<io::Error>,
}

impl<W: Write> TraceLines<W> {
    /// Begins with the header. With `only`, lines of other connections are left out.
    pub fn create(out: W, only: Option<usize>) -> TraceLines<W> {
        let mut lines = TraceLines { out, only, episodes: BTreeMap::new(), error: None };
        let header = BTreeMap::from([
            ("schema", serde_json::Value::from(TRACE_LINES_DOCUMENT.schema)),
            ("version", TRACE_LINES_DOCUMENT.version.into()),
        ]);
        lines.line("header", header);
        lines
    }

    /// Ends with a line of this type and with these keys.
    ///
    /// # Errors
    /// The first of all that was written.
    pub fn finish(mut self, about: &'static str, facts: impl Serialize) -> io::Result<()> {
        self.line(about, facts);
        match self.error {
            Some(error) => Err(error),
            None => self.out.flush(),
        }
    }

    fn line(&mut self, about: &'static str, facts: impl Serialize) {
        if self.error.is_some() {
            return;
        }
        let written = serde_json::to_writer(&mut self.out, &Line { about, facts });
        let written = written.map_err(io::Error::from);
        self.error = written.and_then(|()| self.out.write_all(b"\n")).err();
    }

    fn row<R>(&mut self, about: &'static str, columns: &[Column<R>], row: &R) {
        self.line(about, Object { columns, row });
    }

    fn wants(&self, connection: usize) -> bool {
        self.only.is_none_or(|only| only == connection)
    }
}

impl<W> std::fmt::Debug for TraceLines<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TraceLines").field("error", &self.error).finish_non_exhaustive()
    }
}

impl<W: Write> Sink for TraceLines<W> {
    fn wants_packets(&self) -> bool {
        false
    }
    fn episode(&mut self, flow: FlowId, episode: Episode) {
        if !self.wants(flow.connection) {
            return;
        }
        let number = self.episodes.entry((flow.connection, flow.forward)).or_default();
        *number += 1;
        let number = *number;
        let row = EpisodeRow { flow, number, episode };
        self.row("episode", periods::EPISODES, &row);
        for &lost in &row.episode.lost {
            self.row("lost", periods::LOST, &LostRow { flow, episode: number, lost });
        }
    }
    fn stall(&mut self, flow: FlowId, stall: Stall) {
        if self.wants(flow.connection) {
            self.row("stall", periods::STALLS, &StallRow { flow, stall });
        }
    }
    fn limit(&mut self, flow: FlowId, period: LimitPeriod) {
        if self.wants(flow.connection) {
            self.row("limit", periods::LIMITS, &LimitRow { flow, period });
        }
    }
    fn connection(&mut self, index: usize, connection: &Connection) {
        for forward in [true, false] {
            self.episodes.remove(&(index, forward));
        }
        if !self.wants(index) {
            return;
        }
        let whole = ConnectionJson::new(index, connection.clone());
        self.line("connection", Sums(&whole));
        for finding in whole.findings {
            let row = FindingRow { connection: index as u64, finding };
            self.row("finding", details::FINDINGS, &row);
        }
    }
}
