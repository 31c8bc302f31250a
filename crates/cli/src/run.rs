//! `tcplab run`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context, Error, Result, bail};
use tcplab_lab::{
    Bench, Event, KernelChoice, LabError, Overrides, Plan, RunDirectory, RunEstimate, TrialGlance,
    complete, name_of_kept,
};
use tcplab_path::tc::quoted_path;
use tcplab_quantities::ESTIMATE_DOCUMENT;
use tcplab_results::{ClaimCounts, RunWorld};
use tcplab_scenario::Scenario;
use tcplab_testbed::{DeviceKind, Launcher, Steering};

use crate::arguments::{Io, RunArguments, Shown, World};
use crate::control::{Control, listen};
use crate::exit::ERROR;
use crate::live::{self, LiveRun};
use crate::output::{answer_or_json, check_outputs, print_note, print_note_unless};
use crate::print_error::print_error;
use crate::progress::Display;
use crate::report;
use crate::run_summary::{RunEnd, RunSummary};
use crate::series::Series;

/// Time for the estimate before a run.
pub(crate) const BRIEFLY: Duration = Duration::from_millis(250);
/// Time for the estimate of a dry run.
const AT_LENGTH: Duration = Duration::from_secs(3);

/// Runs an experiment, or all experiments of a folder.
pub(crate) fn run(arguments: &RunArguments) -> Result<ExitCode> {
    check_outputs([&arguments.shown.json.place, &arguments.shown.junit], Some(&arguments.runs))?;
    if let Some(series) = Series::find(arguments.scenario.as_deref().unwrap_or_default())? {
        if arguments.shown.junit.is_some() {
            bail!("--junit is of one experiment: run each by its name");
        }
        return series
            .run(arguments, |arguments, stop, steering| run_one(arguments, stop, steering, true));
    }
    let stop = Arc::new(AtomicBool::new(false));
    if !arguments.dry_run {
        live::stop_on_signals(&stop, arguments.live.live)?;
    }
    let steering = arguments.control.then(|| listen(&stop)).transpose()?;
    Ok(run_one(arguments, &stop, steering, false)?.code)
}

/// Runs one experiment, which may be part of a series; `stop` stops it and keeps finished trials.
fn run_one(
    arguments: &RunArguments,
    stop: &AtomicBool,
    steering: Option<Steering>,
    is_part: bool,
) -> Result<RunSummary> {
    if arguments.dry_run {
        return Ok(RunSummary { code: dry_run(arguments)?, state: RunEnd::NotRun });
    }
    let directory = open(arguments)?;
    let bench = Bench { steering, ..bench(arguments)? };
    let estimate = tcplab_lab::estimate(&directory, &bench, BRIEFLY);
    let mode = live::mode(arguments.live.live);
    let quiet = arguments.quiet || arguments.control || mode.is_some();
    let mut display = Display::of(&directory, &estimate, quiet);
    let mut control = arguments.control.then(Control::default);
    if let Some(control) = &mut control {
        control.begun(&directory, &estimate);
    }
    print_note_unless(quiet, &estimate.with_room());
    estimate.warnings.iter().for_each(|warning| print_note_unless(quiet, &format!("! {warning}")));
    let mut live = mode.map(|mode| LiveRun::of(&directory, &estimate, mode));
    let mut has_trials = false;
    let show = |event: Event<'_>| {
        has_trials |= matches!(event, Event::Analysing { .. });
        if let Some(control) = &mut control {
            control.event(event);
        }
        match &mut live {
            Some(live) => live.show(event),
            None => display.show(event),
        }
    };
    let completed = complete(&directory, &bench, stop, show, tcplab_actions::write_report);
    display.clear();
    if let Some(live) = live {
        live.close();
    }
    let outcome = match completed {
        Ok(outcome) => outcome,
        Err(error) => return Ok(unfinished(directory, &error, has_trials, stop)),
    };
    let claims = ClaimCounts::of(&outcome.run.claims);
    let code = match &mut control {
        Some(control) => {
            control.finished(&outcome, is_part);
            report::code_of(&outcome.run, arguments.shown.require_decision)
        }
        None => report::print_outcome(&directory, &outcome, &arguments.shown, arguments.quiet)
            .unwrap_or_else(|error| unwritten(&directory, &arguments.shown, &error)),
    };
    Ok(RunSummary { code, state: RunEnd::Finished { claims, report: outcome.report } })
}

