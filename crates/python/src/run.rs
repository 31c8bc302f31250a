//! Runs as Python sees them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{self, PathBuf};

use anyhow::{Context, Error, Result, ensure};
use pyo3::prelude::*;
use tcplab_lab::compare::{Asked, compare_as_written, compare_levels, read_run};
use tcplab_lab::{Overrides, RunDirectory, begin, complete, run_tables, write_run_table};
use tcplab_path::tc::quoted_path;
use tcplab_quantities::COMPARISON_DOCUMENT;
use tcplab_scenario::{Keep, RecordingSpec};
use tcplab_table::Format;

use crate::events::{Teller, Told};
use crate::interrupt::{alone, beside, here};
use crate::run_options::{bench, plan};
use crate::scenario::Scenario;
use crate::table::Table;
use crate::trial::{Part, case_of};

/// A finished run, read from its directory.
#[pyclass(module = "tcplab._core", frozen)]
#[derive(Debug)]
pub(crate) struct Run {
    directory: PathBuf,
    run: tcplab_results::Run,
}

#[pymethods]
impl Run {
    #[staticmethod]
    fn open(py: Python<'_>, directory: PathBuf) -> PyResult<Run> {
        alone(py, |_| {
            let run = read_run(&directory)?;
            // The working directory may change before it is read again.
            Ok(Run { directory: path::absolute(directory)?, run })
        })
    }

    #[getter]
    fn directory(&self) -> PathBuf {
        self.directory.clone()
    }

    #[staticmethod]
    fn tables() -> Vec<(&'static str, &'static str)> {
        run_tables().collect()
    }

    fn table(&self, py: Python<'_>, name: &str) -> PyResult<Table> {
        alone(py, |_| {
            let known: Vec<&str> = run_tables().map(|(name, _)| name).collect();
            ensure!(known.contains(&name), "no table `{name}`: use one of {}", known.join(", "));
            let directory = RunDirectory::open(&self.directory)?;
            table(&directory, &self.run, name)
        })
    }

    fn json(&self) -> PyResult<String> {
        here(|| Ok(fs::read_to_string(self.directory.join("run.json"))?))
    }

    fn trial_directory(&self, case: &str, number: u32) -> PyResult<PathBuf> {
        here(|| {
            let names = || self.run.cases.iter().map(|case| case.name.as_str()).collect::<Vec<_>>();
            let found = self.run.cases.iter().find(|it| it.name == case);
            let found = found.with_context(|| {
                format!("no case `{case}` in the run: use one of {}", names().join(", "))
            })?;
            let trial = found.trials.iter().find(|trial| trial.number == number);
            let trial = trial.with_context(|| {
                format!("no trial {number} of case {case}: there are {}", found.trials.len())
            })?;
            let directory = self.directory.join(&trial.directory);
            ensure!(
                trial.has_packets,
                "the packets of trial {number} of case {case} were not kept: run it again with \
                 `recording.keep = \"all\"`, or by itself with `simulate`"
            );
            Ok(directory)
        })
    }

    #[pyo3(signature = (by=None, levels=None))]
    fn compare(
        &self,
        py: Python<'_>,
        by: Option<&str>,
        levels: Option<[String; 2]>,
    ) -> PyResult<(String, Vec<String>)> {
        alone(py, |_| {
            let run = (self.directory.as_path(), &self.run);
            let found = match by {
                None => compare_as_written(run, None)?,
                Some(by) => {
                    let levels =
                        levels.as_ref().map(|levels| levels.each_ref().map(String::as_str));
                    compare_levels(run, by, levels, &Asked::default())?
                }
            };
            let words = |row| tcplab_report::compare::verdict(&found, row);
            let verdicts = found.rows.iter().map(words).collect();
            Ok((serde_json::to_string(&COMPARISON_DOCUMENT.of(&found))?, verdicts))
        })
    }

    #[pyo3(signature = (verbose=false))]
    fn summary(&self, py: Python<'_>, verbose: bool) -> PyResult<String> {
        alone(py, |_| Ok(tcplab_report::text_table(&self.run, verbose)))
    }

    fn write_report(&self, py: Python<'_>) -> PyResult<PathBuf> {
        alone(py, |_| {
            let directory = RunDirectory::open(&self.directory)?;
            tcplab_actions::write_report(&directory, &self.run)
        })
    }
}

