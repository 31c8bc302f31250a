//! What is shown of a run at an instant: how far it is, and the trial that is watched.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tcplab_lab::trial_result;
use tcplab_results::metric_by_workload;
use tcplab_units::rounded;
use tcplab_watch::{Overview, Places, Watched, WatchedTrial};

use super::run_state::{Attempt, RunState, TrialEnd};

/// Steps that a screen has room for.
const STEPS: usize = 400;
/// How long a trial is shown at least: trials in virtual time may take milliseconds.
const SHOWN_FOR: Duration = Duration::from_secs(1);

/// What is shown.
#[derive(Debug, Clone, Default)]
pub(super) struct RunPicture {
    pub(super) experiment: String,
    pub(super) phase: String,
    pub(super) left: Duration,
    /// The trial that is watched; none before the first.
    pub(super) trial: Option<String>,
    pub(super) overview: Overview,
    /// The latest last: a trial and what came of it.
    pub(super) finished: Vec<(String, String)>,
}

/// Reads a run while it runs.
pub(super) struct RunFollower {
    state: Arc<Mutex<RunState>>,
    watched: Watched,
    trial: Option<(Attempt, Arc<WatchedTrial>)>,
    since: Option<Instant>,
    picture: RunPicture,
}

impl RunFollower {
    pub(super) fn new(state: Arc<Mutex<RunState>>) -> RunFollower {
        let (watched, picture) = (Watched::default(), RunPicture::default());
        RunFollower { state, watched, trial: None, since: None, picture }
    }

    pub(super) fn picture(&self) -> &RunPicture {
        &self.picture
    }

    /// Takes what is new.
    pub(super) fn refresh(&mut self) {
        let state = Arc::clone(&self.state);
        let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
        let RunState { run, finished, .. } = &mut *state;
        for end in finished.iter_mut().filter(|end| end.outcome.is_none()) {
            let TrialEnd { trial: Attempt { case, number, .. }, outcome } = end;
            let metric = trial_result(run, case, *number);
            let metric = metric.as_ref().and_then(metric_by_workload);
            *outcome = Some(metric.map_or("done".into(), |(info, value)| {
                format!("{} {}", info.label, rounded::with_unit(value, info.unit))
            }));
        }
        self.watch(&state);
        let trial = self.trial.as_ref();
        let of = |end: &TrialEnd| (end.trial.name(), end.outcome.clone().unwrap_or_default());
        self.picture = RunPicture {
            experiment: state.experiment.clone(),
            phase: state.phase.clone(),
            left: state.left(),
            trial: trial.map(|(attempt, _)| attempt.name()),
            overview: trial.map(|(_, it)| it.history().overview(STEPS)).unwrap_or_default(),
            finished: state.finished.iter().map(of).collect(),
        };
    }

    /// Goes on to the latest trial.
    fn watch(&mut self, state: &RunState) {
        let Some(latest) = &state.trial else { return };
        let is_latest = self.trial.as_ref().is_some_and(|(attempt, _)| attempt == latest);
        let is_early = self.since.is_some_and(|since| since.elapsed() < SHOWN_FOR);
        if is_latest || is_early {
            return;
        }
        let Attempt { case, number, .. } = latest.clone();
        let places = Places { run: state.run.clone(), case, number };
        let Some(now) = places.now() else { return };
        // Of an earlier attempt in the same place the readers end here.
        self.trial = None;
        if let Ok(trial) = self.watched.trial(&places, &now) {
            self.trial = Some((latest.clone(), trial));
            self.since = Some(Instant::now());
        }
    }
}
