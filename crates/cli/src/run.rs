//! `tcplab run`.

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result, bail};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use tcplab_lab::{Bench, RunDirectory};
use tcplab_testbed::{DeviceKind, Launcher};

use crate::arguments::{Io, RunArguments, WORLD};
use crate::complain::complain;
use crate::output::tell;
use crate::progress::{Display, unless_stopped};
use crate::{UNABLE, report, scenarios};

pub(crate) fn run(arguments: &RunArguments) -> Result<ExitCode> {
    let run = open(arguments)?;
    let stop = Arc::new(AtomicBool::new(false));
    stop_on_signals(&stop)?;
    let bench = Bench {
        device: arguments.io.map(device),
        spin: arguments.tuning.spin,
        calibrate: !arguments.no_calibration,
        allow_above_ceiling: arguments.allow_above_ceiling,
        strict: arguments.strict,
        ..Bench::new(launcher()?)
    };
    let amount = run.scenario().cases.first().map(|case| case.workload.amount());
    let mut display = Display::new(amount.unwrap_or_default());
    let executed = tcplab_lab::execute(&run, &bench, &stop, |event| display.show(event));
    if let Err(error) = executed {
        display.clear();
        if error.is_stop() || stop.load(Ordering::Relaxed) {
            tell(&format!("stopped; {}", how_to_go_on(&run)));
            return Ok(ExitCode::from(UNABLE));
        }
        // What is put aside as flawed is there to be looked at.
        let is_worth_a_look = matches!(error, tcplab_lab::LabError::Flawed { .. });
        let code = complain(&error.into());
        if run.kept() == 0 && !is_worth_a_look {
            // Nothing is worth going on with, and its place may be wanted back.
            let _ = run.discard();
        } else {
            tell(&format!("what is finished stays; {}", how_to_go_on(&run)));
        }
        return Ok(code);
    }
    let result = tcplab_lab::analyse(&run, |done, total| {
        display.analysing(done, total);
        unless_stopped(&stop)
    });
    display.clear();
    if matches!(&result, Err(error) if error.is_stop()) {
        tell(&format!("stopped; {}", how_to_go_on(&run)));
        return Ok(ExitCode::from(UNABLE));
    }
    let reported =
        result.map_err(Into::into).and_then(|r| report::write_and_print(&run, &r, arguments.shown));
    if reported.is_err() {
        tell(&format!("all trials are there; {}", how_to_go_on(&run)));
    }
    reported
}

/// Has `stop` set when the user, or whoever ends the session, asks for it.
pub(crate) fn stop_on_signals(stop: &Arc<AtomicBool>) -> Result<()> {
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        // The first asks to stop; the second, should that take too long, does.
        let code = i32::from(UNABLE);
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
        let name = arguments.scenario.as_deref();
        let path = match directory {
            Some(directory) => directory.clone(),
            None => RunDirectory::newest_unfinished(&arguments.runs, name)?,
        };
        let run = RunDirectory::open(&path)?;
        match name.filter(|name| *name != run.plan().name) {
            Some(name) => {
                bail!("{} is a run of {}, not of {name}", path.display(), run.plan().name)
            }
            None => return Ok(run),
        }
    }
    let scenario = scenarios::find(arguments.scenario.as_deref().unwrap_or_default())?;
    let trials = if arguments.quick { Some(1) } else { arguments.trials };
    let launcher = launcher()?;
    let refused = || tcplab_lab::kernel_refused(&launcher);
    let plan =
        tcplab_lab::plan(&scenario, arguments.world.into(), refused, trials, arguments.seed)?;
    if let Some(fallback) = &plan.fallback {
        tell(fallback);
    }
    Ok(tcplab_lab::begin(&arguments.runs, scenario, plan)?)
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
