//! Tests a commit: builds its kernel and runs the trials on it.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use anyhow::Result;
use tcplab_actions::write_report;
use tcplab_kernels::{Built, CommitBuilds, Event as BuildEvent, Kernel};
use tcplab_lab::bisect::BisectRecord;
use tcplab_lab::{
    Bench, Event, KernelChoice, LabError, Overrides, RunDirectory, begin, complete, plan,
};
use tcplab_results::World;
use tcplab_scenario::Scenario;

use super::progress::Display;

pub(super) struct Tester<'a> {
    pub(super) scenario: &'a Scenario,
    pub(super) builds: &'a CommitBuilds<'a>,
    pub(super) bench: &'a Bench,
    pub(super) stop: &'a AtomicBool,
}

impl Tester<'_> {
    /// Notes the verdict of a step.
    ///
    /// # Errors
    /// If another commit would fare no better, or the user stopped it.
    pub(super) fn test(
        &mut self,
        record: &mut BisectRecord,
        place: usize,
        display: &mut Display,
    ) -> Result<()> {
        let Some(kernel) = self.build(record, place, display)? else { return Ok(()) };
        kernel.check_for_trials()?;
        let directory = self.directory(record, place, &kernel)?;
        record.bisection.steps[place].run = Some(directory.path().to_string_lossy().into_owned());
        record.save()?;
        let began = Instant::now();
        let show = |event: Event<'_>| display.trials(event);
        let completed = complete(&directory, self.bench, self.stop, show, write_report);
        let claims = record.bisection.claims.clone();
        let step = &mut record.bisection.steps[place];
        step.trials_s += began.elapsed().as_secs_f64();
        match completed {
            Ok(outcome) => step.judge(&outcome.run, &claims)?,
            Err(error) if error.downcast_ref().is_some_and(LabError::is_of_kernel) => {
                step.skip(error.to_string());
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// The image of a step's commit; none if it is to be skipped.
    fn build(
        &self,
        record: &mut BisectRecord,
        place: usize,
        display: &mut Display,
    ) -> Result<Option<Kernel>> {
        let step = &mut record.bisection.steps[place];
        let (began, mut compiled) = (Instant::now(), 0);
        let built = self.builds.build(&step.commit.hash, &mut |event| {
            if let BuildEvent::Compiling { done, before, .. } = event {
                compiled = done - before;
            }
            display.build(&event);
        });
        step.build_s += began.elapsed().as_secs_f64();
        step.compiled_files += compiled;
        step.is_built |= matches!(built, Ok(Built::New(_)));
        // Also of a build that was stopped: the next one adds its time.
        record.save()?;
        match built {
            Ok(Built::New(kernel) | Built::Existing(kernel)) => Ok(Some(kernel)),
            Err(error) if error.is_of_source() => {
                record.bisection.steps[place].skip(error.to_string());
                Ok(None)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// The directory of a step's trials: that of before an interruption, if it is of this image.
    fn directory(
        &self,
        record: &BisectRecord,
        place: usize,
        kernel: &Kernel,
    ) -> Result<RunDirectory, LabError> {
        let begun = record.bisection.steps[place].run.as_ref();
        let begun = begun.and_then(|path| RunDirectory::open(Path::new(path)).ok());
        let is_same = |run: &RunDirectory| {
            let used = run.plan().kernels.newest.as_ref();
            used.is_some_and(|it| it.image_hash == kernel.manifest.image_hash)
        };
        if let Some(run) = begun.filter(is_same) {
            return Ok(run);
        }
        let name = CommitBuilds::name_of(&record.bisection.steps[place].commit.hash);
        let name = name.unwrap_or_else(|_| unreachable!("the commit was just built"));
        let overrides = Overrides {
            trials: record.bisection.trials,
            seed: record.bisection.seed,
            kernel: KernelChoice::Named(name),
            ..Overrides::default()
        };
        let plan = plan(self.scenario, Some(World::Simulated), || None, overrides)?;
        begin(record.path(), self.scenario.clone(), plan)
    }
}
