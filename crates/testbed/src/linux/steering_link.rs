//! Joins who changes a path to the thread that moves its packets: two pipes, which a fork may part.

use std::io::{BufRead, BufReader, PipeReader, PipeWriter, pipe};
use std::sync::{Arc, Mutex, PoisonError, mpsc};

use tcplab_path::{LinkPlan, PathChange};

use crate::bridge::Steered;
use crate::json_lines::send;
use crate::message::receive;
use crate::{EndSockets, SteeredTrial, Steering, SteeringAnswer, TrialError, threads};

/// The end of who changes the path.
#[derive(Debug)]
pub struct SteeringEnd {
    changes: PipeWriter,
    answers: PipeReader,
    sockets: PipeReader,
}

/// The end of the path.
#[derive(Debug)]
pub struct SteeredEnd {
    changes: PipeReader,
    answers: PipeWriter,
    sockets: PipeWriter,
}

/// What was told last of the sockets at both ends of a path.
#[derive(Debug, Clone, Default)]
pub struct ToldSockets(Arc<Mutex<Option<EndSockets>>>);

impl ToldSockets {
    /// None where nothing is known of them.
    pub fn latest(&self) -> Option<EndSockets> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Both ends, before either starts a thread.
///
/// # Errors
/// When there can be no pipes.
pub fn steering_link() -> Result<(SteeringEnd, SteeredEnd), TrialError> {
    let failed = || TrialError::setup("make a pipe");
    let (read_changes, changes) = pipe().map_err(failed())?;
    let (answers, write_answers) = pipe().map_err(failed())?;
    let (sockets, write_sockets) = pipe().map_err(failed())?;
    let steered =
        SteeredEnd { changes: read_changes, answers: write_answers, sockets: write_sockets };
    Ok((SteeringEnd { changes, answers, sockets }, steered))
}

impl SteeringEnd {
    /// Hears of the sockets at both ends; a bridge knows of none.
    ///
    /// # Errors
    /// When there can be no thread that reads of them.
    pub fn hear_of_sockets(&self, told: &ToldSockets) -> Result<(), TrialError> {
        let pipe = self.sockets.try_clone().map_err(TrialError::setup("duplicate a pipe"))?;
        let told = ToldSockets::clone(told);
        threads::start("the thread that reads of sockets", move || {
            for line in BufReader::new(pipe).lines().map_while(Result::ok) {
                let Ok(sockets) = serde_json::from_slice(line.as_bytes()) else { return };
                *told.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(sockets);
            }
        })?;
        Ok(())
    }

    /// Until what is returned is dropped, `steering` changes the path at the other end.
    ///
    /// # Errors
    /// When there can be no thread that reads the answers.
    pub fn connect(self, steering: &Steering) -> Result<SteeredTrial, TrialError> {
        let answers = receive::<SteeringAnswer>(self.answers)?;
        let steered = steering.clone();
        threads::start("the thread that reads answers of the path", move || {
            for answer in answers {
                steered.answered(answer);
            }
        })?;
        Ok(steering.in_real_time(self.changes))
    }
}

impl SteeredEnd {
    /// Where to tell of the sockets at both ends.
    pub(crate) fn sockets(&self) -> Result<PipeWriter, TrialError> {
        self.sockets.try_clone().map_err(TrialError::setup("duplicate a pipe"))
    }

    /// The changes that will come, for a bridge. Answers are written by a thread of their own: a
    /// bridge never waits.
    pub(crate) fn steered(&self, plans: [LinkPlan; 2]) -> Result<Steered, TrialError> {
        let failed = || TrialError::setup("duplicate a pipe");
        let changes = receive::<PathChange>(self.changes.try_clone().map_err(failed())?)?;
        let mut output = self.answers.try_clone().map_err(failed())?;
        let (answer, answers) = mpsc::channel::<SteeringAnswer>();
        threads::start("the thread that writes answers of the path", move || {
            let _ = answers.iter().try_for_each(|answer| send(&mut output, &answer));
        })?;
        Ok(Steered::new(plans, changes, move |made| drop(answer.send(made))))
    }
}
