//! The flags of `tcplab export` and `tcplab replay`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::JsonArguments;

#[derive(Debug, Args)]
pub(crate) struct ExportArguments {
    /// A run directory, a scenario's name for its newest run, a trial's directory, or a capture
    pub(crate) source: PathBuf,
    /// The table to write [default: list the tables; with --output or --format the first]
    #[arg(long, value_name = "NAME")]
    pub(crate) table: Option<String>,
    /// File format [default: as the name of --output ends, else csv]
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Option<Format>,
    /// Write this file [default: TABLE.FORMAT here]; `-` is standard output
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Comma-separated values
    Csv,
    /// JSON Lines: an object for each row
    Jsonl,
    /// Apache Parquet
    Parquet,
    /// Apache Arrow IPC (Feather)
    Arrow,
}

impl From<Format> for tcplab_table::Format {
    fn from(format: Format) -> tcplab_table::Format {
        match format {
            Format::Csv => tcplab_table::Format::Csv,
            Format::Jsonl => tcplab_table::Format::Jsonl,
            Format::Parquet => tcplab_table::Format::Parquet,
            Format::Arrow => tcplab_table::Format::Arrow,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct ReplayArguments {
    /// The recording: a directory with path.jsonl and DONE
    pub(crate) recording: PathBuf,
    #[command(flatten)]
    pub(crate) json: JsonArguments,
}
