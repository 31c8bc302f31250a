//! Trials on the kernel, one after another.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use tcplab_recording::Recording;
use tcplab_scenario::{Case, trial_seed};
use tcplab_testbed::{Reach, TrialRequest, Tuning, run_trial};

use super::event::Event;
use crate::analysis::{Contents, analyse_and_store};
use crate::bench::Bench;
use crate::error::LabError;
use crate::store::RunDirectory;

/// What all trials on the kernel have in common.
pub(super) struct KernelTrials<'a> {
    pub(super) run: &'a RunDirectory,
    pub(super) bench: &'a Bench,
    pub(super) tuning: Tuning,
    pub(super) stop: &'a AtomicBool,
}

impl KernelTrials<'_> {
    /// Runs a trial, and retries it with the same seed while it is flawed or fails and retries are
    /// left. Rejected attempts are stored with their reasons. A flawed last attempt is used and
    /// flagged; a failed one is stored as failed, and its error returned.
    pub(super) fn try_until_good(
        &self,
        case: &Case,
        number: u32,
        on_event: &mut impl FnMut(Event<'_>),
    ) -> Result<Option<LabError>, LabError> {
        let KernelTrials { run, bench, .. } = self;
        loop {
            let stage = run.stage_trial(&case.name, number)?;
            let again = run.flawed(&case.name, number) < run.plan().retries;
            let made = match self.once(case, number, &stage, on_event) {
                Ok(contents) if contents.flaws.is_empty() => Ok(contents),
                Ok(contents) => {
                    // What was done by hand would not be done again.
                    let again = again && !contents.is_steered();
                    let flaws = contents.flaws.clone();
                    on_event(Event::Flawed { flaws: &flaws, again });
                    let error = LabError::Flawed { case: case.name.clone(), number, flaws };
                    if again || bench.strict { Err(error) } else { Ok(contents) }
                }
                // A stop also ends the trial's process, whose error does not count.
                Err(error) if self.is_over(&error) => {
                    let _ = fs::remove_dir_all(&stage);
                    return Err(error);
                }
                Err(error) => {
                    let again = again && error.reach() != Reach::Case;
                    on_event(Event::Failed { reason: &error.reason(), again });
                    Err(error)
                }
            };
            match made {
                Ok(contents) => {
                    analyse_and_store(run, &stage, &contents, case, number)?;
                    run.keep_trial(&stage, &case.name, number)?;
                    return Ok(None);
                }
                Err(error) if again && error.reach() != Reach::Case => {
                    let reasons = match &error {
                        LabError::Flawed { flaws, .. } => flaws.clone(),
                        error => vec![error.reason()],
                    };
                    run.set_aside(&stage, &case.name, number, &reasons)?;
                }
                Err(error) => {
                    run.keep_failure(&stage, case, number, error.reason())?;
                    return Ok(Some(error));
                }
            }
        }
    }

    /// Whether no other trial is run after this.
    fn is_over(&self, error: &LabError) -> bool {
        error.is_stop() || error.reach() == Reach::All || self.stop.load(Ordering::Relaxed)
    }

    /// Runs a trial that is not counted, and keeps what it leaves as `warm-up/<case>-<number>`.
    /// It does not depend on whether the trial succeeds.
    pub(super) fn warm_up(&self, case: &Case, number: u32) -> Result<(), LabError> {
        let stage = self.run.stage_trial(&case.name, number)?;
        match self.once(case, number, &stage, &mut |_| {}) {
            Err(error) if self.is_over(&error) => {
                let _ = fs::remove_dir_all(&stage);
                Err(error)
            }
            _ => self.run.keep_warm_up(&stage, &case.name, number),
        }
    }

    /// Runs a trial once; what it recorded.
    fn once(
        &self,
        case: &Case,
        number: u32,
        stage: &Path,
        on_event: &mut impl FnMut(Event<'_>),
    ) -> Result<Contents, LabError> {
        let request = TrialRequest {
            case: case.clone(),
            seed: trial_seed(self.run.plan().seed, number),
            directory: stage.into(),
            device: self.bench.device,
            tuning: self.tuning,
            snaplen: self.run.plan().snaplen_of(case),
            steerable: self.bench.steering.is_some(),
        };
        let on_progress = |progress| on_event(Event::Progress(progress));
        let steering = self.bench.steering.as_ref();
        run_trial(&self.bench.launcher, &request, self.stop, steering, on_progress)
            .map_err(|source| LabError::Trial { case: case.name.clone(), number, source })?;
        Contents::read(Recording::open(stage)?, case)
    }
}
