//! `tcplab export`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{io, iter};

use anyhow::{Context, Error, Result, bail};
use tcplab_lab::compare::CompareError;
use tcplab_lab::{RunDirectory, read_run};
use tcplab_recording::{Recording, RecordingError, capture_file, is_of_packets};
use tcplab_report::trace::notes_text;
use tcplab_scenario::nearest;
use tcplab_table::{Format, TableError, TraceTable, TraceTables, write_samples, write_truth};
use tcplab_units::Endpoint;

use crate::arguments::{ExportArguments, RUNS};
use crate::output::{Output, answer, commit, counted, print_note};
use crate::remedied::Remedied;
use crate::trace::look;
use crate::work::Work;
use tcplab_actions::{analyzer_of, open};

pub(crate) fn export(arguments: &ExportArguments) -> Result<ExitCode> {
    let source = Source::of(&RunDirectory::named(&arguments.source, Path::new(RUNS)))?;
    let tables = source.tables();
    let is_wanted = arguments.output.is_some() || arguments.format.is_some();
    let first = tables.first().filter(|_| is_wanted).map(|(name, _)| name);
    let Some(name) = arguments.table.as_ref().or(first) else {
        answer(&list(&tables))?;
        return Ok(ExitCode::SUCCESS);
    };
    if !tables.iter().any(|(known, _)| known == name) {
        let known: Vec<&str> = tables.iter().map(|(known, _)| known.as_str()).collect();
        let near = nearest(name, known.iter().copied());
        let near = near.map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
        bail!(
            "no table `{name}` in {}: {near}use one of: {}",
            arguments.source.display(),
            known.join(", ")
        );
    }
    let format = arguments.format.map_or_else(|| format_of(arguments), |it| Ok(it.into()))?;
    let place = arguments.output.clone().unwrap_or_else(|| default_output(name, format));
    let output = Output::create(&place)?;
    if !format.is_text() && output.is_terminal() {
        bail!("{} is not for terminals: name a file with `--output FILE`", format.extension());
    }
    let (rows, output) = source.write(name, format, output)?;
    commit(output, &counted(rows, "row"))?;
    Ok(ExitCode::SUCCESS)
}

/// As the name of the output ends.
fn format_of(arguments: &ExportArguments) -> Result<Format> {
    let Some(ending) = arguments.output.as_ref().and_then(|output| output.extension()) else {
        return Ok(Format::Csv);
    };
    let format = Format::ALL.into_iter().find(|format| ending == format.extension());
    format.with_context(|| {
        let ending = ending.display();
        format!("no format `.{ending}`: end FILE in {ENDINGS}, or add `--format`")
    })
}

const ENDINGS: &str = ".csv, .jsonl, .parquet or .arrow";

fn default_output(table: &str, format: Format) -> PathBuf {
    format!("{}.{}", table.replace('/', "-"), format.extension()).into()
}

/// Name and meaning of each.
type Tables = Vec<(String, String)>;

fn list(tables: &Tables) -> String {
    let width = tables.iter().map(|(name, _)| name.len()).max().unwrap_or_default();
    let first = |about: &str| about.split_inclusive(". ").next().unwrap_or_default().to_owned();
    let line = |(name, about): &(String, String)| format!("{name:width$}  {}\n", first(about));
    tables.iter().map(line).collect::<String>()
        + &format!("\nWrite one with `--table NAME -o FILE`: FILE ends in {ENDINGS}.\n")
}

/// What tables are made from.
enum Source {
    Run(Box<RunDirectory>),
    Trial(Recording, PathBuf),
    Capture(PathBuf),
}

impl Source {
    fn of(path: &Path) -> Result<Source> {
        if path.join("run.json").exists() {
            return Ok(Source::Run(Box::new(RunDirectory::open(path)?)));
        }
        if path.join("plan.json").exists() {
            return Err(CompareError::NoResults { path: path.into() }.into());
        }
        if path.is_dir() {
            let recording = Recording::open(path).map_err(|error| no_trial(path, error))?;
            // One of them may be there alone.
            if !path.read_dir()?.flatten().any(|entry| is_of_packets(&entry.path())) {
                recording.need_packets()?;
            }
            return Ok(Source::Trial(recording, path.to_owned()));
        }
        // Its tables are named only if it is one.
        open(path)?;
        Ok(Source::Capture(path.to_owned()))
    }

