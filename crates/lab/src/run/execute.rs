//! Runs what the plan still lacks, trial by trial.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use tcplab_recording::Recording;
use tcplab_scenario::{Case, Scenario, TrialId, trial_seed};
use tcplab_testbed::{DeviceKind, Launcher, Progress, Reach, TrialRequest, Tuning, run_trial};
use tcplab_units::Span;

use crate::blocks::Watch;
use crate::calibration::calibrate;
use crate::failing::Tally;
use crate::simulate::{processors, simulate};
use crate::{LabError, Plan, RunDirectory, analyse, environment, loads, worlds};

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
    /// A trial starts: the `index`th of `total` at most, counting from 1 those of the whole plan.
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
    /// A trial runs that is not counted.
    WarmingUp {
        /// Which, from 1.
        index: usize,
        /// Of so many.
        total: usize,
    },
    /// It failed.
    Failed {
        /// Why.
        reason: &'a str,
        /// Whether it is run again; if not, it is missing.
        again: bool,
    },
    /// Its path misbehaved.
    Flawed {
        /// How, a sentence each.
        flaws: &'a [String],
        /// Whether it is run again; if not, it is used and flagged, or has failed.
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
    /// Whether a trial that stays flawed has failed, and is not used.
    pub strict: bool,
    /// How many trials run at once in virtual time.
    pub jobs: usize,
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
            jobs: processors(),
        }
    }

    /// How frames are moved before anything is known of the machine.
    pub(crate) fn tuning(&self) -> Tuning {
        Tuning { spin: self.spin, ..Tuning::default() }
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

/// Verifies the paths and runs every trial that the plan asks for and the directory does not have,
/// block by block, each in the plan's random order, and analyses it. `stop` ends it at once; what
/// is finished stays. A trial that fails is written down as that.
///
/// # Errors
/// When nothing can go on: the caller stopped it, a file cannot be written, or no trial of the
/// first block could even begin; nothing of the trial that it happened to stays.
pub fn execute(
    run: &RunDirectory,
    bench: &Bench,
    stop: &AtomicBool,
    mut tell: impl FnMut(Event<'_>),
) -> Result<(), LabError> {
    run.sweep()?;
    let order = run.scenario().trial_order(run.plan().seed);
    let mut course = Course::new(run, stop);
    let mut watch = Watch::new(run);
    let mut tuning = None;
    loop {
        let (first, last) = watch.next(bench.jobs);
        let block = |number: u32| (number - run.plan().first) as usize * course.cases();
        let batch = &order[block(first)..block(last + 1)];
        course.go(batch, bench, &mut tuning, &mut tell)?;
        if stop.load(Ordering::Relaxed) {
            return Err(LabError::Stopped);
        }
        if let Some(blocks) = watch.enough(last)? {
            watch.settle(blocks)?;
            return run.sweep();
        }
    }
}

/// A run under way.
pub(crate) struct Course<'a> {
    pub(crate) run: &'a RunDirectory,
    pub(crate) stop: &'a AtomicBool,
    /// What has failed.
    pub(crate) tally: Tally,
    /// So many trials came to an end, or are about to.
    begun: usize,
}

impl<'a> Course<'a> {
    fn new(run: &'a RunDirectory, stop: &'a AtomicBool) -> Course<'a> {
        let tally = Tally::new(run.scenario().cases.len(), run.plan().first);
        Course { run, stop, tally, begun: 0 }
    }

    fn cases(&self) -> usize {
        self.run.scenario().cases.len()
    }

    /// Tells that a trial begins, or that it is the next to be told of.
    pub(crate) fn begins(&mut self, id: TrialId, tell: &mut impl FnMut(Event<'_>)) {
        self.begun += 1;
        let total = self.cases() * self.run.plan().numbers().count();
        let case = &self.run.scenario().cases[id.case].name;
        tell(Event::Started { index: self.begun, total, case, number: id.number });
    }

    /// Runs the trials of some blocks; `tuning` is found out before the first on the kernel.
    fn go(
        &mut self,
        batch: &[TrialId],
        bench: &Bench,
        tuning: &mut Option<Tuning>,
        tell: &mut impl FnMut(Event<'_>),
    ) -> Result<(), LabError> {
        let (run, cases) = (self.run, &self.run.scenario().cases);
        let is_virtual = |id: &TrialId| worlds::is_virtual(&run.plan().world, &cases[id.case]);
        let (simulated, real): (Vec<TrialId>, Vec<TrialId>) =
            batch.iter().copied().partition(is_virtual);
        if !simulated.is_empty() {
            simulate(self, &simulated, bench.jobs, tell)?;
        }
        let is_missing = |id: &TrialId| !run.has_trial(&cases[id.case].name, id.number);
        if tuning.is_none() && real.iter().any(is_missing) {
            let found = self.prepare(&real, bench, tell)?;
            *tuning = Some(found);
        }
        for id in real {
            let case = &cases[id.case];
            self.begins(id, tell);
            if run.has_trial(&case.name, id.number) {
                tell(Event::Skipped);
                continue;
            }
            let tuning = tuning.unwrap_or_else(|| bench.tuning());
            let trials = Trials { run, bench, tuning, stop: self.stop };
            match trials.try_until_good(case, id.number, tell)? {
                None => tell(Event::Kept),
                Some(error) => self.tally.failed(id.number, error)?,
            }
        }
        Ok(())
    }

    /// Verifies the paths, and runs the blocks that are not counted.
    fn prepare(
        &mut self,
        real: &[TrialId],
        bench: &Bench,
        tell: &mut impl FnMut(Event<'_>),
    ) -> Result<Tuning, LabError> {
        let (run, cases) = (self.run, &self.run.scenario().cases);
        // Between two ends on the same host nothing is moved by tcplab.
        let moves = real.iter().any(|id| !cases[id.case].path.same_host);
        let tuning = if bench.calibrate && moves {
            let step = |step, total| tell(Event::Calibrating { step, total });
            calibrate(run, bench, self.stop, step)?.machine.tuning()
        } else {
            bench.tuning()
        };
        let trials = Trials { run, bench, tuning, stop: self.stop };
        let block: Vec<TrialId> =
            real.iter().copied().filter(|id| id.number == real[0].number).collect();
        let total = run.plan().warm_up as usize * block.len();
        let blocks =
            (1..=run.plan().warm_up).flat_map(|number| block.iter().map(move |id| (number, id)));
        for (index, (number, id)) in blocks.enumerate() {
            tell(Event::WarmingUp { index: index + 1, total });
            trials.warm_up(&cases[id.case], number)?;
        }
        Ok(tuning)
    }
}

/// What all trials on the kernel have in common.
struct Trials<'a> {
    run: &'a RunDirectory,
    bench: &'a Bench,
    tuning: Tuning,
    stop: &'a AtomicBool,
}

impl Trials<'_> {
    /// Runs a trial, and again with the same seed while it is flawed or fails and that is allowed.
    /// What is not good is put aside with its reasons, but for the last: what is flawed is used and
    /// flagged, what failed is kept as that, and why is given.
    fn try_until_good(
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
                    run.settle(&stage, case, number)?;
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
    fn warm_up(&self, case: &Case, number: u32) -> Result<(), LabError> {
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
        let mut flaws = analyse::flaws_of(&record, &case.path, recording.samples()?.len());
        flaws.extend(load.as_ref().and_then(loads::flaws));
        Ok(flaws)
    }
}
