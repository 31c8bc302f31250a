//! Trials on the kernel, one after another.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use tcplab_recording::Recording;
use tcplab_scenario::{Case, trial_seed};
use tcplab_testbed::{Reach, TrialRequest, Tuning, run_trial};

use super::event::Event;
use crate::analysis::{flaws_of, load_flaws, settle};
use crate::bench::Bench;
use crate::error::LabError;
use crate::store::RunDirectory;

/// What all trials on the kernel have in common.
pub(super) struct Trials<'a> {
    pub(super) run: &'a RunDirectory,
    pub(super) bench: &'a Bench,
    pub(super) tuning: Tuning,
    pub(super) stop: &'a AtomicBool,
}

impl Trials<'_> {
    /// Runs a trial, and again with the same seed while it is flawed or fails and that is allowed.
    /// What is not good is put aside with its reasons, but for the last: what is flawed is used and
    /// flagged, what failed is kept as that, and why is given.
    pub(super) fn try_until_good(
        &self,
        case: &Case,
        number: u32,
        tell: &mut impl FnMut(Event<'_>),
    ) -> Result<Option<LabError>, LabError> {
        let Trials { run, bench, .. } = self;
        loop {
            let stage = run.stage_trial(&case.name, number)?;
            let again = run.flawed(&case.name, number) < run.plan().retries;
            let (told, error) = match self.once(case, number, &stage, tell) {
                Ok(flaws) if flaws.is_empty() => (flaws, None),
                Ok(flaws) => {
                    tell(Event::Flawed { flaws: &flaws, again });
                    let case = case.name.clone();
                    let error = LabError::Flawed { case, number, flaws: flaws.clone() };
                    (flaws, Some(error).filter(|_| again || bench.strict))
                }
                // Who is asked to stop takes the trial's process with it, whatever that says then.
                Err(error) if self.is_over(&error) => {
                    let _ = fs::remove_dir_all(&stage);
                    return Err(error);
                }
                Err(error) => {
                    let again = again && error.reach() != Reach::Case;
                    tell(Event::Failed { reason: &error.reason(), again });
                    (vec![error.reason()], Some(error))
                }
            };
            match error {
                None => {
                    settle(run, &stage, case, number)?;
                    run.keep_trial(&stage, &case.name, number)?;
                    return Ok(None);
                }
                Some(error) if again && error.reach() != Reach::Case => {
                    run.set_aside(&stage, &case.name, number, &told)?;
                }
                Some(error) => {
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
    /// Whether it goes well is none of its business.
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
        let mut flaws = flaws_of(&record, &case.path, recording.samples()?.len());
        flaws.extend(load.as_ref().and_then(load_flaws));
        Ok(flaws)
    }
}
