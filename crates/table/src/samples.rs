//! Samples of sockets: `TCP_INFO` over time.

use std::io::{self, Write};

use tcplab_quantities as q;
use tcplab_recording::Sample;

use crate::column::Column;
use crate::format::Format;
use crate::table::Table;
use crate::value::{Kind, Value};

/// Writes samples as a table; returns the number of rows.
///
/// # Errors
/// The first error of `out`, after which what was written is no table.
pub fn write_samples<W: Write + Send>(
    format: Format,
    samples: &[Sample],
    out: W,
) -> io::Result<(u64, W)> {
    let mut table = Table::create(format, columns(), out)?;
    for sample in samples {
        let first = [Value::from(sample.at.as_nanos()), Value::from(sample.endpoint.name())];
        table.push(first.into_iter().chain(sample.cells().map(Value::from)).collect())?;
    }
    table.finish(&[])
}

pub(crate) fn columns() -> Vec<Column<Vec<Value>>> {
    let all = Sample::COLUMNS.iter().map(|column| (column.quantity, Kind::Whole));
    let first = [(q::AT_NS, Kind::Whole), (q::ENDPOINT, Kind::Text)];
    let mut columns = Column::list(&first.into_iter().chain(all).collect::<Vec<_>>());
    columns[0].meaning = "When it was taken, from the trial's zero".into();
    columns
}