/// Prints why the results of a finished run could not be written, and how to write them again.
fn unwritten(directory: &RunDirectory, shown: &Shown, error: &Error) -> ExitCode {
    let code = print_error(error);
    let flag = match (&shown.json.place, &shown.junit) {
        (Some(_), _) => "--json=FILE",
        (None, Some(_)) => "--junit FILE",
        (None, None) => return code,
    };
    let path = quoted_path(directory.path());
    print_note(&format!(
        "the run is finished; write its results with: tcplab report {path} {flag}"
    ));
    code
}

/// Prints why a run was not finished, and how to resume it; `has_trials` if only tables and report
/// are missing.
fn unfinished(
    directory: RunDirectory,
    error: &Error,
    has_trials: bool,
    stop: &AtomicBool,
) -> RunSummary {
    let resume = how_to_resume(&directory);
    let path = Some(directory.path().to_owned());
    let is_stop = error.downcast_ref::<LabError>().is_some_and(LabError::is_stop);
    if is_stop || (stop.load(Ordering::Relaxed) && !has_trials) {
        print_note(&format!("stopped; {resume}"));
        return RunSummary { code: ExitCode::from(ERROR), state: RunEnd::Unfinished(path) };
    }
    if has_trials {
        print_note(&format!("all trials are done; {resume}"));
        return RunSummary { code: print_error(error), state: RunEnd::Unfinished(path) };
    }
    let code = print_error(error);
    let consoles = tcplab_lab::consoles(directory.path());
    for path in &consoles {
        print_note(&format!("what the kernel printed: {}", path.display()));
    }
    if directory.kept() == 0 && consoles.is_empty() {
        // Nothing to resume.
        let _ = directory.discard();
        return RunSummary { code, state: RunEnd::Unfinished(None) };
    }
    print_note(&format!("finished trials are kept; {resume}"));
    RunSummary { code, state: RunEnd::Unfinished(path) }
}

/// How trials are run.
fn bench(arguments: &RunArguments) -> Result<Bench> {
    let usual = Bench::new(launcher()?);
    Ok(Bench {
        device: arguments.io.map(device),
        spin: arguments.tuning.spin,
        calibrate: !arguments.no_calibration,
        allow_above_ceiling: arguments.allow_above_ceiling,
        strict: arguments.strict,
        jobs: arguments.jobs.map_or(usual.jobs, usize::from),
        ..usual
    })
}

/// Prints the plan and its duration, and runs nothing.
fn dry_run(arguments: &RunArguments) -> Result<ExitCode> {
    let bench = bench(arguments)?;
    let show = |estimate: &RunEstimate| -> Result<ExitCode> {
        answer_or_json(&ESTIMATE_DOCUMENT, &arguments.shown.json, estimate, || {
            estimate.to_string()
        })?;
        Ok(ExitCode::SUCCESS)
    };
    if let Some(directory) = &arguments.resume {
        let run = resumed(arguments, directory.as_ref())?;
        return show(&tcplab_lab::estimate(&run, &bench, AT_LENGTH));
    }
    if let Some(directory) = extended(arguments)? {
        let estimate = tcplab_lab::estimate_extension(
            &directory,
            |plan, scenario| changed(arguments, plan, scenario),
            &bench,
            AT_LENGTH,
        )?;
        return show(&estimate);
    }
    let (scenario, plan) = planned(arguments)?;
    let estimate = tcplab_lab::estimate_plan(&scenario, &plan, &arguments.runs, &bench, AT_LENGTH);
    show(&estimate)
}

/// The command that resumes a run.
pub(crate) fn how_to_resume(run: &RunDirectory) -> String {
    format!("resume with: tcplab run --resume {}", quoted_path(run.path()))
}

/// The directory of a new run, or of the run to resume or extend.
fn open(arguments: &RunArguments) -> Result<RunDirectory> {
    if let Some(directory) = &arguments.resume {
        return resumed(arguments, directory.as_ref());
    }
    if let Some(directory) = extended(arguments)? {
        let (run, extension) =
            tcplab_lab::extend(&directory, |plan, scenario| changed(arguments, plan, scenario))?;
        extension.lines().iter().for_each(|line| print_note_unless(arguments.quiet, line));
        return Ok(run);
    }
    let (scenario, plan) = planned(arguments)?;
    if let Some(fallback) = &plan.fallback {
        print_note_unless(arguments.quiet, fallback);
    }
    Ok(tcplab_lab::begin(&arguments.runs, scenario, plan)?)
}

/// The directory of the run to extend. A number of trials below what is there would shrink it.
fn extended(arguments: &RunArguments) -> Result<Option<PathBuf>> {
    let Some(directory) = &arguments.extend else { return Ok(None) };
    let directory = RunDirectory::named(directory, &arguments.runs);
    if let Some(asked) = arguments.trials {
        // What is no run is refused when it is opened.
        let there = TrialGlance::highest(&directory).unwrap_or(0);
        if asked < there {
            bail!(
                "the run has {there} trials of each case, and --trials is the number in all: pass \
                 --trials {there} or more"
            );
        }
    }
    Ok(Some(directory))
}