fn table(directory: &RunDirectory, run: &tcplab_results::Run, name: &str) -> Result<Table> {
    Table::made(|out| Ok(write_run_table(directory, run, name, Format::Arrow, out, || ())?.1))
}

/// Runs an experiment.
#[pyfunction]
#[pyo3(signature = (
    scenario, *, world="auto", kernel="newest", jobs=None, trials=None, seed=None, quick=false,
    cases=vec![], runs=PathBuf::from("runs"), report=true, program=None, on_event=None,
))]
#[expect(clippy::too_many_arguments, reason = "Python gives them by name")]
pub(crate) fn run(
    py: Python<'_>,
    scenario: &Scenario,
    world: &str,
    kernel: &str,
    jobs: Option<usize>,
    trials: Option<u32>,
    seed: Option<u64>,
    quick: bool,
    cases: Vec<String>,
    runs: PathBuf,
    report: bool,
    program: Option<PathBuf>,
    on_event: Option<Py<PyAny>>,
) -> PyResult<PathBuf> {
    let told = |py: Python<'_>, told: Told| match &on_event {
        Some(on_event) => on_event.call1(py, (told.dict(py)?,)).map(drop),
        None => Ok(()),
    };
    beside(
        py,
        |stop, sender| {
            ensure!(trials != Some(0), "a run has at least one trial of each case");
            let scenario = &scenario.scenario;
            let overrides = Overrides { trials, quick, seed, cases, ..Overrides::default() };
            let plan = plan(scenario, world, kernel, program.as_ref(), overrides)?;
            let directory = begin(&runs, scenario.clone(), plan)?;
            let (bench, mut teller) = (bench(program, jobs), Teller::new(sender));
            let completed = complete(
                &directory,
                &bench,
                stop,
                |event| teller.tell(event),
                |directory, run| -> Result<(), Error> {
                    if report {
                        tcplab_actions::write_report(directory, run)?;
                    }
                    Ok(())
                },
            );
            match completed {
                Ok(_) => Ok(directory.path().to_owned()),
                Err(error) if directory.kept() == 0 => {
                    // Nothing to resume.
                    let _ = directory.discard();
                    Err(error)
                }
                Err(error) => Err(error.context(format!(
                    "finished trials are kept (resume with `tcplab run --resume {}`)",
                    quoted_path(directory.path())
                ))),
            }
        },
        told,
    )
}

/// Some trials of one case, as in the whole run, and their rows of tables.
#[pyfunction]
#[pyo3(signature = (
    scenario, case, first, last, *, seed=None, world="sim", kernel="newest", program=None, tables,
))]
#[expect(clippy::too_many_arguments, reason = "Python gives them by name")]
pub(crate) fn run_part(
    py: Python<'_>,
    scenario: &Scenario,
    case: &str,
    first: u32,
    last: u32,
    seed: Option<u64>,
    world: &str,
    kernel: &str,
    program: Option<PathBuf>,
    tables: Vec<String>,
) -> PyResult<BTreeMap<String, Table>> {
    alone(py, |stop| {
        ensure!(
            1 <= first && first <= last,
            "trials are numbered from 1, the first before the last"
        );
        let scenario = &scenario.scenario;
        let cases = vec![case_of(scenario, Some(case))?];
        let recording = RecordingSpec { keep: Some(Keep::None), snaplen: None };
        let overrides =
            Overrides { trials: Some(last), seed, cases, recording, ..Overrides::default() };
        let part = Part::run(scenario, world, kernel, program, overrides, Some(first), stop)?;
        let run = among_all(part.run, scenario);
        let made = |name: String| {
            let table = table(&part.directory, &run, &name)?;
            Ok((name, table))
        };
        tables.into_iter().map(made).collect()
    })
}

/// The run with all cases of the scenario, those that were not run without trials: factors have the
/// same columns whichever case was run.
fn among_all(
    run: tcplab_results::Run,
    scenario: &tcplab_scenario::Scenario,
) -> tcplab_results::Run {
    let mut own = run.cases;
    let case = |case: &tcplab_scenario::Case| {
        let place = own.iter().position(|it| it.name == case.name);
        place.map_or_else(
            || tcplab_results::Case {
                name: case.name.clone(),
                levels: case.levels.clone(),
                ..tcplab_results::Case::default()
            },
            |place| own.swap_remove(place),
        )
    };
    let cases = scenario.cases.iter().map(case).collect();
    tcplab_results::Run { cases, ..run }
}
