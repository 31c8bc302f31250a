//! The formats of tables.

/// A format of tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Comma-separated values (RFC 4180, with Unix line ends): a header, then a line for each row.
    Csv,
    /// JSON Lines: an object for each row.
    Jsonl,
    /// Apache Parquet.
    Parquet,
    /// Apache Arrow's IPC file format, also known as Feather 2.
    Arrow,
}

impl Format {
    /// All of them.
    pub const ALL: [Format; 4] = [Format::Csv, Format::Jsonl, Format::Parquet, Format::Arrow];

    /// How names of such files end: `csv`.
    pub fn extension(self) -> &'static str {
        match self {
            Format::Csv => "csv",
            Format::Jsonl => "jsonl",
            Format::Parquet => "parquet",
            Format::Arrow => "arrow",
        }
    }

    /// Whether it can be shown at a terminal.
    pub fn is_text(self) -> bool {
        matches!(self, Format::Csv | Format::Jsonl)
    }
}
