//! Results as tables for notebooks and databases: the only crate that knows Parquet and Arrow.
//!
//! A table is a list of columns, each of a [`Quantity`](tcplab_quantities::Quantity), with the
//! function that fills its cells. CSV, JSON Lines, Parquet and Arrow IPC of a table come from that
//! one list, and so does JSON. Rows come one by one and leave in groups, so a table of any length
//! takes the same memory. Parquet and Arrow files explain their columns in their metadata, under
//! `tcplab.column.<name>` and `tcplab.unit.<name>`; `tcplab.version` is that of the writer.

mod arrow;
mod column;
mod described;
mod error;
mod format;
mod memory;
mod metadata;
#[cfg(test)]
mod page;
mod parquet;
mod samples;
mod table;
mod trace;
mod truth;
mod value;

pub use column::Column;
pub use described::{ColumnInfo, TableInfo};
pub use error::TableError;
pub use format::Format;
pub use memory::{MemoryColumn, MemoryTable};
pub use samples::write_samples;
pub use table::Table;
pub use trace::{
    ConnectionJson, ConnectionsCsv, TraceLines, TraceTable, TraceTables, WrittenTable,
};
pub use truth::write_truth;
pub use value::{Kind, Value};

/// The tables of a trace, and those of a trial: its path and its samples.
pub fn tables() -> Vec<TableInfo> {
    let of = |table: &TraceTable| TableInfo {
        name: table.name(),
        about: table.about(),
        columns: table.columns(),
    };
    let path = TableInfo {
        name: "path",
        about: "A row for each packet on the path of a trial: what the path did to it.",
        columns: described::described(truth::COLUMNS),
    };
    let samples = TableInfo {
        name: "samples",
        about: "A row for each sample of TCP_INFO of a socket of a trial.",
        columns: described::described(&samples::columns()),
    };
    TraceTable::ALL.iter().map(of).chain([path, samples]).collect()
}
