//! What is known of the trials of a run: kept beside each recording, so that it is analysed once.

use std::borrow::Cow;
use std::fs;
use std::path::Path;

use tcplab_quantities::{FAILED_TRIAL_DOCUMENT, TRIAL_DOCUMENT};
use tcplab_results::{Failure, Trial};
use tcplab_scenario::{Case, trial_seed};

use super::directory::RunDirectory;
use super::files::{replace_in, trial_directory};
use super::trial_files::{
    FAILED, Identity, StoredFailure, StoredTrial, TRIAL, in_a_line, put, read,
};
use crate::error::LabError;
use crate::plan::{is_simulated, of_kernel, tcplab};

impl RunDirectory {
    /// What decides about a trial that is run now.
    pub(crate) fn identity(&self, case: &Case, number: u32) -> Identity {
        let plan = self.plan();
        let simulated = is_simulated(plan.world, case);
        Identity {
            case: case.hash.clone(),
            seed: trial_seed(plan.seed, number),
            tcplab: tcplab(),
            kernel: (!simulated).then(of_kernel),
            images: plan.images(case),
            snaplen: plan.snaplen_of(case),
        }
    }

    /// What its directory says of a trial, if that says anything.
    pub(crate) fn stored_trial(&self, case: &str, number: u32) -> Option<StoredTrial> {
        read(&self.path().join(trial_directory(case, number)).join(TRIAL))
    }

    /// Writes the result of a trial that is being made in `stage`.
    pub(crate) fn put_stored_trial(stage: &Path, analysed: &StoredTrial) -> Result<(), LabError> {
        put(&stage.join(TRIAL), &TRIAL_DOCUMENT.of(analysed))
    }

    /// Writes the result of a trial in its place, and gives it as it will be read.
    pub(crate) fn replace_stored_trial(
        &self,
        case: &str,
        number: u32,
        analysed: &StoredTrial,
    ) -> Result<StoredTrial, LabError> {
        let text = in_a_line(&TRIAL_DOCUMENT.of(analysed));
        let name = format!("{}/{TRIAL}", trial_directory(case, number));
        replace_in(self.path(), &name, &text)?;
        Ok(serde_json::from_slice(&text).expect("what was written can be read"))
    }

    /// A trial with its number and seed in this run, whatever they were in the run that made it.
    pub(crate) fn placed(&self, case: &str, number: u32, trial: Trial) -> Trial {
        let directory = trial_directory(case, number);
        Trial { number, seed: trial_seed(self.plan().seed, number), directory, ..trial }
    }

    /// All that is known of a trial: from its directory where not all is in memory.
    ///
    /// # Errors
    /// When that cannot be read.
    pub fn whole<'t>(&self, trial: &'t Trial) -> Result<Cow<'t, Trial>, LabError> {
        let case = match self.case_of(trial) {
            Some(case) if !trial.has_packets => &case.name,
            _ => return Ok(Cow::Borrowed(trial)),
        };
        let Some(analysed) = self.stored_trial(case, trial.number) else {
            let path = self.path().join(&trial.directory);
            return Err(LabError::NotARun { path, what: format!("it has no readable {TRIAL}") });
        };
        Ok(Cow::Owned(self.placed(case, trial.number, analysed.trial)))
    }

    /// The case that a trial is of, by its directory.
    pub(crate) fn case_of(&self, trial: &Trial) -> Option<&Case> {
        let own = |case: &&Case| {
            trial.directory.contains(&case.name)
                && trial_directory(&case.name, trial.number) == trial.directory
        };
        self.scenario().cases.iter().find(own)
    }

    /// Puts a trial that failed, and what there is of it, in its place.
    pub(crate) fn keep_failure(
        &self,
        stage: &Path,
        case: &Case,
        number: u32,
        reason: String,
    ) -> Result<(), LabError> {
        let directory = trial_directory(&case.name, number);
        let attempts = self.flawed(&case.name, number) + 1;
        let seed = trial_seed(self.plan().seed, number);
        let failure = Failure { number, seed, directory, attempts, reason };
        let failed = StoredFailure { identity: self.identity(case, number), failure };
        put(&stage.join(FAILED), &FAILED_TRIAL_DOCUMENT.of(&failed))?;
        let target = self.path().join(&failed.failure.directory);
        fs::rename(stage, &target).map_err(LabError::file("move the trial to", &target))
    }

    /// Why a trial failed; none of one that did not.
    pub fn failure(&self, case: &str, number: u32) -> Option<Failure> {
        let directory = trial_directory(case, number);
        let failed: StoredFailure = read(&self.path().join(&directory).join(FAILED))?;
        Some(Failure { number, directory, ..failed.failure })
    }
}
