//! How far a run is, as its events tell.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use tcplab_lab::{Event, Remaining, RunDirectory, RunEstimate};

/// Finished trials that are remembered.
const REMEMBERED: usize = 50;

/// A trial by its name; a trial that is run again is another attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Attempt {
    pub(super) case: String,
    pub(super) number: u32,
    pub(super) count: u32,
}

impl Attempt {
    pub(super) fn name(&self) -> String {
        format!("{}, number {}", self.case, self.number)
    }
}

/// A trial that is over; its result is read by who shows it.
#[derive(Debug, Clone)]
pub(super) struct TrialEnd {
    pub(super) trial: Attempt,
    /// What came of it, once it is known.
    pub(super) outcome: Option<String>,
}

/// How far a run is.
pub(super) struct RunState {
    pub(super) experiment: String,
    pub(super) run: PathBuf,
    /// What is done, where that is no trial.
    pub(super) phase: String,
    pub(super) trial: Option<Attempt>,
    pub(super) index: usize,
    pub(super) total: usize,
    /// The latest last.
    pub(super) finished: Vec<TrialEnd>,
    /// What was said about failures.
    pub(super) notes: Vec<String>,
    began: Instant,
    remaining: Remaining,
    /// When it will be over.
    end: Instant,
}

impl RunState {
    pub(super) fn new(run: &RunDirectory, estimate: &RunEstimate) -> RunState {
        let began = Instant::now();
        RunState {
            experiment: estimate.name.clone(),
            run: run.path().to_owned(),
            phase: "preparing".into(),
            trial: None,
            index: 0,
            total: 0,
            finished: Vec::new(),
            notes: Vec::new(),
            began,
            remaining: Remaining::new(run, estimate),
            end: began,
        }
    }

    /// The time that is left, about.
    pub(super) fn left(&self) -> Duration {
        self.end.saturating_duration_since(Instant::now())
    }

    pub(super) fn handle(&mut self, event: Event<'_>) {
        let passed = self.began.elapsed();
        self.remaining.handle(passed, &event);
        self.end = self.began + passed + self.remaining.left(passed);
        match event {
            Event::Calibrating { step, total } => {
                self.phase = format!("calibrating the path: step {step} of {total}");
            }
            Event::WarmingUp { index, total } => {
                self.phase = format!("warm-up trial {index} of {total} (not counted)");
            }
            Event::Started { index, total, case, number } => {
                (self.index, self.total) = (index, total);
                self.phase = format!("trial {index} of {total}");
                self.trial = Some(Attempt { case: case.into(), number, count: 1 });
            }
            Event::Progress(_) => {}
            Event::Failed { reason, again } => {
                let then = if again { "retrying" } else { "missing in the tables" };
                let name = self.trial.as_ref().map(Attempt::name).unwrap_or_default();
                self.notes.push(format!("{name} failed: {reason}; {then}"));
                self.over(again, Some(format!("failed: {reason}")));
            }
            Event::Flawed { flaws, again } => {
                if again {
                    self.over(true, Some(format!("flawed: {}", flaws.join("; "))));
                }
            }
            Event::Stored { complaints, .. } => {
                self.notes.extend(complaints.iter().map(|it| format!("! {it}")));
                self.over(false, None);
            }
            Event::Skipped => self.over(false, Some("exists".into())),
            Event::Analysing { done, total } => {
                self.phase = format!("analysing the trials: {done} of {total}");
            }
            Event::Reporting => self.phase = "writing the report".into(),
        }
    }

    /// An attempt is over.
    fn over(&mut self, again: bool, outcome: Option<String>) {
        let Some(trial) = &mut self.trial else { return };
        if self.finished.len() >= REMEMBERED {
            self.finished.remove(0);
        }
        self.finished.push(TrialEnd { trial: trial.clone(), outcome });
        trial.count += u32::from(again);
    }
}
