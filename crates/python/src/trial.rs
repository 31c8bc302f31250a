//! A trial in virtual time, in this process.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use anyhow::{Context, Error, Result, bail};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use tcplab_lab::{Overrides, RunDirectory, begin, complete, no_report};
use tcplab_recording::{Recording, capture_file};
use tcplab_results::Run;
use tcplab_table::{Format, TableError, write_samples, write_truth};
use tcplab_units::Endpoint;
use tempfile::TempDir;

use crate::interrupt::{alone, here};
use crate::run_options::{bench, plan};
use crate::scenario::Scenario;
use crate::table::Table;
use crate::trace::{Captures, Trace, of_captures};

/// A trial in virtual time, with its packets. Its recording is removed with it.
#[pyclass(module = "tcplab._core", frozen)]
#[derive(Debug)]
pub(crate) struct Trial {
    case: String,
    found: tcplab_results::Trial,
    /// Where its recording is.
    directory: PathBuf,
    /// Removed when this is dropped.
    _home: Home,
}

/// Some trials of one case, run as in the whole run, in a directory that goes when it is dropped.
pub(crate) struct Part {
    pub(crate) run: Run,
    pub(crate) directory: RunDirectory,
    home: Home,
}

/// A directory that is removed when this is dropped, or else at the interpreter's end; of a process
/// that was killed, by the next one.
#[derive(Debug)]
struct Home {
    directory: TempDir,
    /// The process that made it, which alone removes it.
    process: u32,
    /// Held as long as this lives: it shows others that the directory is in use.
    _lock: Option<File>,
}

impl Home {
    const PREFIX: &str = "tcplab-trial-";
    /// A directory that nobody holds may be one that is just being made.
    const YOUNG: Duration = Duration::from_secs(60);

    fn new() -> io::Result<Home> {
        let place = place();
        Home::sweep(&place);
        let directory = tempfile::Builder::new().prefix(Home::PREFIX).tempdir_in(&place)?;
        let lock = File::open(directory.path()).ok().filter(|lock| lock.try_lock().is_ok());
        let process = process::id();
        homes().push((process, directory.path().to_owned()));
        Ok(Home { directory, process, _lock: lock })
    }

    /// Removes what killed processes have left; what belongs to others stays.
    fn sweep(place: &Path) {
        let entries = place.read_dir().into_iter().flatten().flatten();
        for entry in entries
            .filter(|it| it.file_name().as_encoded_bytes().starts_with(Home::PREFIX.as_bytes()))
        {
            let is_old = entry
                .metadata()
                .and_then(|it| it.modified())
                .is_ok_and(|modified| modified.elapsed().is_ok_and(|age| age > Home::YOUNG));
            let is_free = || File::open(entry.path()).is_ok_and(|lock| lock.try_lock().is_ok());
            if is_old && is_free() {
                let _ = fs::remove_dir_all(entry.path());
            }
        }
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        if self.process != process::id() {
            // A process that was forked has its parent's objects, and not their directories.
            self.directory.disable_cleanup(true);
            return;
        }
        homes().retain(|(_, home)| home != self.directory.path());
    }
}

/// The directories that there are, each with the process that made it.
fn homes() -> MutexGuard<'static, Vec<(u32, PathBuf)>> {
    static HOMES: Mutex<Vec<(u32, PathBuf)>> = Mutex::new(Vec::new());
    HOMES.lock().expect("no thread panics while it holds the list")
}

/// Removes the directories of this process: an interpreter that ends does not drop each object.
#[pyfunction]
pub(crate) fn remove_recordings() {
    // A process that was forked has its parent's list, and not its directories.
    for (_, home) in homes().drain(..).filter(|(process, _)| *process == process::id()) {
        let _ = fs::remove_dir_all(home);
    }
}

impl Part {
    /// Runs the trials that `overrides` leave, from the one with the number `first` on.
    pub(crate) fn run(
        scenario: &tcplab_scenario::Scenario,
        world: &str,
        kernel: &str,
        program: Option<PathBuf>,
        overrides: Overrides,
        first: Option<u32>,
        stop: &AtomicBool,
    ) -> Result<Part> {
        let mut plan = plan(scenario, world, kernel, program.as_ref(), overrides)?;
        plan.first = first.unwrap_or(plan.first);
        let home = Home::new()?;
        let directory = begin(home.directory.path(), scenario.clone(), plan)?;
        let bench = bench(program, Some(1));
        let outcome = complete(&directory, &bench, stop, |_| {}, no_report)?;
        Ok(Part { run: outcome.run, directory, home })
    }
}

/// Where recordings are that nobody keeps: in memory where there is such a place.
fn place() -> PathBuf {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() { memory.into() } else { std::env::temp_dir() }
}

