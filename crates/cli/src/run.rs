//! `tcplab run`.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use tcplab_lab::{Bench, Instead, Plan, Prospect, RunDirectory};
use tcplab_quantities::ESTIMATE_DOCUMENT;
use tcplab_scenario::Scenario;
use tcplab_testbed::{DeviceKind, Launcher};

use crate::arguments::{Io, RunArguments, WORLD, World};
use crate::exit::ERROR;
use crate::output::{answer_or_json, tell};
use crate::print_error::print_error;
use crate::progress::{Display, unless_stopped};
use crate::series::Series;
use crate::{report, scenarios};

/// How long a run looks ahead before it begins.
const BRIEFLY: Duration = Duration::from_millis(250);
/// And where nothing else is asked for.
const AT_LENGTH: Duration = Duration::from_secs(3);

/// Runs an experiment, or all of a folder.
pub(crate) fn run(arguments: &RunArguments) -> Result<ExitCode> {
    if let Some(series) = Series::find(arguments.scenario.as_deref().unwrap_or_default())? {
        return series.run(arguments);
    }
    let stop = Arc::new(AtomicBool::new(false));
    if !arguments.dry_run {
        stop_on_signals(&stop)?;
    }
    run_one(arguments, &stop)
}

/// Runs one; `stop` ends it, and what is finished stays.
pub(crate) fn run_one(arguments: &RunArguments, stop: &AtomicBool) -> Result<ExitCode> {
    if arguments.dry_run {
        return dry_run(arguments);
    }
    let run = open(arguments)?;
    let bench = bench(arguments)?;
    let amount = run.scenario().cases.first().map(|case| case.workload.amount());
    let mut display = Display::new(amount.unwrap_or_default());
    tell(&tcplab_lab::prospect(&run, &bench, BRIEFLY).in_short());
    let executed = tcplab_lab::execute(&run, &bench, stop, |event| display.show(event));
    if let Err(error) = executed {
        display.clear();
        if error.is_stop() || stop.load(Ordering::Relaxed) {
            tell(&format!("stopped; {}", how_to_go_on(&run)));
            return Ok(ExitCode::from(ERROR));
        }
        let code = print_error(&error.into());
        if run.kept() == 0 {
            // Nothing is worth going on with, and its place may be wanted back.
            let _ = run.discard();
        } else {
            tell(&format!("what is finished stays; {}", how_to_go_on(&run)));
        }
        return Ok(code);
    }
    let result = tcplab_lab::analyse(&run, |done, total| {
        display.analysing(done, total);
        unless_stopped(stop)
    });
    display.clear();
    if matches!(&result, Err(error) if error.is_stop()) {
        tell(&format!("stopped; {}", how_to_go_on(&run)));
        return Ok(ExitCode::from(ERROR));
    }
    let reported = result
        .map_err(Into::into)
        .and_then(|mut result| report::write_and_print(&run, &mut result, &arguments.shown));
    if reported.is_err() {
        tell(&format!("all trials are there; {}", how_to_go_on(&run)));
    }
    reported
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

/// Says what would be done, and does nothing: the run is made where nobody looks, and goes.
fn dry_run(arguments: &RunArguments) -> Result<ExitCode> {
    let bench = bench(arguments)?;
    let show = |prospect: &Prospect| -> Result<ExitCode> {
        answer_or_json(&ESTIMATE_DOCUMENT, &arguments.shown.json, prospect, || {
            prospect.to_string()
        })?;
        Ok(ExitCode::SUCCESS)
    };
    if let Some(directory) = &arguments.resume {
        let run = resumed(arguments, directory.as_ref())?;
        return show(&tcplab_lab::prospect(&run, &bench, AT_LENGTH));
    }
    if let Some(directory) = &arguments.extend {
        let prospect = tcplab_lab::prospect_of_extension(
            directory,
            |plan, scenario| changed(arguments, plan, scenario),
            &bench,
            AT_LENGTH,
        )?;
        return show(&prospect);
    }
    let (scenario, plan) = planned(arguments)?;
    let prospect = tcplab_lab::prospect_of(&scenario, &plan, &bench, AT_LENGTH);
    show(&prospect)
}

/// Has `stop` set when the user, or whoever ends the session, asks for it.
pub(crate) fn stop_on_signals(stop: &Arc<AtomicBool>) -> Result<()> {
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        // The first asks to stop; the second, should that take too long, does.
        let code = i32::from(ERROR);
        signal_hook::flag::register_conditional_shutdown(signal, code, Arc::clone(stop))
            .and_then(|_| signal_hook::flag::register(signal, Arc::clone(stop)))
            .context("cannot prepare for being stopped")?;
    }
    Ok(())
}

