//! Two runs compared, or two levels of a factor within one.

use std::path::Path;

use crate::Run;
use crate::comparison::{Comparison, Side};

use super::choice::Asked;
use super::error::CompareError;
use super::{sides, significance, surroundings};
use crate::main_metric;

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
    significance::comparison(sides, None, matched, warnings, asked, (main_metric(a.1), 1))
}

/// Holds one level of a factor against another within a run; `levels` may be left out where there
/// are but two. The factor may be named by its last words. Of more than two levels, these were
/// perhaps chosen after looking, so tests are corrected for all pairs of levels; not where the
/// scenario's `[[compare]]` names them.
///
/// # Errors
/// When there is no such factor or level, or a metric is asked for that no trial has.
pub fn compare_levels(
    (path, run): (&Path, &Run),
    factor: &str,
    levels: Option<[&str; 2]>,
    asked: &Asked,
) -> Result<Comparison, CompareError> {
    let found = sides::of_levels(run, factor, levels)?;
    let is_planned = run.comparisons.iter().any(|written| {
        let labels = written.sides.each_ref().map(|side| &side.label);
        written.by.as_ref() == Some(&found.factor)
            && found.chosen.iter().all(|level| labels.contains(&level))
    });
    let choices = if is_planned { 1 } else { found.known * (found.known - 1) / 2 };
    of_levels((path, run), found, asked, choices)
}

/// As [`compare_levels`], of levels that the scenario names.
///
/// # Errors
/// As for [`compare_levels`].
pub fn compare_planned(
    (path, run): (&Path, &Run),
    factor: &str,
    levels: [&str; 2],
    asked: &Asked,
) -> Result<Comparison, CompareError> {
    let found = sides::of_levels(run, factor, Some(levels))?;
    of_levels((path, run), found, asked, 1)
}

fn of_levels(
    (path, run): (&Path, &Run),
    sides::Levels { factor, chosen, matched, .. }: sides::Levels<'_>,
    asked: &Asked,
    choices: usize,
) -> Result<Comparison, CompareError> {
    let sides = chosen.map(|level| side(path, level, run));
    let tested = (main_metric(run), choices);
    significance::comparison(sides, Some(factor), matched, Vec::new(), asked, tested)
}

/// A side of a comparison, with the run's properties.
pub fn side(path: &Path, label: String, run: &Run) -> Side {
    Side {
        label,
        scenario: run.name.clone(),
        directory: path.into(),
        started: run.started.clone(),
        seed: run.seed,
        world: run.world,
    }
}
