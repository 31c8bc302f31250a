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
        let Attempt { case, number, count } = self;
        let attempt = if *count > 1 { format!(", attempt {count}") } else { String::new() };
        format!("{case}, number {number}{attempt}")
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
    /// What is to be said about failures.
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
                self.note(&format!("failed: {reason}; {then}"));
                self.over(again, Some(format!("failed: {reason}")));
            }
            Event::Flawed { flaws, again } => {
                let flaws = flaws.join("; ");
                let then = if again { "retrying" } else { "not run again" };
                self.note(&format!("flawed: {flaws}; {then}"));
                if again {
                    self.over(true, Some(format!("flawed: {flaws}")));
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

    /// Something is to be said of the trial.
    fn note(&mut self, what: &str) {
        let name = self.trial.as_ref().map(Attempt::name).unwrap_or_default();
        self.notes.push(format!("{name} {what}"));
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

#[cfg(test)]
mod tests {
    use tcplab_lab::{Bench, Overrides, estimate, plan};
    use tcplab_results::World;
    use tcplab_scenario::Scenario;
    use tcplab_testbed::Launcher;

    use super::*;

    /// Two attempts of one trial: both are told, and told apart.
    #[test]
    fn flawed_attempt_is_told_and_the_next_one_has_a_number() {
        let runs = tempfile::tempdir().unwrap();
        let source = "title = 't'\npath.delay = '5 ms'\nworkload.upload = '1 kB'\n";
        let scenario = Scenario::parse(source, "t").unwrap();
        let world = Some(World::Simulated);
        let plan = plan(&scenario, world, || None, Overrides::default()).unwrap();
        let run = RunDirectory::create(runs.path(), plan, scenario, &[]).unwrap();
        let launcher = Launcher { program: PathBuf::new(), arguments: Vec::new() };
        let estimate = estimate(&run, &Bench::new(launcher), Duration::ZERO);
        let mut state = RunState::new(&run, &estimate);
        let started = Event::Started { index: 1, total: 1, case: "base", number: 1 };
        state.handle(started);
        let flaws = ["the path was late".to_owned(), "frames were lost".to_owned()];
        let mut named = Vec::new();
        for again in [true, false] {
            named.push(state.trial.as_ref().unwrap().name());
            state.handle(Event::Flawed { flaws: &flaws, again });
        }
        assert_eq!(named, ["base, number 1", "base, number 1, attempt 2"]);
        let flawed = "flawed: the path was late; frames were lost";
        assert_eq!(
            state.notes,
            [
                format!("base, number 1 {flawed}; retrying"),
                format!("base, number 1, attempt 2 {flawed}; not run again"),
            ]
        );
        let [first] = &state.finished[..] else { panic!("one attempt is over") };
        assert_eq!(first.trial.name(), "base, number 1");
    }
}
