//! The plots of several runs over a number that they varied.

use tcplab_results::{Case, Run};
use tcplab_scenario::{Plot, as_numbers};

use super::label::LabelledRun;
use crate::figures::{Figures, RunFigure};
use crate::summary::measure::{distinct, level_of};
use crate::summary::trends::group;

/// The factor of the lines: the run. No factor of a scenario has this name.
const RUN: &str = "run of this figure";
/// More lines are not told apart; then other levels than those of the axis have figures of their
/// own.
const LINES_MOST: usize = 14;

/// A figure, and the indices of the runs that have no values for its plot.
type Found = (RunFigure, Vec<usize>);

/// The plots that at least two of the runs have values for.
pub(super) fn trends(runs: &[LabelledRun<'_>]) -> Vec<Found> {
    let plots = runs.iter().flat_map(|it| &it.run.plots);
    let plots = distinct(plots.map(|plot| Plot { by: Some(RUN.into()), ..plot.clone() }));
    let mut found = Figures::default();
    let mut missing = Vec::new();
    for plot in plots {
        let has = |it: &LabelledRun<'_>| it.run.cases.iter().any(|case| is_shown(case, &plot));
        let absent: Vec<usize> = (0..runs.len()).filter(|run| !has(&runs[*run])).collect();
        if runs.len() < absent.len() + 2 {
            continue;
        }
        let Some(group) = group(&merged(runs, &plot), &plot) else { continue };
        let names: Vec<String> = group
            .pictures
            .iter()
            .map(|it| match it.title.as_str() {
                "" => group.name.clone(),
                of => format!("{} ({of})", group.name),
            })
            .collect();
        let first = found.0.len();
        found.add_group(group);
        for (figure, name) in found.0[first..].iter_mut().zip(names) {
            figure.title = name;
        }
        missing.resize(found.0.len(), absent);
    }
    found.0.into_iter().zip(missing).collect()
}

fn is_shown(case: &Case, plot: &Plot) -> bool {
    let mut measures = [Some(plot.measure()), plot.other_measure()].into_iter().flatten();
    level_of(case, &plot.over).is_some() && measures.all(|it| case.summary_of(it).is_some())
}

/// One run with the cases of all that the plot shows.
fn merged(runs: &[LabelledRun<'_>], plot: &Plot) -> Run {
    let shown: Vec<(&str, &Case)> = runs
        .iter()
        .flat_map(|it| it.run.cases.iter().map(|case| (it.label.as_str(), case)))
        .filter(|(_, case)| is_shown(case, plot))
        .collect();
    let lines = distinct(shown.iter().map(|(label, case)| line_of(label, case, plot)));
    let is_split = lines.len() > LINES_MOST;
    let texts = distinct(shown.iter().filter_map(|(_, case)| level_of(case, &plot.over)));
    let numbers = as_numbers(&texts).unwrap_or_default();
    // `1 s` and `1000 ms` are one level, in the words of the first.
    let first_equal = |text: &str| {
        let own = texts.iter().position(|it| *it == text).and_then(|at| numbers.get(at));
        let first = numbers.iter().position(|number| Some(number) == own);
        first.map_or(text, |at| texts[at]).to_owned()
    };
    let merged = |(label, case): (&str, &Case)| {
        let line = if is_split { label.to_owned() } else { line_of(label, case, plot) };
        let is_kept = |key: &str| is_split || key == plot.over;
        let own = case.levels.iter().filter(|(key, _)| is_kept(key)).map(|(key, level)| {
            let level = if *key == plot.over { first_equal(level) } else { level.clone() };
            (key.clone(), level)
        });
        // Only what flows measured is summed up from trials.
        let has_flows = plot.flow.is_some() || plot.against_flow.is_some();
        Case {
            name: case.name.clone(),
            levels: own.chain([(RUN.to_owned(), line)]).collect(),
            world: case.world,
            trials: if has_flows { case.trials.clone() } else { Vec::new() },
            summaries: case.summaries.clone(),
            ..Case::default()
        }
    };
    Run { cases: shown.into_iter().map(merged).collect(), ..Run::default() }
}

/// The run's label and the levels beside that on the axis.
fn line_of(label: &str, case: &Case, plot: &Plot) -> String {
    let others = case.levels.iter().filter(|(key, _)| *key != plot.over);
    let others: Vec<&str> = others.map(|(_, level)| level.as_str()).collect();
    if others.is_empty() { label.to_owned() } else { format!("{label}: {}", others.join(", ")) }
}
