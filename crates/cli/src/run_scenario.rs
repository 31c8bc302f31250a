//! Runs a scenario that a command has composed.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Result, bail};
use tcplab_actions::write_report;
use tcplab_lab::{Bench, Event, LabError, Overrides, RunDirectory, RunOutcome, complete};
use tcplab_results::Run;
use tcplab_scenario::Scenario;

use crate::arguments::World;
use crate::control::Control;
use crate::output::print_note;
use crate::progress::Display;
use crate::run::{BRIEFLY, how_to_resume, launcher};

/// A finished run of a scenario.
pub(crate) struct ScenarioRun {
    pub(crate) directory: RunDirectory,
    pub(crate) run: Run,
    /// Where its report begins.
    pub(crate) report: PathBuf,
}

/// Runs a scenario and writes its tables and report; keeps the directory. `control` is told what
/// happens.
///
/// # Errors
/// As `tcplab run`. A stop says nothing more: the callers begin anew.
pub(crate) fn run_scenario(
    scenario: Scenario,
    world: World,
    runs: &Path,
    stop: &Arc<AtomicBool>,
    mut control: Option<&mut Control>,
) -> Result<ScenarioRun> {
    let refused = || launcher().ok().and_then(|launcher| tcplab_lab::kernel_refused(&launcher));
    let plan = tcplab_lab::plan(&scenario, world.chosen(), refused, Overrides::default())?;
    if let Some(fallback) = &plan.fallback {
        print_note(fallback);
    }
    let directory = tcplab_lab::begin(runs, scenario, plan)?;
    let bench = Bench::new(launcher()?);
    let estimate = tcplab_lab::estimate(&directory, &bench, BRIEFLY);
    let mut display = Display::of(&directory, &estimate, control.is_some());
    if let Some(control) = &mut control {
        control.begun(&directory, &estimate);
    }
    let show = |event: Event<'_>| match &mut control {
        Some(control) => control.event(event),
        None => display.show(event),
    };
    let completed = complete(&directory, &bench, stop, show, write_report);
    display.clear();
    let RunOutcome { run, report } = match completed {
        Ok(outcome) => outcome,
        Err(_) if stop.load(Ordering::Relaxed) => return Err(LabError::Stopped.into()),
        Err(error) => {
            print_note(&how_to_resume(&directory));
            return Err(error);
        }
    };
    // The callers need every trial.
    if let Some((case, failure)) =
        run.cases.iter().find_map(|case| Some((&case.name, case.failures.first()?)))
    {
        bail!(
            "trial {} of case {case} failed: {}; see {}",
            failure.number,
            failure.reason,
            report.display()
        );
    }
    Ok(ScenarioRun { directory, run, report })
}
