//! The caller's side.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::RecvTimeoutError;

use super::{CalibrationRecord, CalibrationRequest, Word};
use crate::launch::{Helper, PATIENCE};
use crate::{Launcher, TrialError};

/// Measures a path in a process of its own; `stop` ends it at once. `progress` hears how much is
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
    let mut helper = Helper::start(launcher, "calibrate")?;
    if helper.ask(request).is_err() {
        return Err(helper.died());
    }
    loop {
        if stop.load(Ordering::Relaxed) {
            return Err(TrialError::Stopped);
        }
        match helper.messages.recv_timeout(PATIENCE) {
            Ok(Word::Progress(done)) => progress(done),
            Ok(Word::Measured(record)) => return Ok(*record),
            Ok(Word::Failed { message, remedy }) => {
                return Err(TrialError::Reported { message, remedy });
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Err(helper.died()),
        }
    }
}
