//! The ground truth: the path's verdict on every packet.

use std::io::Write;

use tcplab_path::{Cause, Transmission};
use tcplab_recording::TruthRow;

use crate::TableError;
use crate::column::{Cells, Column, Values};
use crate::file;

/// Writes the path's log as a Parquet file, in the order of `rows`, and says how many rows these
/// were. It takes the same memory for any number of rows, and asks for each when it is needed.
///
/// # Errors
/// The first error of `rows` or of `out`, after which what was written is no table.
pub fn truth_to_parquet<E>(
    rows: impl Iterator<Item = Result<TruthRow, E>>,
    out: impl Write + Send,
) -> Result<u64, TableError<E>> {
    file::write(COLUMNS, rows, out)
}

/// A row for each packet and, in words, how the log's fields become columns.
pub(crate) const COLUMNS: &[Column<TruthRow>] = &[
    Column {
        name: "frame",
        doc: "The packet's frame number in the capture of the endpoint that sent it, from 1; \
              empty if that has no such frame: the path made the packet, or the capture lost it",
        values: Values::Near,
        cells: Cells::NumberIfAny(|row| row.frame),
    },
    Column {
        name: "id",
        doc: "The packet's number on the path",
        values: Values::Near,
        cells: Cells::Number(|row| row.verdict.id),
    },
    Column {
        name: "direction",
        doc: "The way it went: forward (client to server) or reverse",
        values: Values::Few,
        cells: Cells::Text(|row| row.verdict.direction.name().into()),
    },
    Column {
        name: "size_bytes",
        doc: "Its length from the IP header on, in bytes",
        values: Values::Few,
        cells: Cells::Number(|row| row.verdict.size.as_u64()),
    },
    Column {
        name: "entered_ns",
        doc: "When it came to the link, in nanoseconds from the trial's zero",
        values: Values::Near,
        cells: Cells::Number(|row| row.verdict.entered.as_nanos()),
    },
    Column {
        name: "queued_ns",
        doc: "When it came to the bottleneck's queue, in nanoseconds from the trial's zero; \
              empty if it was never sent there",
        values: Values::Near,
        cells: Cells::NumberIfAny(|row| transmission(row).map(|sent| sent.queued.as_nanos())),
    },
    Column {
        name: "began_ns",
        doc: "When the bottleneck began to send it, in nanoseconds from the trial's zero; \
              empty if it was never sent there",
        values: Values::Near,
        cells: Cells::NumberIfAny(|row| transmission(row).map(|sent| sent.began.as_nanos())),
    },
    Column {
        name: "ended_ns",
        doc: "When the bottleneck had sent its last bit, in nanoseconds from the trial's zero: \
              after left_ns if the trial ended before; empty if it was never sent there",
        values: Values::Near,
        cells: Cells::NumberIfAny(|row| transmission(row).map(|sent| sent.ended.as_nanos())),
    },
    Column {
        name: "left_ns",
        doc: "When it left the link, delivered, dropped, or found there at the end of the trial, \
              in nanoseconds from the trial's zero",
        values: Values::Near,
        cells: Cells::Number(|row| row.verdict.left.as_nanos()),
    },
    Column {
        name: "fate",
        doc: "How it left the link: delivered, dropped, still-on-link, or absorbed (cross traffic)",
        values: Values::Few,
        cells: Cells::Text(|row| row.verdict.fate.name().into()),
    },
    Column {
        name: "cause",
        doc: "Why it was dropped, by a stable name such as queue-full; empty if it was not",
        values: Values::Few,
        cells: Cells::TextIfAny(|row| row.verdict.fate.cause().map(Cause::name).map(Into::into)),
    },
    Column {
        name: "detail",
        doc: "Why it was dropped, as a sentence with figures; empty if it was not",
        values: Values::Few,
        cells: Cells::TextIfAny(|row| {
            row.verdict.fate.cause().map(|cause| cause.to_string().into())
        }),
    },
    Column {
        name: "origin_id",
        doc: "Of a packet that the path made itself: the id of the one that it is a copy of, or \
              an answer to; empty if an endpoint sent it, or it is cross traffic",
        values: Values::Near,
        cells: Cells::NumberIfAny(|row| row.verdict.origin),
    },
    Column {
        name: "marked",
        doc: "1 if the path marked it as having met congestion (CE), else 0",
        values: Values::Few,
        cells: Cells::Number(|row| row.verdict.marked.into()),
    },
    Column {
        name: "corrupted_bit",
        doc: "The first bit that the path changed, counted from the packet's first; empty if it changed none",
        values: Values::Near,
        cells: Cells::NumberIfAny(|row| row.verdict.corrupted.map(u64::from)),
    },
    Column {
        name: "because",
        doc: "Why the endpoint sent it, such as `timeout`; empty if it does not tell (only models \
              of stacks do)",
        values: Values::Few,
        cells: Cells::TextIfAny(|row| row.because.clone()),
    },
];

fn transmission(row: &TruthRow) -> Option<Transmission> {
    row.verdict.transmission
}