/// An unfinished run.
fn resumed(arguments: &RunArguments, directory: Option<&PathBuf>) -> Result<RunDirectory> {
    let name = arguments.scenario.as_deref().map(name_of_runs);
    let name = name.as_deref();
    let path = match directory {
        Some(directory) => directory.clone(),
        None => RunDirectory::newest_unfinished(&arguments.runs, name)?,
    };
    let run = RunDirectory::open(&path)?;
    match name.filter(|name| *name != run.plan().name) {
        Some(name) => bail!("{} is a run of {}, not of {name}", path.display(), run.plan().name),
        None => Ok(run),
    }
}

/// What runs of a scenario that is given by file or name are called.
fn name_of_runs(given: &str) -> String {
    let path = Path::new(given);
    let stem = || Some(path.file_stem()?.to_string_lossy().into_owned());
    match path.extension().and_then(|_| name_of_kept(path).or_else(stem)) {
        Some(name) => name,
        None => given.replace('/', "-"),
    }
}

/// A new run.
fn planned(arguments: &RunArguments) -> Result<(Scenario, Plan)> {
    let scenario = tcplab_actions::find(arguments.scenario.as_deref().unwrap_or_default())?;
    let (trials, quick) = (arguments.trials, arguments.quick);
    let launcher = launcher()?;
    let refused = || tcplab_lab::kernel_refused(&launcher);
    let (seed, trial, cases) = (arguments.seed, arguments.trial, arguments.case.clone());
    let (recording, snaplen) = (arguments.recording.clone(), arguments.snaplen);
    let kernel = arguments.kernel.clone();
    let overrides = Overrides { trials, quick, seed, cases, trial, recording, snaplen, kernel };
    let plan = tcplab_lab::plan(&scenario, world_of(arguments, &scenario), refused, overrides)?;
    warn_of_kernel(arguments, &plan);
    Ok((scenario, plan))
}

fn world_of(arguments: &RunArguments, scenario: &Scenario) -> Option<tcplab_results::World> {
    arguments.world.chosen().or_else(|| arguments.kernel.world(scenario))
}

/// Warns where the kernel that is asked for, or the model, stands at no end.
fn warn_of_kernel(arguments: &RunArguments, plan: &Plan) {
    let unused = match &arguments.kernel {
        KernelChoice::Named(name) if plan.kernels.newest.is_none() => format!("kernel {name}"),
        KernelChoice::Model if plan.world == RunWorld::Kernel => "the model".into(),
        _ => return,
    };
    let what = format!(
        "! {unused} is not used: no end has the stack `linux` or `linux-newest` in virtual time"
    );
    print_note_unless(arguments.quiet, &what);
}

/// The plan of an extended run: keeps seed and world unless the user overrides them.
fn changed(arguments: &RunArguments, plan: &Plan, written: Scenario) -> Result<(Plan, Scenario)> {
    let (is_own_seed, before) = (plan.seed != written.seed, plan.kernel_choice(&written));
    let scenario = match arguments.scenario.as_deref() {
        Some(given) => tcplab_actions::find(given)?,
        None => written,
    };
    let world = match arguments.world {
        World::Auto if plan.world == RunWorld::Simulated => Some(tcplab_results::World::Simulated),
        _ => world_of(arguments, &scenario),
    };
    let seed = arguments.seed.or(is_own_seed.then_some(plan.seed));
    let (recording, snaplen) = (plan.recording.clone(), arguments.snaplen);
    let kernel = match &arguments.kernel {
        KernelChoice::Newest => before,
        asked => asked.clone(),
    };
    let trials = arguments.trials;
    let overrides = Overrides { trials, seed, recording, snaplen, kernel, ..Overrides::default() };
    let launcher = launcher()?;
    let refused = || tcplab_lab::kernel_refused(&launcher);
    let new = tcplab_lab::plan(&scenario, world, refused, overrides)?;
    warn_of_kernel(arguments, &new);
    Ok((Plan { fallback: new.fallback.clone().or_else(|| plan.fallback.clone()), ..new }, scenario))
}

/// Starts this program as the process of a trial.
pub(crate) fn launcher() -> Result<Launcher> {
    let program = std::env::current_exe().context("cannot find the path of the tcplab program")?;
    Ok(tcplab_actions::launcher(program))
}

pub(crate) fn device(io: Io) -> DeviceKind {
    match io {
        Io::Tun => DeviceKind::Tun,
        Io::PacketSocket => DeviceKind::PacketSocket,
    }
}
