//! One metric against another: a point for each variant, and those that no other beats.

use tcplab_plot::{Estimate, Pareto, ParetoAxis, ParetoPoint, pareto};
use tcplab_results::{Case, Run};
use tcplab_scenario::{Better, Measure, Plot, metric};

use super::measure::{distinct, level_of, name_of_measure};
use crate::html::figure::{FigureGroup, PageFigure};

/// How to read the pictures.
const MEANING: &str = "Each point is a variant with its 95 % confidence intervals. The line joins the \
                       Pareto front: the variants that no other variant beats in both metrics.";

/// The pictures of two metrics, one for each level of the remaining factors; none if no trial has
/// both.
pub(crate) fn group(run: &Run, plot: &Plot, against: Measure<'_>) -> Option<FigureGroup> {
    let rest = |case: &Case| -> Vec<String> {
        let is_of = |key: &str| key == plot.over || plot.by.as_deref() == Some(key);
        let others = case.levels.iter().filter(|(key, _)| !is_of(key));
        others.map(|(_, level)| level.clone()).collect()
    };
    let kind_of = |case: &Case| -> String {
        let by = plot.by.as_deref().and_then(|by| level_of(case, by));
        by.unwrap_or_default().to_owned()
    };
    let kinds = distinct(run.cases.iter().map(kind_of));
    let measure = plot.measure();
    let names = [measure, against].map(|measure| name_of(run, measure));
    let [up, across] = [names[0].as_deref()?, names[1].as_deref()?];
    let of = format!("{} against {}", name_of_measure(measure), name_of_measure(against));
    let pictures = distinct(run.cases.iter().map(rest)).into_iter().filter_map(|common| {
        let cases = run.cases.iter().filter(|case| rest(case) == common);
        let points: Vec<ParetoPoint> = cases
            .filter_map(|case| {
                let kind = kind_of(case);
                let level = level_of(case, &plot.over).unwrap_or_default();
                // Print may have no colours.
                let name = [level, kind.as_str()].into_iter().filter(|it| !it.is_empty());
                Some(ParetoPoint {
                    name: name.collect::<Vec<_>>().join(", "),
                    kind: kinds.iter().position(|it| *it == kind)?,
                    across: estimate(case, against)?,
                    up: estimate(case, measure)?,
                })
            })
            .collect();
        let common = common.join(", ");
        let title = if common.is_empty() { of.clone() } else { format!("{of} ({common})") };
        let (across, up) = (axis(across, against), axis(up, measure));
        let scene = Pareto { title: &title, across, up, kinds: &kinds, points: &points };
        (!points.is_empty()).then(|| PageFigure::drawn(&common, pareto(&scene)))
    });
    let pictures: Vec<PageFigure> = pictures.collect();
    (!pictures.is_empty()).then(|| FigureGroup { name: of.clone(), meaning: MEANING, pictures })
}

/// The label of an axis: metric and unit.
fn name_of(run: &Run, measure: Measure<'_>) -> Option<String> {
    let unit = run.cases.iter().find_map(|case| case.summary_of(measure))?.unit.clone();
    let title = name_of_measure(measure);
    Some(if unit.is_empty() { title } else { format!("{title}, {unit}") })
}

fn axis<'a>(name: &'a str, of: Measure<'_>) -> ParetoAxis<'a> {
    let is_lower_better = metric(of.metric).is_some_and(|info| info.better == Better::Lower);
    ParetoAxis { name, is_lower_better }
}

fn estimate(case: &Case, measure: Measure<'_>) -> Option<Estimate> {
    let summary = case.summary_of(measure)?;
    Some(Estimate { mean: summary.mean, interval: summary.interval })
}
