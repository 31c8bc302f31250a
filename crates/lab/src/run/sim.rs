//! The trials of the virtual world: several at once.

use std::any::Any;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use tcplab_recording::Recording;
use tcplab_scenario::{Case, TrialId, trial_seed};
use tcplab_sim::{TrialRequest, run_trial};
use tcplab_testbed::{Launcher, Reach, Steering};

use super::consoles;
use super::event::Event;
use super::guests::{kernels_of, run_on_guests};
use super::state::RunState;
use crate::analysis::{Contents, analyse_and_store};
use crate::bench::Bench;
use crate::error::LabError;
use crate::plan::Plan;
use crate::store::{RunDirectory, trial_directory};

/// Looking at the flag this often makes Ctrl-C feel immediate.
const STOP_CHECK_INTERVAL: Duration = Duration::from_millis(50);

/// What a thread reports of its trial.
struct TrialEnd {
    id: TrialId,
    ended: Result<Ended, LabError>,
}

enum Ended {
    /// In this time; what its kernels complain of.
    Stored(Duration, Vec<String>),
    StoredBefore,
    /// It failed, which is written down.
    Failed(LabError),
}

/// Runs trials in virtual time, `jobs` at once.
pub(crate) fn simulate(
    state: &mut RunState<'_>,
    trials: &[TrialId],
    bench: &Bench,
    on_event: &mut impl FnMut(Event<'_>),
) -> Result<(), LabError> {
    let (run, stop) = (state.run, state.stop);
    let _steered = bench.steering.as_ref().map(Steering::in_virtual_time);
    let halt = AtomicBool::new(false);
    let has_guests = run.scenario().cases.iter().any(|case| run.plan().has_kernel(case));
    let rest = Mutex::new(trials.iter());
    let (sender, receiver) = mpsc::channel();
    thread::scope(|scope| {
        let mut stopped = Ok(());
        for nth in 0..bench.jobs.clamp(1, trials.len().max(1)) {
            let (sender, rest, halt) = (sender.clone(), &rest, &halt);
            let work = move || {
                if has_guests {
                    // Elsewhere they are slower, no more.
                    let _ = tcplab_guests::pin(nth);
                }
                work(run, &bench.launcher, rest, halt, &sender);
            };
            let Err(source) = thread::Builder::new().spawn_scoped(scope, work) else { continue };
            // Those that there are run all trials.
            if nth == 0 {
                stopped = Err(LabError::Process { source });
            }
            break;
        }
        drop(sender);
        loop {
            let received = receiver.recv_timeout(STOP_CHECK_INTERVAL);
            // Also where one trial ends right after the other.
            if stop.load(Ordering::Relaxed) {
                halt.store(true, Ordering::Relaxed);
            }
            match received {
                Ok(TrialEnd { id, ended }) => {
                    let went_on = report_end(state, id, ended, on_event);
                    if went_on.is_err() {
                        halt.store(true, Ordering::Relaxed);
                        // The others stop because of the first.
                        stopped = stopped.and(went_on);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return stopped,
            }
        }
    })
}

/// Reports the result of a trial.
fn report_end(
    state: &mut RunState<'_>,
    id: TrialId,
    ended: Result<Ended, LabError>,
    on_event: &mut impl FnMut(Event<'_>),
) -> Result<(), LabError> {
    state.begins(id, on_event);
    match ended? {
        Ended::Stored(took, complaints) => {
            on_event(Event::Stored { took, complaints: &complaints });
        }
        Ended::StoredBefore => on_event(Event::Skipped),
        Ended::Failed(error) => {
            on_event(Event::Failed { reason: &error.reason(), again: false });
            state.failures.failed(id.number, error)?;
        }
    }
    Ok(())
}

/// Takes one trial after the other.
fn work(
    run: &RunDirectory,
    launcher: &Launcher,
    rest: &Mutex<std::slice::Iter<'_, TrialId>>,
    halt: &AtomicBool,
    sender: &Sender<TrialEnd>,
) {
    let next = || rest.lock().expect("no worker panics while it holds the list").next().copied();
    while !halt.load(Ordering::Relaxed)
        && let Some(id) = next()
    {
        let ended = one(run, launcher, id, halt);
        if sender.send(TrialEnd { id, ended }).is_err() {
            return;
        }
    }
}

/// Runs a trial, unless it is there. What fails here would fail each time: it is not run again.
fn one(
    run: &RunDirectory,
    launcher: &Launcher,
    id: TrialId,
    halt: &AtomicBool,
) -> Result<Ended, LabError> {
    let TrialId { case, number } = id;
    let case = &run.scenario().cases[case];
    if run.has_trial(&case.name, number) {
        return Ok(Ended::StoredBefore);
    }
    let from = Instant::now();
    let stage = run.stage_trial(&case.name, number)?;
    let made = catch_unwind(AssertUnwindSafe(|| make(run, launcher, case, number, &stage, halt)));
    let made = made.unwrap_or_else(|panic| {
        let what = panic_message(panic.as_ref());
        Err(LabError::Panicked { case: case.name.clone(), number, what })
    });
    match made {
        Ok(()) => {
            run.keep_trial(&stage, &case.name, number)?;
            let place = run.path().join(trial_directory(&case.name, number));
            let complaints = consoles::complaints(&place);
            Ok(Ended::Stored(from.elapsed(), complaints))
        }
        Err(error) if error.is_stop() || error.reach() == Reach::All => {
            if !error.is_stop() {
                consoles::keep(&stage, run.path());
            }
            let _ = fs::remove_dir_all(&stage);
            Err(error)
        }
        Err(error) => {
            run.keep_failure(&stage, case, number, error.reason())?;
            Ok(Ended::Failed(error))
        }
    }
}

/// Runs a trial to its end, and analyses it.
fn make(
    run: &RunDirectory,
    launcher: &Launcher,
    case: &Case,
    number: u32,
    stage: &Path,
    halt: &AtomicBool,
) -> Result<(), LabError> {
    let plan = run.plan();
    let seed = trial_seed(plan.seed, number);
    let keeps_packets = plan.keep.has(number);
    let usual = || Some(Plan::usual_snaplen(case));
    let snaplen = if keeps_packets { plan.snaplen_of(case) } else { usual() };
    let request = TrialRequest { case, seed, directory: stage, snaplen, keeps_packets };
    let name = || case.name.clone();
    match kernels_of(plan, case)? {
        Some(kernels) => run_on_guests(&request, &kernels, launcher, halt).map_err(|source| {
            let stacks = [&case.client, &case.server].map(|end| end.stack.clone());
            LabError::OnGuests { case: name(), number, stacks: stacks.into(), source }
        })?,
        None => run_trial(&request, halt).map_err(|source| LabError::Simulated {
            case: name(),
            number,
            source,
        })?,
    }
    // Looking at a long trial takes longer than who stops a run likes to wait.
    if halt.load(Ordering::Relaxed) {
        return Err(LabError::Stopped);
    }
    let contents = Contents::read(Recording::open(stage)?, case)?;
    analyse_and_store(run, stage, &contents, case, number)
}

/// The words of a panic.
fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "it panicked".into())
}
