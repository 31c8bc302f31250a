//! How to do again what a run did, and how to get packets that are gone.

use std::path::Path;

use serde::Deserialize;
use tcplab_path::tc::{quoted, quoted_path};
use tcplab_results::RunWorld;

use crate::plan::Plan;
use crate::store::{PLAN, SCENARIO_FILE, TRIAL, TRIALS, read, read_scenario};

/// What a trial's own file says of where its data went.
#[derive(Deserialize)]
struct StoredMedium {
    trial: Medium,
}

#[derive(Deserialize)]
struct Medium {
    medium: Option<String>,
}

/// The arguments of the command that does once more what the run in `run` does: its scenario in the
/// same world, on the same kernel in virtual time, with the same seed, cases and trials. None of a
/// directory that is no run.
pub fn run_again(run: &Path) -> Option<Vec<String>> {
    let plan: Plan = read(&run.join(PLAN))?;
    let scenario = run.join(SCENARIO_FILE).display().to_string();
    let world = match plan.world {
        RunWorld::Kernel => "kernel",
        RunWorld::Simulated => "sim",
        RunWorld::Both => "auto",
    };
    let mut arguments = vec!["run".into(), scenario, format!("--world={world}")];
    // A kernel that is named implies virtual time, where the other cases did not run.
    let kernel = if plan.world.is_simulated() { for_linux(run, &plan, None) } else { None };
    arguments.extend(kernel.map(|name| format!("--kernel={name}")));
    arguments.push(format!("--seed={}", plan.seed));
    arguments.extend(plan.only.iter().map(|case| format!("--case={case}")));
    if plan.first > 1 {
        arguments.push(format!("--trial={}", plan.first));
    } else if plan.until.is_none() {
        arguments.push(format!("--trials={}", plan.trials));
    }
    Some(arguments)
}

/// What runs of the scenario in `file` are called if a run keeps it: as that run. None of another
/// file.
pub fn name_of_kept(file: &Path) -> Option<String> {
    let is_kept = file.file_name().is_some_and(|name| name == SCENARIO_FILE);
    let plan: Plan = is_kept.then(|| read(&file.with_file_name(PLAN))).flatten()?;
    Some(plan.name)
}

/// How to get the packets of the trial in `directory`, `RUN/trials/CASE-NUMBER`: the command that
/// runs it again. Nothing for other directories, and for a trial that had no packets.
pub fn packets_again(directory: &Path) -> Option<String> {
    let trials = directory.parent().filter(|it| it.file_name().is_some_and(|it| it == TRIALS))?;
    let run = trials.parent()?;
    let (case, number) = directory.file_name()?.to_str()?.rsplit_once('-')?;
    let number: u32 = number.parse().ok()?;
    let plan: Plan = read(&run.join(PLAN))?;
    let stored: Option<StoredMedium> = read(&directory.join(TRIAL));
    if stored.is_some_and(|it| it.trial.medium.is_some()) {
        return None;
    }
    let scenario = run.join(SCENARIO_FILE);
    let scenario = quoted_path(&scenario);
    let kernel = for_linux(run, &plan, Some(case)).map(|name| format!(" --kernel {name}"));
    let is_simulated = plan.world.is_simulated() || kernel.is_some();
    let world = if is_simulated { " --world sim" } else { "" };
    let kernel = kernel.unwrap_or_default();
    let (case, seed) = (quoted(case), plan.seed);
    Some(format!(
        "run it again with `tcplab run {scenario}{world}{kernel} --case {case} --trial {number} --seed \
         {seed}`"
    ))
}

/// What stood for `linux` in virtual time in the case of this name, or in any, as `--kernel` takes
/// it. None where nothing did, or where the scenario cannot be read any more.
fn for_linux(run: &Path, plan: &Plan, of: Option<&str>) -> Option<String> {
    let scenario = plan.of(read_scenario(run, &plan.name).ok()?);
    let mut cases = scenario.cases.iter().filter(|case| of.is_none_or(|name| case.name == name));
    cases.find_map(|case| plan.for_linux(case)).map(str::to_owned)
}
