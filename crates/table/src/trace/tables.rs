//! An analysed capture as tables, written while it is read.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{self, Write};

use tcplab_trace::{
    Ack, BareReset, Connection, Episode, FlowId, LimitPeriod, Segment, Sink, Spurious, Stall, Trace,
};
use tcplab_units::Instant;

use super::connections::{ConnectionRow, IDENTITY};
use super::details::{self, FindingRow, MssRow, NotableRow, SeriesRow, StallCauseRow, StateRow};
use super::events::{self, AckKind, EventRow, What};
use super::packets::Past;
use super::periods::{self, EpisodeRow, LimitRow, LostRow, StallRow};
use super::segments::{self, SegmentRow};
use super::{directions, names};
use crate::column::Column;
use crate::format::Format;
use crate::table::Table;

/// Rows that wait until they are written together: less than elsewhere, since a row of an
/// acknowledgement with its blocks takes several hundred bytes, and two tables fill at once.
const MANY: usize = 1 << 15;
/// The same of rows that take several kilobytes.
const FEW: usize = 1 << 11;

/// From one list: the tables, what each is, its columns and its file.
macro_rules! tables {
    ($(
        $(#[$doc:meta])*
        $table:ident $field:ident $row:ident $group:ident $columns:expr, $about:literal;
    )*) => {
        /// A table of a trace.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum TraceTable {
            $(#[doc = $about] $table,)*
        }

        impl TraceTable {
            /// All of them.
            pub const ALL: &[TraceTable] = &[$(TraceTable::$table),*];

            /// Its name, which is that of its file without the extension.
            pub fn name(self) -> &'static str {
                match self {
                    $(TraceTable::$table => stringify!($field),)*
                }
            }

            /// What its rows are.
            pub fn about(self) -> &'static str {
                match self {
                    $(TraceTable::$table => $about,)*
                }
            }

            /// Its columns.
            pub(crate) fn columns(self) -> Vec<crate::described::ColumnInfo> {
                match self {
                    $(TraceTable::$table => crate::described::described(&$columns),)*
                }
            }
        }

        /// The tables that were asked for.
        struct Files<W: Write + Send> {
            $($field: Option<Table<$row, W>>,)*
        }

        impl<W: Write + Send> Files<W> {
            fn create(
                which: &[TraceTable],
                format: Format,
                mut open: impl FnMut(TraceTable) -> io::Result<W>,
            ) -> io::Result<Files<W>> {
                Ok(Files {
                    $($field: if which.contains(&TraceTable::$table) {
                        let out = open(TraceTable::$table)?;
                        Some(Table::with_groups(format, $columns, $group, out)?)
                    } else {
                        None
                    },)*
                })
            }

            fn finish(self, notes: &[(String, String)]) -> io::Result<Vec<WrittenTable<W>>> {
                let mut written = Vec::new();
                $(if let Some(table) = self.$field {
                    let (rows, out) = table.finish(notes)?;
                    written.push(WrittenTable { table: TraceTable::$table, rows, out });
                })*
                Ok(written)
            }
        }
    };
}

tables! {
    Connections connections ConnectionRow FEW connection_columns(),
        "A row for each connection.";
    Segments segments SegmentRow MANY Cow::Borrowed(segments::COLUMNS),
        "A row for each packet with data, SYN or FIN.";
    Events events EventRow MANY Cow::Borrowed(events::COLUMNS),
        "A row for each packet that gives the sender of data new information (acknowledgements, \
         duplicates, SACK, another window, resets), and for each retransmission that turns out to be \
         spurious. Packets that repeat the one before, as data packets of a transfer the other way \
         do, have none.";
    Episodes episodes EpisodeRow FEW Cow::Borrowed(periods::EPISODES),
        "A row for each recovery episode: from the first evidence of a loss until its repair.";
    Lost lost LostRow MANY Cow::Borrowed(periods::LOST),
        "A row for each lost transmission of an episode.";
    Stalls stalls StallRow MANY Cow::Borrowed(periods::STALLS),
        "A row for each time in which a transfer stood still.";
    StallCauses stall_causes StallCauseRow MANY Cow::Borrowed(details::STALL_CAUSES),
        "A row for each direction and cause of stalls.";
    Limits limits LimitRow MANY Cow::Borrowed(periods::LIMITS),
        "A row for each period in which one thing bounded the rate of a direction.";
    Notable notable NotableRow MANY Cow::Borrowed(details::NOTABLE),
        "A row for each direction and quantity that was found, with its first frames.";
    MssChanges mss_changes MssRow MANY Cow::Borrowed(details::MSS_CHANGES),
        "A row for each time full segments became smaller for good.";
    Series series SeriesRow MANY Cow::Borrowed(details::SERIES),
        "Data over time: a row for each direction and interval. There are at most 512 intervals; \
         their length grows with the connection.";
    States states StateRow MANY Cow::Borrowed(details::STATES),
        "A row for each state that an end entered.";
    Findings findings FindingRow FEW Cow::Borrowed(details::FINDINGS),
        "A row for each finding that the sums of a connection give.";
}

