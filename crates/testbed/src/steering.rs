//! Changes of the path that is at work now, from another process or thread.

use std::fmt;
use std::io::Write;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use tcplab_path::{PathChange, PathError, PathEvent};

/// How long an answer is waited for, and how often it is looked for.
const ANSWERED: Duration = Duration::from_secs(1);
const LOOK: Duration = Duration::from_millis(5);

/// Sends changes of the path to the trial, shell or bridge that is running now. Clones send to the
/// same one.
#[derive(Clone, Default)]
pub struct Steering(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    running: Running,
    answers: Vec<SteeringAnswer>,
}

#[derive(Default)]
enum Running {
    #[default]
    Nothing,
    VirtualTime,
    /// What is written here, the bridge of the path reads.
    RealTime(Box<dyn Write + Send>),
}

impl fmt::Debug for Steering {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Steering").finish_non_exhaustive()
    }
}

/// What became of a change that was sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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
        match &mut self.state().running {
            Running::Nothing => Err(SteeringError::NoTrial),
            Running::VirtualTime => Err(SteeringError::VirtualTime),
            // A trial that does not read any more is over.
            Running::RealTime(input) => {
                crate::json_lines::send(input, &change).map_err(|_| SteeringError::NoTrial)
            }
        }
    }

    /// Sends a change and waits for what became of it: events of the path.
    ///
    /// # Errors
    /// Why it was not made.
    pub fn change(&self, change: PathChange) -> Result<Vec<PathEvent>, String> {
        // Answers of before are nobody's.
        drop(self.answers());
        self.send(change).map_err(|error| error.to_string())?;
        let began = Instant::now();
        while began.elapsed() < ANSWERED {
            match self.answers().into_iter().next() {
                Some(SteeringAnswer::Applied(events)) => return Ok(events),
                Some(SteeringAnswer::Refused(what)) => return Err(what),
                None => thread::sleep(LOOK),
            }
        }
        Err("it was over before".into())
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

    /// Until what is returned is dropped, the path is at work whose bridge reads this.
    pub(crate) fn in_real_time(&self, input: impl Write + Send + 'static) -> SteeredTrial {
        self.begin(Running::RealTime(Box::new(input)))
    }

    /// Keeps an answer of the bridge.
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