    fn tables(&self) -> Tables {
        let of_trace = |prefix: &str| -> Tables {
            let of = |table: &TraceTable| {
                (format!("{prefix}{}", table.name()), table.about().to_owned())
            };
            TraceTable::ALL.iter().map(of).collect()
        };
        match self {
            Source::Run(_) => {
                let of = |(name, about): (&str, &str)| (name.to_owned(), about.to_owned());
                tcplab_lab::run_tables().map(of).collect()
            }
            Source::Trial(recording, path) => {
                let mut tables =
                    vec![("path".to_owned(), "A row for each packet on the path.".to_owned())];
                if recording.has_samples() {
                    let about = "A row for each sample of TCP_INFO.";
                    tables.push(("samples".to_owned(), about.to_owned()));
                }
                for end in Endpoint::BOTH {
                    if path.join(capture_file(end)).exists() {
                        tables.extend(of_trace(&format!("{}/", end.name())));
                    }
                }
                tables
            }
            Source::Capture(_) => of_trace(""),
        }
    }

    /// How many rows were written, and where.
    fn write(&self, name: &str, format: Format, out: Output) -> Result<(u64, Output)> {
        match self {
            Source::Run(directory) => {
                let run = read_run(directory.path())?;
                let trials = run.cases.iter().map(|case| case.trials.len() as u64).sum();
                let progress = Work::of_steps(Some(trials), "trials");
                let step = || progress.step();
                Ok(tcplab_lab::write_run_table(directory, &run, name, format, out, step)?)
            }
            Source::Trial(recording, path) => match name.split_once('/') {
                Some((end, table)) => {
                    let end = Endpoint::BOTH.into_iter().find(|it| it.name() == end);
                    let end = end.context("no such end")?;
                    of_capture(&path.join(capture_file(end)), table, format, out)
                }
                None if name == "samples" => samples(recording, format, out),
                None => path_log(recording, format, out),
            },
            Source::Capture(path) => of_capture(path, name, format, out),
        }
    }
}

/// Why a directory that is no run has no tables.
fn no_trial(path: &Path, error: RecordingError) -> Error {
    let place = path.display();
    if ["sweep.json", "archive.json"].iter().any(|plan| path.join(plan).is_file()) {
        return Remedied::error(
            format!("{place} is a data set, whose tables are files already"),
            format!("read its Parquet files, such as with DuckDB or tcplab.Dataset({place:?})"),
        );
    }
    // A trial that runs, or did not end.
    let is_trial = Endpoint::BOTH.iter().any(|end| path.join(capture_file(*end)).exists());
    let captures = tcplab_actions::captures(&[path.to_owned()]).unwrap_or_default();
    match captures.first() {
        Some(first) if !is_trial => Remedied::error(
            format!("{place} is neither a run nor a trial: `export` takes one capture"),
            format!(
                "pass one, such as {}; `tcplab archive {place} -o PLACE` keeps tables of all",
                first.display()
            ),
        ),
        _ => error.into(),
    }
}

fn of_capture(path: &Path, name: &str, format: Format, out: Output) -> Result<(u64, Output)> {
    let table = TraceTable::ALL.iter().find(|table| table.name() == name);
    let table = *table.context("no such table")?;
    let mut out = Some(out);
    let taken = |_| out.take().ok_or_else(|| io::Error::other("one table only"));
    let tables = TraceTables::create(&[table], format, taken)?;
    let mut analyzer = analyzer_of(path, tables);
    let reader = open(path)?;
    let progress = Work::of_reading(iter::once(reader.source()));
    analyzer.read(reader);
    drop(progress);
    let (trace, tables) = analyzer.finish_into();
    notes_text(&trace.notes, look(false)).lines().for_each(print_note);
    let written = tables.finish(&trace)?.pop().context("the table was begun")?;
    Ok((written.rows, written.out))
}

fn path_log(recording: &Recording, format: Format, mut out: Output) -> Result<(u64, Output)> {
    let progress = Work::of_steps(None, "rows");
    let rows = recording.truth_rows()?.inspect(|_| progress.step());
    let rows = write_truth(format, rows, &mut out).map_err(|error| match error {
        TableError::Row(error) => anyhow::Error::from(error),
        TableError::Write { source } => source.into(),
    })?;
    Ok((rows, out))
}

fn samples(recording: &Recording, format: Format, out: Output) -> Result<(u64, Output)> {
    Ok(write_samples(format, &recording.samples()?, out)?)
}
