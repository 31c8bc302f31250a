//! A run from its plan to its tables.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

use tcplab_results::Run;

use super::event::Event;
use super::execute::execute;
use crate::analysis;
use crate::bench::Bench;
use crate::compare::of_scenario;
use crate::error::LabError;
use crate::store::{RunDirectory, write_tables};

/// What a run came to.
#[derive(Debug)]
pub struct RunOutcome<R> {
    /// Everything but the packets.
    pub run: Run,
    /// What the caller's report is.
    pub report: R,
}

/// Runs the missing trials, and finishes the run: see [`finish`].
///
/// # Errors
/// If no trial can run, `stop` is set, or as for [`finish`].
pub fn complete<R, E: From<LabError>>(
    directory: &RunDirectory,
    bench: &Bench,
    stop: &AtomicBool,
    mut on_event: impl FnMut(Event<'_>),
    report: impl FnOnce(&RunDirectory, &Run) -> Result<R, E>,
) -> Result<RunOutcome<R>, E> {
    execute(directory, bench, stop, &mut on_event)?;
    finish(directory, stop, on_event, report)
}

/// Analyses a run whose trials are all there, has its `report` made, and writes its tables, which
/// makes it a finished run.
///
/// # Errors
/// When a trial is missing or unreadable, a table cannot be written, `report` fails, or `stop` is
/// set.
pub fn finish<R, E: From<LabError>>(
    directory: &RunDirectory,
    stop: &AtomicBool,
    mut on_event: impl FnMut(Event<'_>),
    report: impl FnOnce(&RunDirectory, &Run) -> Result<R, E>,
) -> Result<RunOutcome<R>, E> {
    let run = analyse(directory, |done, total| {
        on_event(Event::Analysing { done, total });
        if stop.load(Ordering::Relaxed) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    })?;
    on_event(Event::Reporting);
    let report = report(directory, &run)?;
    write_tables(directory, &run)?;
    Ok(RunOutcome { run, report })
}

/// For a run without a report.
///
/// # Errors
/// None.
pub fn no_report(_: &RunDirectory, _: &Run) -> Result<(), LabError> {
    Ok(())
}

/// The results of the trials of a run, and the comparisons that its scenario asks for. `on_trial`
/// is called after each trial and may stop the analysis.
///
/// # Errors
/// When trials are missing or unreadable, or `on_trial` stopped it.
pub fn analyse(
    directory: &RunDirectory,
    on_trial: impl FnMut(usize, usize) -> ControlFlow<()>,
) -> Result<Run, LabError> {
    let mut run = analysis::analyse(directory, on_trial)?;
    // In their order: the first one says what the run is judged by, also in the others.
    for compare in &directory.scenario().compares {
        let found = of_scenario(&run, compare);
        run.comparisons.push(found);
    }
    Ok(run)
}