/// The columns of a connection: its own, then those of both directions.
fn connection_columns() -> Cow<'static, [Column<ConnectionRow>]> {
    let own = IDENTITY.iter().cloned();
    own.chain(directions::of_both()).collect::<Vec<_>>().into()
}

/// Tables of a trace, written while the capture is read: memory does not grow with its length, only
/// with the number of connections that live at once.
///
/// The metadata of Parquet and Arrow files have the zero of its times, `tcplab.zero_unix_ns`, in
/// nanoseconds after the beginning of 1970.
pub struct TraceTables<W: Write + Send> {
    files: Files<W>,
    /// Directions of connections that are not over.
    live: BTreeMap<usize, [Past; 2]>,
    /// The latest packet's time.
    now: Instant,
    failed: Option<io::Error>,
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
        format: Format,
        open: impl FnMut(TraceTable) -> io::Result<W>,
    ) -> io::Result<TraceTables<W>> {
        Ok(TraceTables {
            files: Files::create(which, format, open)?,
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
        let zero = ("tcplab.zero_unix_ns".to_owned(), trace.epoch_nanos.to_string());
        let packets = ("tcplab.packets".to_owned(), trace.packets.to_string());
        self.files.finish(&[zero, packets])
    }

    fn past(&mut self, flow: FlowId) -> &mut Past {
        &mut self.live.entry(flow.connection).or_default()[usize::from(!flow.forward)]
    }
}

impl<W: Write + Send> std::fmt::Debug for TraceTables<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TraceTables").field("failed", &self.failed).finish_non_exhaustive()
    }
}

/// Adds rows, unless something went wrong before.
fn push<R, W: Write + Send>(
    table: &mut Option<Table<R, W>>,
    failed: &mut Option<io::Error>,
    rows: impl IntoIterator<Item = R>,
) {
    let (Some(table), None) = (table, &failed) else { return };
    *failed = rows.into_iter().try_for_each(|row| table.push(row)).err();
}

impl<W: Write + Send> Sink for TraceTables<W> {
    fn segment(&mut self, flow: FlowId, segment: Segment) {
        self.now = segment.at;
        if self.files.segments.is_some() {
            let row = self.past(flow).segment(flow, segment);
            push(&mut self.files.segments, &mut self.failed, [row]);
        }
    }

    fn ack(&mut self, flow: FlowId, ack: Ack) {
        self.now = ack.at;
        let (kind, row) = self.past(flow).ack(flow, ack);
        if kind != AckKind::Repeated {
            push(&mut self.files.events, &mut self.failed, [row]);
        }
    }

    fn reset(&mut self, flow: FlowId, reset: BareReset) {
        self.now = reset.at;
        let [_, (opposite, heard)] = reset.in_both(flow);
        let row = EventRow::of_reset(opposite, heard);
        push(&mut self.files.events, &mut self.failed, [row]);
    }

    fn episode(&mut self, flow: FlowId, episode: Episode) {
        let number = self.past(flow).episode();
        let lost = episode.lost.iter().map(|&lost| LostRow { flow, episode: number, lost });
        push(&mut self.files.lost, &mut self.failed, lost);
        push(&mut self.files.episodes, &mut self.failed, [EpisodeRow { flow, number, episode }]);
    }

    fn stall(&mut self, flow: FlowId, stall: Stall) {
        push(&mut self.files.stalls, &mut self.failed, [StallRow { flow, stall }]);
    }

    fn limit(&mut self, flow: FlowId, period: LimitPeriod) {
        push(&mut self.files.limits, &mut self.failed, [LimitRow { flow, period }]);
    }

    fn spurious(&mut self, flow: FlowId, frame: u64, why: Spurious) {
        let row = EventRow {
            flow,
            at: self.now,
            frame: names::spurious(why).1.unwrap_or(frame),
            what: What::Spurious { about: frame, why },
        };
        push(&mut self.files.events, &mut self.failed, [row]);
    }

    fn connection(&mut self, index: usize, connection: &Connection) {
        self.live.remove(&index);
        let number = index as u64;
        let failed = &mut self.failed;
        for (forward, it) in [(true, &connection.forward), (false, &connection.reverse)] {
            let flow = FlowId { connection: index, forward };
            push(&mut self.files.notable, failed, details::notable(flow, it));
            let sums = it.stall_sums.iter().map(|&sum| StallCauseRow { flow, sum });
            push(&mut self.files.stall_causes, failed, sums);
            let smaller = it.marks.mss_changes.iter().map(|&change| MssRow { flow, change });
            push(&mut self.files.mss_changes, failed, smaller);
            push(&mut self.files.series, failed, details::series(flow, it));
        }
        push(&mut self.files.states, failed, details::states(number, connection));
        if self.files.findings.is_some() {
            let found = tcplab_findings::examine(connection).into_iter();
            let rows = found.map(|finding| FindingRow { connection: number, finding });
            push(&mut self.files.findings, failed, rows);
        }
        let row = ConnectionRow { number, connection: connection.clone() };
        push(&mut self.files.connections, failed, [row]);
    }
}