/// The name of the case; none where there is a choice and nobody made one.
pub(crate) fn case_of(scenario: &tcplab_scenario::Scenario, case: Option<&str>) -> Result<String> {
    match (case, &scenario.cases[..]) {
        (Some(case), _) => Ok(case.to_owned()),
        (None, [only]) => Ok(only.name.clone()),
        (None, cases) => {
            let names: Vec<&str> = cases.iter().map(|case| case.name.as_str()).collect();
            bail!("{} has {} cases: name one of {}", scenario.name, cases.len(), names.join(", "))
        }
    }
}

#[pymethods]
impl Trial {
    #[getter]
    fn case(&self) -> &str {
        &self.case
    }
    #[getter]
    fn number(&self) -> u32 {
        self.found.number
    }
    #[getter]
    fn seed(&self) -> u64 {
        self.found.seed
    }
    #[getter]
    fn directory(&self) -> PathBuf {
        self.directory.clone()
    }

    fn metrics(&self) -> Vec<(String, String, f64)> {
        self.found.metrics.iter().map(|it| (it.name.into(), it.unit.into(), it.value)).collect()
    }

    fn json(&self) -> PyResult<String> {
        here(|| Ok(serde_json::to_string(&self.found)?))
    }

    fn table(&self, py: Python<'_>, name: &str) -> PyResult<Table> {
        alone(py, |stop| table_of(&self.directory, name, stop))
    }

    #[expect(clippy::unused_self, reason = "it is a method of Python")]
    fn __reduce__(&self) -> PyResult<()> {
        Err(PyTypeError::new_err(
            "a trial cannot be pickled, as its packets are in a directory of this process: return \
             its .metrics, .json or tables",
        ))
    }

    fn trace(&self, py: Python<'_>, end: &str) -> PyResult<Trace> {
        alone(py, |stop| of_captures(captures(&self.directory, end)?, Vec::new(), stop))
    }
}

/// Runs a trial of a case in virtual time.
#[pyfunction]
#[pyo3(signature = (scenario, case=None, number=1, seed=None, kernel="newest", program=None))]
pub(crate) fn simulate(
    py: Python<'_>,
    scenario: &Scenario,
    case: Option<&str>,
    number: u32,
    seed: Option<u64>,
    kernel: &str,
    program: Option<PathBuf>,
) -> PyResult<Trial> {
    alone(py, |stop| {
        if number == 0 {
            bail!("trials are numbered from 1");
        }
        let scenario = &scenario.scenario;
        let case = case_of(scenario, case)?;
        let overrides = Overrides {
            cases: vec![case.clone()],
            trial: Some(number),
            seed,
            ..Overrides::default()
        };
        let Part { mut run, directory, home } =
            Part::run(scenario, "sim", kernel, program, overrides, None, stop)?;
        let found = run.cases.pop().context("its case was run")?;
        if let Some(failure) = found.failures.first() {
            bail!("the trial failed: {}", failure.reason);
        }
        let trial = found.trials.into_iter().next().context("its trial was run")?;
        let trial = directory.whole(&trial)?.into_owned();
        let directory = directory.path().join(&trial.directory);
        Ok(Trial { case, found: trial, directory, _home: home })
    })
}

/// A table of a trial's directory.
#[pyfunction]
pub(crate) fn recording_table(py: Python<'_>, directory: PathBuf, name: &str) -> PyResult<Table> {
    alone(py, |stop| table_of(&directory, name, stop))
}

fn table_of(directory: &Path, name: &str, stop: &std::sync::Arc<AtomicBool>) -> Result<Table> {
    if let Some((end, table)) = name.split_once('/') {
        return captures(directory, end)?.table(table, stop);
    }
    let recording = Recording::open(directory)?;
    match name {
        "samples" => {
            let samples = recording.samples()?;
            Table::made(|out| Ok(write_samples(Format::Arrow, &samples, out)?.1))
        }
        "path" => {
            let rows = recording.truth_rows()?;
            Table::made(|mut out| {
                write_truth(Format::Arrow, rows, &mut out).map_err(|error| match error {
                    TableError::Row(error) => Error::from(error),
                    TableError::Write { source } => source.into(),
                })?;
                Ok(out)
            })
        }
        other => {
            bail!("no table `{other}`: use path, samples, or one of an end as client/segments")
        }
    }
}

/// The capture at an end.
fn captures(directory: &Path, end: &str) -> Result<Captures> {
    let known = Endpoint::BOTH.into_iter().find(|it| it.name() == end);
    let end = known.with_context(|| format!("no end `{end}`: use client or server"))?;
    Captures::named(&[directory.join(capture_file(end))], None, false)
}
