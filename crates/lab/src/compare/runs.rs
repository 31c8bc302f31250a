//! Two runs compared, or two levels of a factor within one.

use std::path::Path;

use tcplab_results::Run;
use tcplab_results::comparison::{Comparison, Side};

use super::choice::Asked;
use super::error::CompareError;
use super::{sides, significance, surroundings};

/// Holds run B against run A, each read from its directory.
///
/// # Errors
/// When they have no case in common, or a metric is asked for that neither has.
pub fn compare_runs(
    a: (&Path, &Run),
    b: (&Path, &Run),
    asked: &Asked,
) -> Result<Comparison, CompareError> {
    let sides = [a, b].map(|(path, run)| side(path, path.display().to_string(), run));
    let matched = sides::of_runs(a.1, b.1)?;
    let warnings = surroundings::of_runs(a.1, b.1);
    significance::comparison(sides, None, matched, warnings, asked)
}

/// Holds one level of a factor against another within a run; `levels` may be left out where there
/// are but two. The factor may be named by its last words.
///
/// # Errors
/// When there is no such factor or level, or a metric is asked for that no trial has.
pub fn compare_levels(
    (path, run): (&Path, &Run),
    factor: &str,
    levels: Option<[&str; 2]>,
    asked: &Asked,
) -> Result<Comparison, CompareError> {
    let sides::Levels { factor, chosen, matched } = sides::of_levels(run, factor, levels)?;
    let sides = chosen.map(|level| side(path, level, run));
    significance::comparison(sides, Some(factor), matched, Vec::new(), asked)
}

pub(super) fn side(path: &Path, label: String, run: &Run) -> Side {
    Side {
        label,
        scenario: run.name.clone(),
        directory: path.into(),
        started: run.started.clone(),
        seed: run.seed,
        world: run.world,
    }
}
