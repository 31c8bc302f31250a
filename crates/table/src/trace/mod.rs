//! An analysed capture as tables, written while it is read.

mod connections;
mod csv;
mod directions;
mod events;
mod names;
mod periods;
mod segments;

use std::collections::BTreeMap;
use std::io::{self, Write};

use parquet::errors::Result as ParquetResult;
use tcplab_trace::{
    Ack, Connection, Episode, FlowId, LimitPeriod, Segment, Sink, Spurious, Stall, Trace,
};
use tcplab_units::{Bytes, Instant, Offset};

pub use csv::ConnectionsCsv;

use crate::column::Column;
use crate::file::{Table, reason};
use connections::ConnectionRow;
use events::{AckKind, Before, EventRow, What};
use periods::{EpisodeRow, LimitRow, StallRow};
use segments::SegmentRow;

/// A table of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TraceTable {
    /// A row for each connection.
    Connections,
    /// A row for each packet with data, SYN or FIN.
    Segments,
    /// A row for each packet that tells the sender something new, and each verdict that comes
    /// later.
    Events,
    /// A row for each recovery episode.
    Episodes,
    /// A row for each time a transfer stood still.
    Stalls,
    /// A row for each period in which one thing bounded the rate.
    Limits,
}

impl TraceTable {
    /// All of them.
    pub const ALL: [TraceTable; 6] = [
        TraceTable::Connections,
        TraceTable::Segments,
        TraceTable::Events,
        TraceTable::Episodes,
        TraceTable::Stalls,
        TraceTable::Limits,
    ];

    /// Its name, which is that of its file without `.parquet`.
    pub fn name(self) -> &'static str {
        match self {
            TraceTable::Connections => "connections",
            TraceTable::Segments => "segments",
            TraceTable::Events => "events",
            TraceTable::Episodes => "episodes",
            TraceTable::Stalls => "stalls",
            TraceTable::Limits => "limits",
        }
    }
}

/// Rows that wait until they are written together: less than elsewhere, since a row of an
/// acknowledgement with its blocks takes several hundred bytes, and two tables fill at once.
const ROWS_PER_GROUP: usize = 1 << 15;
/// The same of the table of connections, whose rows take several kilobytes.
const CONNECTIONS_PER_GROUP: usize = 1 << 11;

/// Tables of a trace as Parquet files, written row group by row group while the capture is read:
/// memory does not grow with its length, only with the number of connections that live at once.
///
/// Each column explains itself in the file's metadata; so does the zero of its times, the key
/// `tcplab.zero_unix_ns`.
pub struct TraceTables<W: Write + Send> {
    connections: Option<Table<ConnectionRow, W>>,
    segments: Option<Table<SegmentRow, W>>,
    events: Option<Table<EventRow, W>>,
    episodes: Option<Table<EpisodeRow, W>>,
    stalls: Option<Table<StallRow, W>>,
    limits: Option<Table<LimitRow, W>>,
    /// What must be known of the directions of connections that are not over.
    live: BTreeMap<usize, [Known; 2]>,
    /// The latest packet's time.
    now: Instant,
    failed: Option<io::Error>,
}

/// What was told of a direction before.
#[derive(Debug, Default)]
struct Known {
    high: Option<Offset>,
    before: Option<Before>,
    episodes: u64,
}

/// A table that is whole.
#[derive(Debug)]
pub struct WrittenTable<W> {
    /// Which.
    pub table: TraceTable,
    /// How many rows it has.
    pub rows: u64,
    /// Where it was written.
    pub out: W,
}

impl<W: Write + Send> TraceTables<W> {
    /// Begins these tables, each where `open` says; outputs should be buffered.
    ///
    /// # Errors
    /// The first error of `open`, or of what it opened.
    pub fn create(
        which: &[TraceTable],
        mut open: impl FnMut(TraceTable) -> io::Result<W>,
    ) -> io::Result<TraceTables<W>> {
        let mut opened = TraceTable::ALL
            .into_iter()
            .map(|table| which.contains(&table).then(|| open(table)).transpose());
        let mut next = || opened.next().unwrap_or(Ok(None));
        Ok(TraceTables {
            connections: begin(connection_columns(), CONNECTIONS_PER_GROUP, next()?)?,
            segments: begin(segments::COLUMNS.iter().collect(), ROWS_PER_GROUP, next()?)?,
            events: begin(events::COLUMNS.iter().collect(), ROWS_PER_GROUP, next()?)?,
            episodes: begin(periods::EPISODES.iter().collect(), CONNECTIONS_PER_GROUP, next()?)?,
            stalls: begin(periods::STALLS.iter().collect(), ROWS_PER_GROUP, next()?)?,
            limits: begin(periods::LIMITS.iter().collect(), ROWS_PER_GROUP, next()?)?,
            live: BTreeMap::new(),
            now: Instant::ZERO,
            failed: None,
        })
    }

    /// Whether something could not be written: then the rest is not even tried.
    pub fn has_failed(&self) -> bool {
        self.failed.is_some()
    }

