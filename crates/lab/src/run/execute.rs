//! Runs what the plan still lacks, trial by trial.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use tcplab_scenario::{Scenario, TrialId};
use tcplab_testbed::Tuning;

use super::blocks::StoppingRule;
use super::calibration::calibrate;
use super::event::Event;
use super::kernel::KernelTrials;
use super::sim::simulate;
use super::state::RunState;
use crate::bench::Bench;
use crate::error::LabError;
use crate::plan::{Plan, environment_of_run, is_simulated};
use crate::store::RunDirectory;
use crate::verify::tuning_of;

/// Makes the directory of a new run of `scenario` below `runs`.
///
/// # Errors
/// When it cannot be made.
pub fn begin(runs: &Path, scenario: Scenario, plan: Plan) -> Result<RunDirectory, LabError> {
    let environment = environment_of_run(&plan.kernels);
    RunDirectory::create(runs, plan, scenario, &environment)
}

/// Verifies the paths and runs every trial that the plan asks for and the directory does not have,
/// block by block, each in the plan's random order, and analyses it. `stop` ends it at once; what
/// is finished stays. A trial that fails is written down as that.
pub(super) fn execute(
    run: &RunDirectory,
    bench: &Bench,
    stop: &AtomicBool,
    mut on_event: impl FnMut(Event<'_>),
) -> Result<(), LabError> {
    run.sweep()?;
    let order = run.scenario().trial_order(run.plan().seed);
    let mut state = RunState::new(run, stop);
    let mut watch = StoppingRule::new(run);
    let mut tuning = None;
    loop {
        let (first, last) = watch.next(bench.jobs);
        let block = |number: u32| (number - run.plan().first) as usize * state.cases();
        let batch = &order[block(first)..block(last + 1)];
        run_batch(&mut state, batch, bench, &mut tuning, &mut on_event)?;
        if stop.load(Ordering::Relaxed) {
            return Err(LabError::Stopped);
        }
        if let Some(blocks) = watch.enough(last)? {
            watch.settle(blocks)?;
            return run.sweep();
        }
    }
}

/// Runs the trials of some blocks; `tuning` is measured before the first on the kernel.
fn run_batch(
    state: &mut RunState<'_>,
    batch: &[TrialId],
    bench: &Bench,
    tuning: &mut Option<Tuning>,
    on_event: &mut impl FnMut(Event<'_>),
) -> Result<(), LabError> {
    let (run, cases) = (state.run, &state.run.scenario().cases);
    let in_virtual_time = |id: &TrialId| is_simulated(run.plan().world, &cases[id.case]);
    let (simulated, real): (Vec<TrialId>, Vec<TrialId>) =
        batch.iter().copied().partition(in_virtual_time);
    if !simulated.is_empty() {
        simulate(state, &simulated, bench, on_event)?;
    }
    let is_missing = |id: &TrialId| !run.has_trial(&cases[id.case].name, id.number);
    if tuning.is_none() && real.iter().any(is_missing) {
        let found = prepare(state, &real, bench, on_event)?;
        *tuning = Some(found);
    }
    for id in real {
        let case = &cases[id.case];
        state.begins(id, on_event);
        if run.has_trial(&case.name, id.number) {
            on_event(Event::Skipped);
            continue;
        }
        let tuning = tuning.unwrap_or_else(|| bench.tuning());
        let trials = KernelTrials { run, bench, tuning, stop: state.stop };
        let from = Instant::now();
        match trials.try_until_good(case, id.number, on_event)? {
            None => on_event(Event::Stored { took: from.elapsed(), complaints: &[] }),
            Some(error) => state.failures.failed(id.number, error)?,
        }
    }
    Ok(())
}

/// Verifies the paths, and runs the blocks that are not counted.
fn prepare(
    state: &RunState<'_>,
    real: &[TrialId],
    bench: &Bench,
    on_event: &mut impl FnMut(Event<'_>),
) -> Result<Tuning, LabError> {
    let (run, cases) = (state.run, &state.run.scenario().cases);
    // Between two ends on the same host nothing is moved by tcplab.
    let moves = real.iter().any(|id| !cases[id.case].path.same_host);
    let tuning = if bench.calibrate && moves {
        let step = |step, total| on_event(Event::Calibrating { step, total });
        tuning_of(&calibrate(run, bench, state.stop, step)?.machine)
    } else {
        bench.tuning()
    };
    let trials = KernelTrials { run, bench, tuning, stop: state.stop };
    let block: Vec<TrialId> =
        real.iter().copied().filter(|id| id.number == real[0].number).collect();
    let total = run.plan().warm_up as usize * block.len();
    let blocks =
        (1..=run.plan().warm_up).flat_map(|number| block.iter().map(move |id| (number, id)));
    for (index, (number, id)) in blocks.enumerate() {
        on_event(Event::WarmingUp { index: index + 1, total });
        trials.warm_up(&cases[id.case], number)?;
    }
    Ok(tuning)
}
