//! Runs what the plan still lacks, trial by trial.

use std::fs;
use std::sync::atomic::AtomicBool;

use tcplab_scenario::{Scenario, TrialId, trial_seed};
use tcplab_testbed::{DeviceKind, Launcher, Progress, TrialError, TrialRequest, Tuning, run_trial};

use crate::{LabError, Plan, RunDirectory, environment};

/// What happens in a run, for whoever shows it.
#[derive(Debug, Clone, Copy)]
pub enum Event<'a> {
    /// A trial starts: the `index`th of `total`, counting from 1 those of the whole plan.
    Started {
        /// See above.
        index: usize,
        /// See above.
        total: usize,
        /// The case's name.
        case: &'a str,
        /// Its trial's number.
        number: u32,
    },
    /// It goes on.
    Progress(Progress),
    /// It is whole and in its place.
    Kept,
    /// It was there already.
    Skipped,
}

/// How trials are run on this machine.
#[derive(Debug)]
pub struct Bench {
    /// Starts the process of a trial.
    pub launcher: Launcher,
    /// How frames get out of the endpoints; the best allowed way where none is named.
    pub device: Option<DeviceKind>,
}

/// What `scenario` asks for, settled; `trials` and `seed` take the place of the scenario's.
pub fn plan(scenario: &Scenario, trials: Option<u32>, seed: Option<u64>) -> Plan {
    Plan {
        name: scenario.name.clone(),
        world: "kernel".into(),
        started: jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        seed: seed.unwrap_or(scenario.seed),
        trials: trials.unwrap_or(scenario.trials),
        tcplab: env!("CARGO_PKG_VERSION").into(),
        cases: scenario.cases.iter().map(|case| case.hash.clone()).collect(),
    }
}

/// Makes the directory of a new run of `scenario` below `runs`.
///
/// # Errors
/// When it cannot be made.
pub fn begin(
    runs: &std::path::Path,
    scenario: Scenario,
    plan: Plan,
) -> Result<RunDirectory, LabError> {
    RunDirectory::create(runs, plan, scenario, &environment())
}

/// Runs every trial that the plan asks for and the directory does not have, in the plan's random
/// order. `stop` ends it at once; what is finished stays.
///
/// # Errors
/// At the first trial that cannot be run to its end; nothing of that one stays.
pub fn execute(
    run: &RunDirectory,
    bench: &Bench,
    stop: &AtomicBool,
    mut tell: impl FnMut(Event<'_>),
) -> Result<(), LabError> {
    let (plan, cases) = (run.plan(), &run.scenario().cases);
    let order = run.scenario().trial_order(plan.seed);
    let total = order.len();
    for (index, TrialId { case, number }) in order.into_iter().enumerate() {
        let case = &cases[case];
        tell(Event::Started { index: index + 1, total, case: &case.name, number });
        if run.has_trial(&case.name, number) {
            tell(Event::Skipped);
            continue;
        }
        let stage = run.stage_trial(&case.name, number)?;
        let request = TrialRequest {
            case: case.clone(),
            seed: trial_seed(plan.seed, number),
            directory: stage.clone(),
            device: bench.device,
            tuning: Tuning::default(),
            snaplen: None,
        };
        let outcome =
            run_trial(&bench.launcher, &request, stop, |told| tell(Event::Progress(told)));
        let kept = outcome
            .map_err(|source: TrialError| LabError::Trial {
                case: case.name.clone(),
                number,
                source,
            })
            .and_then(|()| run.keep_trial(&stage, &case.name, number));
        if let Err(error) = kept {
            let _ = fs::remove_dir_all(&stage);
            return Err(error);
        }
        tell(Event::Kept);
    }
    run.sweep()
}
