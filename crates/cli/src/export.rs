//! `tcplab export`.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Result, bail};
use tcplab_recording::Recording;
use tcplab_table::{TableError, write_truth};

use crate::arguments::{ExportArguments, Format};
use crate::output::{Output, commit};

pub(crate) fn export(arguments: &ExportArguments) -> Result<ExitCode> {
    let recording = Recording::open(&arguments.recording)?;
    let name = arguments.output.clone().unwrap_or_else(|| default_output(arguments.format));
    let mut output = Output::create(&name)?;
    if arguments.format == Format::Parquet && output.is_terminal() {
        bail!("Parquet is not for terminals: name a file with `--output FILE`");
    }
    let rows = write(&recording, arguments.format, &mut output)?;
    commit(output, &format!("{rows} packets"))?;
    Ok(ExitCode::SUCCESS)
}

fn default_output(format: Format) -> PathBuf {
    match format {
        Format::Parquet => "path.parquet".into(),
        Format::Jsonl => "path.jsonl".into(),
    }
}

/// The log in that format, and how many rows it has.
fn write(recording: &Recording, format: Format, out: &mut Output) -> Result<u64> {
    let rows = recording.truth_rows()?;
    match format {
        Format::Parquet => {
            write_truth(tcplab_table::Format::Parquet, rows, out).map_err(|error| match error {
                TableError::Row(error) => error.into(),
                TableError::Write { source } => source.into(),
            })
        }
        Format::Jsonl => {
            let mut count = 0;
            for row in rows {
                serde_json::to_writer(&mut *out, &row?).map_err(io::Error::from)?;
                out.write_all(b"\n")?;
                count += 1;
            }
            Ok(count)
        }
    }
}
