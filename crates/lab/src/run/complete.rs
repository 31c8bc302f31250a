//! What a run came to, once all its trials are there.

use std::ops::ControlFlow;

use tcplab_results::Run;

use crate::compare::of_scenario;
use crate::error::LabError;
use crate::store::RunDirectory;

/// Reads what came of every trial of a finished run, and says what came out. `tell` hears of each
/// trial, and may break off.
///
/// # Errors
/// When trials are missing or unreadable, or `tell` broke off.
pub fn analyse(
    directory: &RunDirectory,
    tell: impl FnMut(usize, usize) -> ControlFlow<()>,
) -> Result<Run, LabError> {
    let run = crate::analysis::analyse(directory, tell)?;
    let compares = &directory.scenario().compares;
    let comparisons = compares.iter().map(|it| of_scenario(&run, it)).collect();
    Ok(Run { comparisons, ..run })
}
