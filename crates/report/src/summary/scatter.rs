//! One metric against another: a point for each variant, and those that no other beats.

use tcplab_plot::{Estimate, Pareto, ParetoAxis, ParetoPoint, front, pareto};
use tcplab_results::{Case, Run};
use tcplab_scenario::{Better, Measure, Plot, metric};

use super::measure::{distinct, level_of, name_of_measure};
use crate::html::figure::{FigureGroup, PageFigure};

/// How to read the pictures.
const MEANING: &str = "Each point is a variant with its 95 % confidence intervals. The line joins the \
                       Pareto front: the variants that no other variant beats in both metrics.";

/// What a plot of two metrics shows.
pub(crate) struct Scatter {
    /// Such as `goodput against buffer delay`.
    pub(crate) name: String,
    /// The labels of the axes: across and upwards.
    axes: [String; 2],
    /// Names of the colours.
    kinds: Vec<String>,
    /// The levels of the remaining factors, with the points of the variants that have them.
    pub(crate) each: Vec<(String, Vec<ParetoPoint>)>,
}

impl Scatter {
    /// None if no trial has both metrics.
    pub(crate) fn of(run: &Run, plot: &Plot, against: Measure<'_>) -> Option<Scatter> {
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
        let axes = [name_of(run, against)?, name_of(run, measure)?];
        let point = |case: &Case| {
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
        };
        let each = distinct(run.cases.iter().map(rest)).into_iter().map(|common| {
            let cases = run.cases.iter().filter(|case| rest(case) == common);
            let points: Vec<ParetoPoint> = cases.filter_map(point).collect();
            (common.join(", "), points)
        });
        let each: Vec<_> = each.filter(|(_, points)| !points.is_empty()).collect();
        let name = format!("{} against {}", name_of_measure(measure), name_of_measure(against));
        (!each.is_empty()).then_some(Scatter { name, axes, kinds, each })
    }

    /// What is drawn of some of its points.
    fn scene<'a>(&'a self, plot: &Plot, title: &'a str, points: &'a [ParetoPoint]) -> Pareto<'a> {
        let [across, up] = &self.axes;
        Pareto {
            title,
            across: axis(across, plot.against.as_deref().unwrap_or_default()),
            up: axis(up, &plot.metric),
            kinds: &self.kinds,
            points,
        }
    }

    /// Of each of its pictures the levels of the remaining factors, and the names of the variants
    /// that no other beats in both metrics, in the order of the cases. The level that gives the
    /// colour is in brackets, as the names stand in a list.
    pub(crate) fn unbeaten(&self, plot: &Plot) -> Vec<(&str, Vec<String>)> {
        let mut found = Vec::new();
        for (common, points) in &self.each {
            let mut front = front(&self.scene(plot, "", points));
            front.sort_unstable();
            let names = front.into_iter().map(|index| {
                let point = &points[index];
                let kind = self.kinds.get(point.kind).map_or("", String::as_str);
                match point.name.strip_suffix(&format!(", {kind}")) {
                    Some(level) => format!("{level} ({kind})"),
                    None => point.name.clone(),
                }
            });
            found.push((common.as_str(), names.collect()));
        }
        found
    }
}

/// The pictures of two metrics, one for each level of the remaining factors; none if no trial has
/// both.
pub(crate) fn group(run: &Run, plot: &Plot, against: Measure<'_>) -> Option<FigureGroup> {
    let scatter = Scatter::of(run, plot, against)?;
    let picture = |(common, points): &(String, Vec<ParetoPoint>)| {
        let name = &scatter.name;
        let title = if common.is_empty() { name.clone() } else { format!("{name} ({common})") };
        PageFigure::drawn(common, pareto(&scatter.scene(plot, &title, points)))
    };
    let pictures = scatter.each.iter().map(picture).collect();
    let (name, metric) = (scatter.name.clone(), plot.metric.clone());
    Some(FigureGroup { name, metric, meaning: MEANING, pictures })
}

/// The label of an axis: metric and unit.
fn name_of(run: &Run, measure: Measure<'_>) -> Option<String> {
    let unit = run.cases.iter().find_map(|case| case.summary_of(measure))?.unit.clone();
    let title = name_of_measure(measure);
    Some(if unit.is_empty() { title } else { format!("{title}, {unit}") })
}

fn axis<'a>(name: &'a str, of: &str) -> ParetoAxis<'a> {
    let is_lower_better = metric(of).is_some_and(|info| info.better == Better::Lower);
    ParetoAxis { name, is_lower_better }
}

fn estimate(case: &Case, measure: Measure<'_>) -> Option<Estimate> {
    let summary = case.summary_of(measure)?;
    Some(Estimate { mean: summary.mean, interval: summary.interval })
}
