//! Each trial is analysed once, by its own process; the result is kept beside its recording.

use std::fs;
use std::path::Path;
use std::time::UNIX_EPOCH;

use tcplab_results::Trial;
use tcplab_scenario::Case;
use tcplab_units::Span;

use super::contents::Contents;
use super::trial::examine;
use crate::error::LabError;
use crate::plan::{is_simulated, tcplab};
use crate::store::{Identity, RunDirectory, StoredTrial};

/// The measured RTT of the idle path of a case, if there is one.
fn round_trip(run: &RunDirectory, case: &Case) -> Option<Span> {
    if is_simulated(run.plan().world, case) {
        return None;
    }
    let calibration = run.calibration()?;
    let mut checks = calibration.paths.iter().filter(|it| it.cases.contains(&case.name));
    checks.find_map(|check| check.round_trip)
}

/// Analyses the trial that was made in `stage`, and lets go of packets that are not kept.
pub(crate) fn analyse_and_store(
    run: &RunDirectory,
    stage: &Path,
    contents: &Contents,
    case: &Case,
    number: u32,
) -> Result<(), LabError> {
    let mut trial = examine(contents, case, round_trip(run, case))?;
    trial.put_aside = run.flawed(&case.name, number);
    trial.has_packets = run.plan().keep.has(number) || !trial.flaws.is_empty();
    let keeps = trial.has_packets;
    let identity = run.identity(case, number);
    RunDirectory::put_stored_trial(stage, &StoredTrial { identity, by: program(), trial })?;
    if !keeps {
        contents.recording.forget_packets()?;
    }
    Ok(())
}

/// The result of a trial. One that another program has analysed is analysed again, if its
/// packets are there.
pub(crate) fn trial(run: &RunDirectory, case: &Case, number: u32) -> Result<Trial, LabError> {
    let recording = run.recording(&case.name, number)?;
    let known = run.stored_trial(&case.name, number);
    let is_current = |known: &StoredTrial| known.by == program();
    let analysed = match known {
        Some(known) if is_current(&known) || !recording.has_packets() => known,
        known => {
            let mut trial =
                examine(&Contents::read(recording, case)?, case, round_trip(run, case))?;
            trial.put_aside = run.flawed(&case.name, number);
            // The program that made the trial stays recorded.
            let identity = match known {
                Some(known) => known.identity,
                None => Identity { tcplab: String::new(), ..run.identity(case, number) },
            };
            // The values are those that the file has, so they are the same each time.
            let analysed = StoredTrial { identity, by: program(), trial };
            run.replace_stored_trial(&case.name, number, &analysed)?
        }
    };
    Ok(run.placed(&case.name, number, analysed.trial))
}

/// This very program: tcplab's revision, and when it was built, so that builds with uncommitted
/// changes differ.
fn program() -> String {
    let built = std::env::current_exe().and_then(fs::metadata).and_then(|it| it.modified());
    let built = built.ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
    format!("{}, built {}", tcplab(), built.map_or(0, |at| at.as_nanos()))
}
