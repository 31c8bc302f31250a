//! The caller's side.

use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::sync::atomic::AtomicBool;

use serde::{Deserialize, Serialize};

use super::Word;
use crate::calibration::{CalibrationRecord, CalibrationRequest, Ceiling};
use crate::launch::Helper;
use crate::message::send;
use crate::{DeviceKind, Launcher, TrialError, Tuning};

/// Measures a path in a process of its own; `stop` ends it at once. `progress` receives how much is
/// done, from 0 to 1.
///
/// # Errors
/// When it could not be measured, or was stopped.
pub fn run_calibration(
    launcher: &Launcher,
    request: &CalibrationRequest,
    stop: &AtomicBool,
    mut progress: impl FnMut(f64),
) -> Result<CalibrationRecord, TrialError> {
    Helper::start(launcher, "calibrate")?.follow(request, stop, |word| match word {
        Word::Progress(done) => {
            progress(done);
            None
        }
        Word::Measured(record) => Some(Ok(*record)),
        Word::Failed { message, remedy } => Some(Err(TrialError::Reported { message, remedy })),
        // The ceiling alone was not asked for.
        Word::Ceiling(_) => None,
    })
}

/// The ceiling alone is to be measured.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct CeilingRequest {
    /// How frames get out of the ends; the best allowed one where none is named.
    pub device: Option<DeviceKind>,
    /// How frames are moved.
    pub tuning: Tuning,
}

/// Measures in half a second how much this machine can model, in a process of its own. Starts no
/// thread, so that one may still make namespaces or split this process afterwards.
///
/// # Errors
/// When it could not be measured.
pub fn measure_ceiling(
    launcher: &Launcher,
    request: CeilingRequest,
) -> Result<Ceiling, TrialError> {
    let failed = || TrialError::setup("measure what this machine can model");
    let started = launcher.command("ceiling").stderr(Stdio::null()).spawn();
    let mut child = started.map_err(TrialError::not_started("another process"))?;
    let (Some(ask), Some(answers)) = (child.stdin.take(), child.stdout.take()) else {
        unreachable!("both were asked for")
    };
    // If it is gone already, so are its answers.
    let _ = send(&ask, &request);
    let answer = BufReader::new(answers).lines().map_while(Result::ok).find_map(|line| {
        match serde_json::from_slice(line.as_bytes()) {
            Ok(Word::Ceiling(ceiling)) => Some(Ok(ceiling)),
            Ok(Word::Failed { message, remedy }) => {
                Some(Err(TrialError::Reported { message, remedy }))
            }
            _ => None,
        }
    });
    // The end of its standard input, at the latest, is its own end.
    drop(ask);
    let status = child.wait().map_err(failed())?;
    answer.unwrap_or_else(|| {
        let (program, what) = (launcher.program.clone(), format!("ended early ({status})"));
        Err(TrialError::Helper { program, what })
    })
}
