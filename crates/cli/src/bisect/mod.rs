//! `tcplab bisect`.

mod progress;
mod shown;
mod step;

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use anyhow::{Error, Result};
use tcplab_kernels::{BuildError, Cache, CommitBuilds};
use tcplab_lab::bisect::{
    BisectError, BisectOutcome, BisectRecord, Bisection, Repository, bisect as search, claims_of,
    other_kernels,
};
use tcplab_lab::{Bench, KernelChoice, LabError, kernel_image};
use tcplab_quantities::BISECTION_DOCUMENT;
use tcplab_scenario::Scenario;

use crate::arguments::BisectArguments;
use crate::exit::{ERROR, FAILED};
use crate::output::{answer_or_json, check_outputs, print_note};
use crate::run::launcher;
use crate::signals::stop_on_signals;
use progress::Display;
use step::Tester;

pub(crate) fn bisect(arguments: &BisectArguments) -> Result<ExitCode> {
    check_outputs([&arguments.results.json.place], Some(&arguments.results.runs))?;
    let scenario = tcplab_actions::find(&arguments.scenario)?;
    let claims = claims_of(&scenario, &arguments.claim, arguments.trials)?;
    for name in other_kernels(&scenario)? {
        kernel_image(&KernelChoice::Named(name.parse()?))?;
    }
    let repository = Repository::open(&arguments.source)?;
    let asked = Bisection {
        scenario: scenario.name.clone(),
        claims,
        paths: arguments.path.clone(),
        trials: arguments.trials,
        seed: arguments.seed,
        ..Bisection::between(&repository, &arguments.good, &arguments.bad)?
    };
    let cache = Cache::of_user()?;
    let stop = Arc::new(AtomicBool::new(false));
    stop_on_signals(&stop)?;
    let mut record = BisectRecord::open(&arguments.results.runs, &scenario, asked)?;
    let found = run(arguments, &scenario, &repository, &cache, &mut record, &stop);
    match found {
        Ok(outcome) => {
            answer_or_json(
                &BISECTION_DOCUMENT,
                &arguments.results.json,
                &record.bisection,
                || shown::outcome(&record.bisection, &outcome),
            )?;
            Ok(if outcome.commits.len() == 1 { ExitCode::SUCCESS } else { ExitCode::from(FAILED) })
        }
        Err(error) if is_stop(&error) || stop.load(Ordering::Relaxed) => {
            print_note(&shown::stopped(&record));
            Ok(ExitCode::from(ERROR))
        }
        Err(error) => Err(error),
    }
}

/// Builds and tests what is missing; removes what was built once the commit is found.
fn run(
    arguments: &BisectArguments,
    scenario: &Scenario,
    repository: &Repository,
    cache: &Cache,
    record: &mut BisectRecord,
    stop: &AtomicBool,
) -> Result<BisectOutcome> {
    record.bisection.retry_skipped();
    if let Some(outcome) = record.bisection.outcome.clone() {
        return Ok(outcome);
    }
    let usual = Bench::new(launcher()?);
    let jobs = arguments.jobs.map(usize::from);
    let compilers = jobs.unwrap_or_else(|| thread::available_parallelism().map_or(1, usize::from));
    let builds = CommitBuilds::open(repository.root(), compilers, cache, stop)?;
    let bench = Bench { jobs: jobs.unwrap_or(usual.jobs), ..usual };
    let mut display = Display::new(arguments.quiet);
    let mut tester = Tester { scenario, builds: &builds, bench: &bench, stop };
    let found = search(repository, record, |record, task| {
        display.begins(&record.bisection, task);
        tester.test(record, task.step, &mut display)?;
        display.ended(&record.bisection.steps[task.step]);
        Ok::<(), Error>(())
    });
    display.clear();
    let outcome = found?;
    if !arguments.keep {
        remove_images(cache, &record.bisection)?;
        builds.discard()?;
    }
    Ok(outcome)
}

/// Removes the images that the bisection built.
fn remove_images(cache: &Cache, bisection: &Bisection) -> Result<(), BuildError> {
    for step in bisection.steps.iter().filter(|step| step.is_built) {
        let name = CommitBuilds::name_of(&step.commit.hash)?;
        // It may be gone already.
        if cache.find(&name).is_ok() {
            cache.remove(&name)?;
        }
    }
    Ok(())
}

fn is_stop(error: &Error) -> bool {
    error.downcast_ref::<LabError>().is_some_and(LabError::is_stop)
        || error.downcast_ref::<BuildError>().is_some_and(BuildError::is_stop)
        || error.downcast_ref::<BisectError>().is_some_and(BisectError::is_stop)
}
