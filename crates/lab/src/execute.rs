//! Runs what the plan still lacks, trial by trial.

use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use tcplab_recording::Recording;
use tcplab_scenario::{Case, Scenario, TrialId, trial_seed};
use tcplab_testbed::{DeviceKind, Launcher, Progress, TrialRequest, Tuning, run_trial};
use tcplab_units::Span;

use crate::calibration::calibrate;
use crate::{LabError, Plan, Refusal, RunDirectory, World, analyse, environment, loads, worlds};

/// What happens in a run, for whoever shows it.
#[derive(Debug, Clone, Copy)]
pub enum Event<'a> {
    /// The machine and the paths are being verified.
    Calibrating {
        /// The step, from 1.
        step: usize,
        /// Of so many.
        total: usize,
    },
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
    /// Its path misbehaved.
    Flawed {
        /// How, a sentence each.
        flaws: &'a [String],
        /// Whether it is run again; if not, it is used and flagged, or the run fails.
        again: bool,
    },
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
    /// How long before a packet is due the thread that moves frames no longer sleeps; see
    /// [`Tuning::spin`].
    pub spin: Span,
    /// Whether to verify the paths before the trials.
    pub calibrate: bool,
    /// Whether to run a path that asks for more than this machine can model with confidence.
    pub allow_above_ceiling: bool,
    /// Whether to fail rather than use a trial that stays flawed.
    pub strict: bool,
}

impl Bench {
    /// As trials are run where nothing else is asked for.
    pub fn new(launcher: Launcher) -> Bench {
        Bench {
            launcher,
            device: None,
            spin: Tuning::default().spin,
            calibrate: true,
            allow_above_ceiling: false,
            strict: false,
        }
    }

    /// How frames are moved before anything is known of the machine.
    pub(crate) fn tuning(&self) -> Tuning {
        Tuning { spin: self.spin, ..Tuning::default() }
    }
}

/// What `scenario` asks for, settled; `trials` and `seed` take the place of the scenario's. Whether
/// the kernel is `refused` here is asked where that decides, see [`crate::kernel_refused`].
///
/// # Errors
/// When the world cannot be that of the scenario's stacks.
pub fn plan(
    scenario: &Scenario,
    world: World,
    refused: impl FnOnce() -> Option<Refusal>,
    trials: Option<u32>,
    seed: Option<u64>,
) -> Result<Plan, LabError> {
    let (world, fallback) = worlds::of_run(scenario, world, refused)?;
    Ok(Plan {
        name: scenario.name.clone(),
        world: world.into(),
        fallback,
        started: jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        seed: seed.unwrap_or(scenario.seed),
        trials: trials.unwrap_or(scenario.trials),
        retries: scenario.retries,
        snaplen: None,
        tcplab: env!("CARGO_PKG_VERSION").into(),
        cases: scenario.cases.iter().map(|case| case.hash.clone()).collect(),
    })
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

/// Verifies the paths and runs every trial that the plan asks for and the directory does not have,
/// in the plan's random order. `stop` ends it at once; what is finished stays.
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
    run.sweep()?;
    let (simulated, order): (Vec<TrialId>, Vec<TrialId>) =
        order.into_iter().partition(|id| worlds::is_virtual(&plan.world, &cases[id.case]));
    if !simulated.is_empty() {
        worlds::simulate(run, &simulated, stop, [0, total], &mut tell)?;
    }
    let is_done = order.iter().all(|id| run.has_trial(&cases[id.case].name, id.number));
    // Between two ends on the same host nothing is moved by tcplab.
    let moves = order.iter().any(|id| !cases[id.case].path.same_host);
    let tuning = if bench.calibrate && !is_done && moves {
        let step = |step, total| tell(Event::Calibrating { step, total });
        calibrate(run, bench, stop, step)?.machine.tuning()
    } else {
        bench.tuning()
    };
    let trials = Trials { run, bench, tuning, stop };
    for (index, TrialId { case, number }) in order.into_iter().enumerate() {
        let case = &cases[case];
        let index = simulated.len() + index + 1;
        tell(Event::Started { index, total, case: &case.name, number });
        if run.has_trial(&case.name, number) {
            tell(Event::Skipped);
            continue;
        }
        trials.try_until_good(case, number, &mut tell)?;
        tell(Event::Kept);
    }
    run.sweep()
}

/// What all trials of a run have in common.
struct Trials<'a> {
    run: &'a RunDirectory,
    bench: &'a Bench,
    tuning: Tuning,
    stop: &'a AtomicBool,
}

impl Trials<'_> {
    /// Runs a trial, and again with the same seed while it is flawed and that is allowed. What is
    /// flawed is put aside with its reasons, but for the last, which is used and flagged.
    fn try_until_good(
        &self,
        case: &Case,
        number: u32,
        tell: &mut impl FnMut(Event<'_>),
    ) -> Result<(), LabError> {
        let Trials { run, bench, .. } = self;
        loop {
            let stage = run.stage_trial(&case.name, number)?;
            let flaws = self.once(case, number, &stage, tell).inspect_err(|_| {
                let _ = fs::remove_dir_all(&stage);
            })?;
            let again = run.flawed(&case.name, number) < run.plan().retries;
            if flaws.is_empty() {
                return run.keep_trial(&stage, &case.name, number);
            }
            tell(Event::Flawed { flaws: &flaws, again });
            if !again && !bench.strict {
                return run.keep_trial(&stage, &case.name, number);
            }
            run.set_aside(&stage, &case.name, number, &flaws)?;
            if !again {
                return Err(LabError::Flawed { case: case.name.clone(), number, flaws });
            }
        }
    }

    /// Runs a trial once; what is flawed about it.
    fn once(
        &self,
        case: &Case,
        number: u32,
        stage: &Path,
        tell: &mut impl FnMut(Event<'_>),
    ) -> Result<Vec<String>, LabError> {
        let request = TrialRequest {
            case: case.clone(),
            seed: trial_seed(self.run.plan().seed, number),
            directory: stage.into(),
            device: self.bench.device,
            tuning: self.tuning,
            snaplen: self.run.plan().snaplen,
        };
        let told = |progress| tell(Event::Progress(progress));
        run_trial(&self.bench.launcher, &request, self.stop, told)
            .map_err(|source| LabError::Trial { case: case.name.clone(), number, source })?;
        let recording = Recording::open(stage)?;
        let record = recording.record()?;
        let load = recording.app()?.load;
        if load.as_ref().is_some_and(|load| load.impossible.is_some()) {
            return Ok(Vec::new());
        }
        let mut flaws = analyse::flaws_of(&record, &case.path, recording.samples()?.len());
        flaws.extend(load.as_ref().and_then(loads::flaws));
        Ok(flaws)
    }
}
