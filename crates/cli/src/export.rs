//! `tcplab export`.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use tcplab_recording::{Recording, RecordingError};
use tcplab_table::{TableError, truth_to_parquet};

use crate::arguments::{ExportArguments, Format};
use crate::output::tell;

pub(crate) fn export(arguments: &ExportArguments) -> Result<ExitCode> {
    let recording = Recording::open(&arguments.recording)?;
    let output = arguments.output.clone().unwrap_or_else(|| default_output(arguments.format));
    if output.as_os_str() == "-" {
        if arguments.format == Format::Parquet && io::IsTerminal::is_terminal(&io::stdout()) {
            bail!("Parquet is not for terminals: name a file with `--output FILE`");
        }
        write(&recording, arguments.format, io::stdout()).context("cannot write")?;
        return Ok(ExitCode::SUCCESS);
    }
    // Written beside and renamed, so that a file of this name is whole.
    let beside = beside(&output);
    let written = File::create(&beside).map_err(Unwritten::from).and_then(|file| {
        let rows = write(&recording, arguments.format, &file)?;
        file.sync_data()?;
        fs::rename(&beside, &output)?;
        Ok(rows)
    });
    match written {
        Ok(rows) => tell(&format!("{}: {rows} packets", output.display())),
        Err(error) => {
            let _ = fs::remove_file(&beside);
            return Err(error).with_context(|| format!("cannot write {}", output.display()));
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn default_output(format: Format) -> PathBuf {
    match format {
        Format::Parquet => "path.parquet".into(),
        Format::Jsonl => "path.jsonl".into(),
    }
}

fn beside(output: &Path) -> PathBuf {
    let mut name = output.as_os_str().to_owned();
    name.push(format!(".{}.part", std::process::id()));
    name.into()
}

/// The log in that format, and how many rows it has.
fn write(recording: &Recording, format: Format, out: impl Write + Send) -> Result<u64, Unwritten> {
    let rows = recording.truth_rows()?;
    let mut out = BufWriter::with_capacity(1 << 18, out);
    match format {
        Format::Parquet => Ok(truth_to_parquet(rows, out)?),
        Format::Jsonl => {
            let mut count = 0;
            for row in rows {
                serde_json::to_writer(&mut out, &row?).map_err(io::Error::from)?;
                out.write_all(b"\n")?;
                count += 1;
            }
            out.flush()?;
            Ok(count)
        }
    }
}

/// Why there is no table.
#[derive(Debug)]
enum Unwritten {
    Read(RecordingError),
    Write(io::Error),
}

impl std::fmt::Display for Unwritten {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Unwritten::Read(error) => error.fmt(f),
            Unwritten::Write(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Unwritten {}

impl From<RecordingError> for Unwritten {
    fn from(error: RecordingError) -> Unwritten {
        Unwritten::Read(error)
    }
}

impl From<io::Error> for Unwritten {
    fn from(error: io::Error) -> Unwritten {
        Unwritten::Write(error)
    }
}

impl From<TableError<RecordingError>> for Unwritten {
    fn from(error: TableError<RecordingError>) -> Unwritten {
        match error {
            TableError::Row(error) => Unwritten::Read(error),
            TableError::Write { source } => Unwritten::Write(source),
        }
    }
}
