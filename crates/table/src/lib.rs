//! Results as tables for notebooks and databases: the only crate that knows Parquet.
//!
//! A table is a list of columns, each with its name, what it means and how a row fills it; the
//! rows come one by one and leave in groups, so a table of any length takes the same memory.
//! Names end in their unit. Each column explains itself in the file's own metadata, under
//! `tcplab.column.<name>`; `tcplab.version` says which tcplab wrote it.

mod column;
mod file;
mod trace;
mod truth;

pub use trace::{ConnectionsCsv, TraceTable, TraceTables, WrittenTable};
pub use truth::truth_to_parquet;

use std::io;

/// Why a table could not be written. `E` is what the source of its rows has to complain about.
#[derive(Debug, thiserror::Error)]
pub enum TableError<E> {
    /// There is no next row, and there should be one.
    #[error(transparent)]
    Row(E),
    /// Such as a full disk. What was written so far is no table.
    #[error("cannot write the table: {source}")]
    Write {
        /// What the writer said.
        source: io::Error,
    },
}