    /// Ends the tables; `trace` is what the analyser gave beside the sink.
    ///
    /// # Errors
    /// The first that any table had; then none is to be used.
    pub fn finish(self, trace: &Trace) -> io::Result<Vec<WrittenTable<W>>> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        let notes = || {
            let zero = ("tcplab.zero_unix_ns".to_owned(), trace.epoch_nanos.to_string());
            let packets = ("tcplab.packets".to_owned(), trace.packets.to_string());
            vec![zero, packets]
        };
        let written = [
            end(TraceTable::Connections, self.connections, notes())?,
            end(TraceTable::Segments, self.segments, notes())?,
            end(TraceTable::Events, self.events, notes())?,
            end(TraceTable::Episodes, self.episodes, notes())?,
            end(TraceTable::Stalls, self.stalls, notes())?,
            end(TraceTable::Limits, self.limits, notes())?,
        ];
        Ok(written.into_iter().flatten().collect())
    }

    fn known(&mut self, flow: FlowId) -> &mut Known {
        &mut self.live.entry(flow.connection).or_default()[usize::from(!flow.forward)]
    }
}

impl<W: Write + Send> std::fmt::Debug for TraceTables<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TraceTables").field("failed", &self.failed).finish_non_exhaustive()
    }
}

/// The columns of a connection: its own, then those of both directions.
fn connection_columns() -> Vec<&'static Column<ConnectionRow>> {
    connections::IDENTITY.iter().chain(directions::DIRECTIONS).collect()
}

fn begin<R, W: Write + Send>(
    columns: Vec<&'static Column<R>>,
    rows_per_group: usize,
    out: Option<W>,
) -> io::Result<Option<Table<R, W>>> {
    let begun = out.map(|out| Table::new(columns, rows_per_group, out)).transpose();
    begun.map_err(reason)
}

fn end<R, W: Write + Send>(
    which: TraceTable,
    table: Option<Table<R, W>>,
    notes: Vec<(String, String)>,
) -> io::Result<Option<WrittenTable<W>>> {
    let Some(table) = table else { return Ok(None) };
    let (rows, out) = table.finish(notes).map_err(reason)?;
    Ok(Some(WrittenTable { table: which, rows, out }))
}

/// Adds a row, unless something went wrong before.
fn push<R, W: Write + Send>(
    table: &mut Option<Table<R, W>>,
    failed: &mut Option<io::Error>,
    row: impl FnOnce() -> R,
) {
    let (Some(table), None) = (table, &failed) else { return };
    let pushed: ParquetResult<()> = table.push(row());
    if let Err(error) = pushed {
        *failed = Some(reason(error));
    }
}

impl<W: Write + Send> Sink for TraceTables<W> {
    fn segment(&mut self, flow: FlowId, segment: Segment) {
        self.now = segment.at;
        if self.segments.is_none() {
            return;
        }
        let known = self.known(flow);
        let (high, end) = (known.high, segment.range.end);
        known.high = Some(high.map_or(end, |high| high.max(end)));
        let edge = known.before.and_then(|before| {
            Some(before.ack.as_u64() + before.window.filter(|&w| w > Bytes::ZERO)?.as_u64())
        });
        let fills_window = edge == Some(end.as_u64()) && segment.payload > Bytes::ZERO;
        push(&mut self.segments, &mut self.failed, || SegmentRow {
            flow,
            segment,
            high,
            fills_window,
        });
    }

    fn ack(&mut self, flow: FlowId, ack: Ack) {
        self.now = ack.at;
        let known = self.known(flow);
        let before = known.before;
        let kind = AckKind::of(&ack, before);
        if kind != Some(AckKind::Old) {
            known.before = Some(Before { ack: ack.ack, window: ack.window });
        }
        let Some(kind) = kind else { return };
        let new = before.map_or(ack.ack, |before| before.ack);
        let new = if ack.ack > new { ack.ack.since(new) } else { Bytes::ZERO };
        push(&mut self.events, &mut self.failed, || EventRow {
            flow,
            at: ack.at,
            frame: ack.frame,
            what: What::Ack { ack: Box::new(ack), kind, new },
        });
    }

    fn episode(&mut self, flow: FlowId, episode: Episode) {
        let known = self.known(flow);
        known.episodes += 1;
        let number = known.episodes;
        push(&mut self.episodes, &mut self.failed, || EpisodeRow { flow, number, episode });
    }

    fn stall(&mut self, flow: FlowId, stall: Stall) {
        push(&mut self.stalls, &mut self.failed, || StallRow { flow, stall });
    }

    fn limit(&mut self, flow: FlowId, period: LimitPeriod) {
        push(&mut self.limits, &mut self.failed, || LimitRow { flow, period });
    }

    fn spurious(&mut self, flow: FlowId, frame: u64, why: Spurious) {
        let at = self.now;
        push(&mut self.events, &mut self.failed, || EventRow {
            flow,
            at,
            frame: names::spurious(why).1.unwrap_or(frame),
            what: What::Spurious { about: frame, why },
        });
    }

    fn connection(&mut self, index: usize, connection: Connection) {
        self.live.remove(&index);
        let number = index as u64;
        push(&mut self.connections, &mut self.failed, || ConnectionRow { number, connection });
    }
}

#[cfg(test)]
mod page;
