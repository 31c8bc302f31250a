//! The ground truth: the path's verdict on every packet.

use std::io::Write;

use tcplab_path::{Cause, Transmission};
use tcplab_recording::TruthRow;

use crate::column::{Column, columns};
use crate::error::TableError;
use crate::format::Format;
use crate::table::Table;

/// Writes the path's log as a table, in the order of `rows`, and returns their number. It
/// takes the same memory for any number of rows, and asks for each when it is needed.
///
/// # Errors
/// The first error of `rows` or of `out`, after which what was written is no table.
pub fn write_truth<E>(
    format: Format,
    rows: impl Iterator<Item = Result<TruthRow, E>>,
    out: impl Write + Send,
) -> Result<u64, TableError<E>> {
    Table::create(format, COLUMNS, out)?.write_all(rows)
}

/// A row for each packet.
pub(crate) const COLUMNS: &[Column<TruthRow>] = columns! {
    FRAME Near WholeIfAny(|row| row.frame),
        "The packet's frame number in the capture of the endpoint that sent it, from 1; empty if \
         that has no such frame: the path made the packet, or the capture lost it";
    ID Near Wide(|row| row.verdict.id);
    DIRECTION Few Text(|row| row.verdict.direction.name().into()),
        "Which way it went: forward (client to server) or reverse";
    SIZE_BYTES Few Whole(|row| row.verdict.size.as_u64());
    ENTERED_NS Near Whole(|row| row.verdict.entered.as_nanos());
    QUEUED_NS Near WholeIfAny(|row| transmission(row).map(|sent| sent.queued.as_nanos()));
    BEGAN_NS Near WholeIfAny(|row| transmission(row).map(|sent| sent.began.as_nanos()));
    ENDED_NS Near WholeIfAny(|row| transmission(row).map(|sent| sent.ended.as_nanos()));
    LEFT_NS Near Whole(|row| row.verdict.left.as_nanos());
    FATE Few Text(|row| row.verdict.fate.name().into());
    CAUSE Few TextIfAny(|row| row.verdict.fate.cause().map(Cause::name).map(Into::into)),
        "Why it was dropped, by a stable name such as queue-full; empty if it was not";
    DETAIL Few TextIfAny(|row| row.verdict.fate.cause().map(|cause| cause.to_string().into()));
    ORIGIN_ID Near WideIfAny(|row| row.verdict.origin);
    MARKED Few Flag(|row| row.verdict.marked);
    CORRUPTED_BIT Near WholeIfAny(|row| row.verdict.corrupted.map(u64::from));
    FRAGMENT_OFFSET_BYTES Few WholeIfAny(|row| row.verdict.fragment.map(u64::from));
    SECOND_PATH Few Flag(|row| row.verdict.second_path);
    BECAUSE Few TextIfAny(|row| row.because.clone());
};

fn transmission(row: &TruthRow) -> Option<Transmission> {
    row.verdict.transmission
}
