//! Two runs compared, or two levels of a factor within one.

use std::path::Path;

use tcplab_scenario::{METRICS, MetricInfo};
use tcplab_stats::median;
use tcplab_units::rounded::counted;

use crate::comparison::{Comparison, Side};
use crate::{Case, Metric, Run, Trial, main_metric};

use super::choice::Asked;
use super::error::CompareError;
use super::sides::{Matched, Matching};
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
    let choices = choices(run, &found);
    of_levels((path, run), found, asked, choices)
}

/// As [`compare_levels`], over all cases: each is one pair, of the medians of its trials. So cases
/// are told together that differ in their conditions, such as phases of an interruption, and have
/// too few trials each.
///
/// # Errors
/// As for [`compare_levels`].
pub fn compare_over_cases(
    (path, run): (&Path, &Run),
    factor: &str,
    levels: Option<[&str; 2]>,
    asked: &Asked,
) -> Result<Comparison, CompareError> {
    let found = sides::of_levels(run, factor, levels)?;
    let choices = choices(run, &found);
    let cases = &found.matched.cases;
    let together = |of: for<'a> fn(&Matched<'a>) -> &'a Case| {
        let trials = cases.iter().enumerate().map(|(place, matched)| medians(of(matched), place));
        Case { world: of(&cases[0]).world, trials: trials.collect(), ..Case::default() }
    };
    let [a, b] = [together(|matched| matched.a), together(|matched| matched.b)];
    let name = counted(cases.len(), "case", "cases");
    let Matching { cases: parts, lost, left_out } = found.matched;
    let matched = Matching { cases: vec![Matched { name, a: &a, b: &b, parts }], lost, left_out };
    of_levels((path, run), sides::Levels { matched, ..found }, asked, choices)
}

/// The medians of a case's trials, as of one trial.
fn medians(case: &Case, place: usize) -> Trial {
    let median = |info: &MetricInfo| {
        let values = case.trials.iter().filter_map(|trial| trial.metrics.value(info));
        Some(Metric::of(info, median(&values.collect::<Vec<f64>>())?))
    };
    let metrics = METRICS.iter().filter_map(median).collect();
    Trial { number: place as u32 + 1, seed: place as u64, metrics, ..Trial::empty(Vec::new()) }
}

/// Between how many pairs of levels there was to choose.
fn choices(run: &Run, found: &sides::Levels<'_>) -> usize {
    let is_planned = run.comparisons.iter().any(|written| {
        let labels = written.sides.each_ref().map(|side| &side.label);
        written.by.as_ref() == Some(&found.factor)
            && found.chosen.iter().all(|level| labels.contains(&level))
    });
    if is_planned { 1 } else { found.known * (found.known - 1) / 2 }
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