fn how_to_go_on(run: &RunDirectory) -> String {
    format!("go on with: tcplab run --resume {}", run.path().display())
}

/// The directory of a new run, or of the one to go on with.
fn open(arguments: &RunArguments) -> Result<RunDirectory> {
    if let Some(directory) = &arguments.resume {
        return resumed(arguments, directory.as_ref());
    }
    if let Some(directory) = &arguments.extend {
        let (run, extension) =
            tcplab_lab::extend(directory, |plan, scenario| changed(arguments, plan, scenario))?;
        extension.told().iter().for_each(|line| tell(line));
        return Ok(run);
    }
    let (scenario, plan) = planned(arguments)?;
    if let Some(fallback) = &plan.fallback {
        tell(fallback);
    }
    Ok(tcplab_lab::begin(&arguments.runs, scenario, plan)?)
}

/// A run that was broken off.
fn resumed(arguments: &RunArguments, directory: Option<&PathBuf>) -> Result<RunDirectory> {
    let name = arguments.scenario.as_deref();
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

/// A new run.
fn planned(arguments: &RunArguments) -> Result<(Scenario, Plan)> {
    let scenario = scenarios::find(arguments.scenario.as_deref().unwrap_or_default())?;
    let trials = if arguments.quick { Some(1) } else { arguments.trials };
    let launcher = launcher()?;
    let refused = || tcplab_lab::kernel_refused(&launcher);
    let (seed, trial, cases) = (arguments.seed, arguments.trial, arguments.case.clone());
    let instead = Instead { trials, seed, cases, trial };
    let plan = tcplab_lab::plan(&scenario, arguments.world.into(), refused, instead)?;
    Ok((scenario, plan))
}

/// What a run becomes by `--extend`: seed and world stay what they were, where nothing else is
/// asked for.
fn changed(arguments: &RunArguments, plan: &Plan, written: Scenario) -> Result<(Plan, Scenario)> {
    let is_own_seed = plan.seed != written.seed;
    let scenario = match arguments.scenario.as_deref() {
        Some(given) => scenarios::find(given)?,
        None => written,
    };
    let world = match arguments.world {
        World::Auto if plan.world == "sim" => World::Sim,
        world => world,
    };
    let seed = arguments.seed.or(is_own_seed.then_some(plan.seed));
    let instead = Instead { trials: arguments.trials, seed, ..Instead::default() };
    let launcher = launcher()?;
    let refused = || tcplab_lab::kernel_refused(&launcher);
    let new = tcplab_lab::plan(&scenario, world.into(), refused, instead)?;
    Ok((Plan { fallback: new.fallback.clone().or_else(|| plan.fallback.clone()), ..new }, scenario))
}

/// This program again, as the process of a trial.
pub(crate) fn launcher() -> Result<Launcher> {
    let program = std::env::current_exe().context("cannot find the tcplab program itself")?;
    Ok(Launcher { program, arguments: vec![WORLD.into()] })
}

pub(crate) fn device(io: Io) -> DeviceKind {
    match io {
        Io::Tun => DeviceKind::Tun,
        Io::PacketSocket => DeviceKind::PacketSocket,
    }
}
