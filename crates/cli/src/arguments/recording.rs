//! The flags of `tcplab export` and `tcplab replay`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::JsonArguments;

#[derive(Debug, Args)]
pub(crate) struct ExportArguments {
    /// The recording: a directory with path.jsonl and DONE, such as
    /// runs/NAME/TIME-HASH/trials/CASE-1
    pub(crate) recording: PathBuf,
    /// File format
    #[arg(long, value_name = "FORMAT", default_value = "parquet")]
    pub(crate) format: Format,
    /// Write this file [default: path.parquet or path.jsonl here]; `-` is standard output
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Columns, for notebooks and databases
    Parquet,
    /// JSON Lines: an object for each packet
    Jsonl,
}

#[derive(Debug, Args)]
pub(crate) struct ReplayArguments {
    /// The recording: a directory with path.jsonl and DONE
    pub(crate) recording: PathBuf,
    #[command(flatten)]
    pub(crate) json: JsonArguments,
}
