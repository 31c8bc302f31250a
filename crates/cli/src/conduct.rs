//! Running a scenario that a command has made for itself.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result, bail};
use tcplab_lab::{Bench, Instead, RunDirectory};
use tcplab_results::Run;
use tcplab_scenario::Scenario;

use crate::arguments::World;
use crate::output::tell;
use crate::progress::{Display, unless_stopped};
use crate::report::write_report;
use crate::run::launcher;

/// What a run left.
pub(crate) struct Conducted {
    pub(crate) directory: RunDirectory,
    pub(crate) run: Run,
    /// Where its report begins.
    pub(crate) report: PathBuf,
}

/// Runs all of it, writes its tables and its report, and says what came out; the directory stays.
///
/// # Errors
/// As `tcplab run`; a run that stopped in the middle can be gone on with.
pub(crate) fn conduct(
    scenario: Scenario,
    world: World,
    runs: &Path,
    stop: &Arc<AtomicBool>,
) -> Result<Conducted> {
    let refused = || launcher().ok().and_then(|launcher| tcplab_lab::kernel_refused(&launcher));
    let plan = tcplab_lab::plan(&scenario, world.into(), refused, Instead::default())?;
    if let Some(fallback) = &plan.fallback {
        tell(fallback);
    }
    let amount = scenario.cases.first().map(|case| case.workload.amount()).unwrap_or_default();
    let directory = tcplab_lab::begin(runs, scenario, plan)?;
    let mut display = Display::new(amount);
    let bench = Bench::new(launcher()?);
    let ran =
        tcplab_lab::execute(&directory, &bench, stop, |event| display.show(event)).and_then(|()| {
            tcplab_lab::analyse(&directory, |done, total| {
                display.analysing(done, total);
                unless_stopped(stop)
            })
        });
    display.clear();
    let how = || format!("go on with: tcplab run --resume {}", directory.path().display());
    let mut run = ran.with_context(how)?;
    let report = write_report(&directory, &run)?;
    tcplab_lab::write_tables(&directory, &mut run)?;
    // What is made of it needs every trial.
    if let Some((case, failure)) =
        run.cases.iter().find_map(|case| Some((&case.name, case.failures.first()?)))
    {
        bail!(
            "trial {} of case {case} failed: {}; all that there is: {}",
            failure.number,
            failure.reason,
            report.display()
        );
    }
    Ok(Conducted { directory, run, report })
}
