//! Tables without their rows, for pages and schemas.

use crate::column::Column;

/// A table without its rows.
#[derive(Debug)]
pub struct TableInfo {
    /// Its name: `segments`.
    pub name: &'static str,
    /// What its rows are.
    pub about: &'static str,
    /// Its columns in order.
    pub columns: Vec<ColumnInfo>,
}

/// A column without its cells.
#[derive(Debug)]
pub struct ColumnInfo {
    /// Its name in files: `forward_rtt_min_ns`.
    pub name: String,
    /// The type of its cells.
    pub kind: &'static str,
    /// Whether cells may be empty.
    pub may_be_empty: bool,
    /// What it is, and when it is empty.
    pub meaning: String,
}

pub(crate) fn described<R>(columns: &[Column<R>]) -> Vec<ColumnInfo> {
    let of = |column: &Column<R>| ColumnInfo {
        name: column.name().to_owned(),
        kind: column.kind().name(),
        may_be_empty: column.may_be_empty(),
        meaning: column.meaning().to_owned(),
    };
    columns.iter().map(of).collect()
}
