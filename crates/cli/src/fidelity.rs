//! `tcplab fidelity`.

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result, anyhow};
use tcplab_kernels::KernelName;
use tcplab_lab::fidelity::{Against, CONTROLS, Pair, compare, csv, differing_defaults, random};
use tcplab_lab::{Bench, LabError, RunDirectory};
use tcplab_quantities::FIDELITY_DOCUMENT;
use tcplab_results::fidelity::Fidelity;
use tcplab_scenario::{Profile, Scenario};
use tcplab_testbed::has_congestion;
use tcplab_units::rounded::counted;

use crate::arguments::FidelityArguments;
use crate::exit::{ERROR, FAILED};
use crate::output::{answer_or_json, check_outputs, in_document, print_note, write_file};
use crate::print_error::print_error;
use crate::progress::{Display, unless_stopped};
use crate::run::{BRIEFLY, device, launcher};
use crate::signals::stop_on_signals;

pub(crate) fn fidelity(arguments: &FidelityArguments) -> Result<ExitCode> {
    check_outputs([&arguments.json.place], Some(&arguments.runs))?;
    let trials = if arguments.quick { Some(1) } else { arguments.trials };
    let scenarios = arguments.scenarios.iter().map(|given| tcplab_actions::find(given));
    let scenarios = scenarios.collect::<Result<Vec<_>>>()?;
    let seed = arguments.seed.unwrap_or(1);
    let against = against(arguments.against.as_ref())?;
    let random = arguments.random.map(|count| random(count, seed, &controls(against)));
    if let Against::ThisKernel = against {
        for scenario in &scenarios {
            note_defaults(scenario);
        }
    }
    let prepared = scenarios
        .iter()
        .chain(&random)
        .map(|scenario| Pair::prepare(&arguments.runs, scenario, against, trials, arguments.seed));
    let pairs = prepared.collect::<Result<Vec<Pair>, LabError>>()?;
    let stop = Arc::new(AtomicBool::new(false));
    stop_on_signals(&stop)?;
    let usual = Bench::new(launcher()?);
    let bench = Bench {
        device: arguments.io.map(device),
        allow_above_ceiling: arguments.allow_above_ceiling,
        jobs: arguments.jobs.map_or(usual.jobs, |jobs| jobs as usize),
        ..usual
    };
    match both(&pairs, &bench, &stop) {
        Ok(found) => print_and_write(&found, arguments),
        Err(error) if error.is_stop() || stop.load(Ordering::Relaxed) => {
            print_note("stopped; finished trials are kept: repeat the command to resume");
            Ok(ExitCode::from(ERROR))
        }
        Err(error) => {
            let code = print_error(&error.into());
            for run in pairs.into_iter().flat_map(|pair| [pair.kernel, pair.model]) {
                if run.kept() == 0 {
                    // Nothing to resume.
                    let _ = run.discard();
                }
            }
            Ok(code)
        }
    }
}

/// Says where not the same congestion control would be compared.
fn note_defaults(scenario: &Scenario) {
    if let Some((kernel, model, cases)) = differing_defaults(scenario) {
        let cases = counted(cases, "case", "cases");
        let name = &scenario.name;
        print_note(&format!(
            "{name}: this kernel uses {kernel} by default, the model {model}, and {cases} name none: \
             set `client.socket.congestion` (of a download `server.socket.congestion`), or one is \
             compared with the other"
        ));
    }
}

/// A kernel in virtual time, and the model of its name.
fn against(kernel: Option<&KernelName>) -> Result<Against<'_>> {
    let Some(kernel) = kernel else { return Ok(Against::ThisKernel) };
    let name = format!("linux-{kernel}");
    let profile = Profile::named(&name).map_err(|_| {
        let known: Vec<_> = Profile::names().filter(|name| name.starts_with("linux-")).collect();
        anyhow!("there is no model of {name}: the models of Linux are {}", known.join(", "))
    })?;
    Ok(Against::Virtual(kernel, profile.name))
}

/// The congestion controls that both sides have.
fn controls(against: Against<'_>) -> Vec<&'static str> {
    let is_there = |control: &&str| match against {
        Against::ThisKernel => has_congestion(control).is_ok(),
        Against::Virtual(..) => true,
    };
    CONTROLS.into_iter().filter(is_there).collect()
}

/// Runs missing trials, the kernel's first, and compares all.
fn both(pairs: &[Pair], bench: &Bench, stop: &AtomicBool) -> Result<Fidelity, LabError> {
    let runs = pairs.iter().map(|pair| &pair.kernel).chain(pairs.iter().map(|pair| &pair.model));
    for run in runs {
        complete(run, bench, stop)?;
    }
    let display = Display::new();
    let found = compare(pairs, |done, total| {
        display.analysing(done, total);
        unless_stopped(stop)
    });
    display.clear();
    found
}

fn complete(run: &RunDirectory, bench: &Bench, stop: &AtomicBool) -> Result<(), LabError> {
    print_note(&format!("{}, world: {}", run.plan().name, run.plan().world));
    let mut display = Display::of(run, &tcplab_lab::estimate(run, bench, BRIEFLY), false);
    let completed =
        tcplab_lab::complete(run, bench, stop, |event| display.show(event), tcplab_lab::no_report);
    display.clear();
    completed.map(drop)
}

/// Prints the tables and writes them as files.
fn print_and_write(found: &Fidelity, arguments: &FidelityArguments) -> Result<ExitCode> {
    let page = tcplab_report::fidelity_page(found).context("cannot make the page")?;
    let json = in_document(&FIDELITY_DOCUMENT, found)?;
    for (name, text) in
        [("fidelity.json", &json), ("fidelity.csv", &csv(found)), ("fidelity.html", &page)]
    {
        write_file(&arguments.runs.join(name), text)?;
    }
    answer_or_json(&FIDELITY_DOCUMENT, &arguments.json, found, || {
        let place = arguments.runs.join("fidelity.html");
        let text = tcplab_report::fidelity_table(found);
        format!("{text}\nreport: {}\n", place.display())
    })?;
    if found.cases.iter().all(|case| case.trials == 0) {
        print_error(&anyhow!("no trial came to its end on both sides: nothing is compared"));
        return Ok(ExitCode::from(ERROR));
    }
    let is_good = !arguments.check_goals || found.is_within();
    Ok(if is_good { ExitCode::SUCCESS } else { ExitCode::from(FAILED) })
}
