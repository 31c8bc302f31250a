//! Changes of the path of the trial that is running now, from its caller.

use std::process::ChildStdin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use tcplab_path::{PathChange, PathError, PathEvent};

/// Sends changes of the path to the trial that is running now. Clones send to the same one.
#[derive(Debug, Clone, Default)]
pub struct Steering(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    running: Running,
    answers: Vec<SteeringAnswer>,
}

#[derive(Debug, Default)]
enum Running {
    #[default]
    Nothing,
    VirtualTime,
    Trial(ChildStdin),
}

/// What became of a change that was sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SteeringAnswer {
    /// It was made at that time: one event, or one for each direction where the times differ.
    Applied(Vec<PathEvent>),
    /// It was not, and why.
    Refused(String),
}

/// Why a change was not sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SteeringError {
    /// There is no trial whose path could change.
    #[error("no trial is running: change the path while one does")]
    NoTrial,
    /// There is no now.
    #[error(
        "virtual time has no now: write the change as an event of the path (`[[path.events]]`)"
    )]
    VirtualTime,
    /// It cannot be a change.
    #[error(transparent)]
    Impossible(#[from] PathError),
}

impl Steering {
    /// Sends a change to the trial that is running. The trial makes it at once; when, or why not,
    /// is among the [answers](Self::answers) then.
    ///
    /// # Errors
    /// When there is no such trial, or it is no change that a path can make.
    pub fn send(&self, change: PathChange) -> Result<(), SteeringError> {
        change.check()?;
        match &self.state().running {
            Running::Nothing => Err(SteeringError::NoTrial),
            Running::VirtualTime => Err(SteeringError::VirtualTime),
            // A trial that does not read any more is over.
            Running::Trial(stdin) => {
                crate::json_lines::send(stdin, &change).map_err(|_| SteeringError::NoTrial)
            }
        }
    }

    /// What became of changes since this was last asked.
    pub fn answers(&self) -> Vec<SteeringAnswer> {
        std::mem::take(&mut self.state().answers)
    }

    /// Until what is returned is dropped, trials run in virtual time.
    #[must_use]
    pub fn in_virtual_time(&self) -> SteeredTrial {
        self.begin(Running::VirtualTime)
    }

    /// Until what is returned is dropped, the trial runs that reads this.
    pub(crate) fn of_trial(&self, stdin: ChildStdin) -> SteeredTrial {
        self.begin(Running::Trial(stdin))
    }

    /// Keeps an answer of the trial.
    pub(crate) fn answered(&self, answer: SteeringAnswer) {
        self.state().answers.push(answer);
    }

    fn begin(&self, running: Running) -> SteeredTrial {
        self.state().running = running;
        SteeredTrial(self.clone())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What runs now is over when this is dropped.
#[derive(Debug)]
pub struct SteeredTrial(Steering);

impl Drop for SteeredTrial {
    fn drop(&mut self) {
        self.0.state().running = Running::Nothing;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn change_without_a_trial_in_real_time_is_refused() {
        let steering = Steering::default();
        let change = PathChange { drop: Some(1), ..PathChange::default() };
        assert_eq!(steering.send(change), Err(SteeringError::NoTrial));
        let virtual_time = steering.in_virtual_time();
        assert_eq!(steering.clone().send(change), Err(SteeringError::VirtualTime));
        drop(virtual_time);
        assert_eq!(steering.send(change), Err(SteeringError::NoTrial));
        let nothing = steering.send(PathChange::default()).unwrap_err();
        assert!(nothing.to_string().starts_with("the event changes nothing"), "{nothing}");
        assert_eq!(steering.answers(), []);
    }
}
