//! Metrics over a number that was varied: pictures, and the numbers under them.

use tcplab_plot::{Content, Picture, TrendLine, TrendPoint, TrendScale};
use tcplab_results::{Case, Run, Summary, main_metric};
use tcplab_scenario::{Plot, as_numbers, metric};
use tcplab_units::rounded::{decimal, decimals_for_error, figures};

use super::measure::{distinct, level_of, name_of_measure};
use super::scatter;
use super::worlds::world;
use crate::html::anchor::anchor;
use crate::html::figure::{FigureGroup, PageFigure};

/// All that a run's plots show.
pub(crate) struct Trends {
    pub(crate) groups: Vec<FigureGroup>,
    pub(crate) table: Table,
}

/// The same numbers, a row for each variant.
pub(crate) struct Table {
    pub(crate) factors: Vec<String>,
    /// Name and unit.
    pub(crate) metrics: Vec<(String, String)>,
    pub(crate) rows: Vec<Row>,
    /// Whether any variant has more than one trial.
    pub(crate) spread: bool,
}

pub(crate) struct Row {
    pub(crate) href: String,
    pub(crate) levels: Vec<String>,
    pub(crate) world: &'static str,
    /// By metric.
    pub(crate) cells: Vec<Option<Cell>>,
}

pub(crate) struct Cell {
    pub(crate) mean: String,
    /// Half of the interval, if there is one.
    pub(crate) half: String,
    pub(crate) median: String,
}

impl Trends {
    /// The pictures of the main metric; of a run without one, the first.
    pub(crate) fn main(&self, run: &Run) -> Option<&FigureGroup> {
        match main_metric(run) {
            Some(main) => self.groups.iter().find(|group| group.metric == main.name),
            None => self.groups.first(),
        }
    }
}

/// None of a run without a numeric factor.
pub(crate) fn trends(run: &Run) -> Option<Trends> {
    let groups: Vec<FigureGroup> = run.plots.iter().filter_map(|plot| group(run, plot)).collect();
    (!groups.is_empty()).then(|| Trends { groups, table: table(run) })
}

/// None if no trial has the metric.
pub(crate) fn group(run: &Run, plot: &Plot) -> Option<FigureGroup> {
    if let Some(against) = plot.other_measure() {
        return scatter::group(run, plot, against);
    }
    let measure = plot.measure();
    let unit = run.cases.iter().find_map(|case| case.summary_of(measure))?.unit.clone();
    let levels = sorted_levels(run, &plot.over)?;
    let rest = |case: &Case| -> Vec<String> {
        let others = case.levels.iter().filter(|(key, _)| !is_of(plot, key));
        others.map(|(_, level)| level.clone()).collect()
    };
    let names = distinct(run.cases.iter().map(|case| name_of(case, plot)));
    let common = distinct(run.cases.iter().map(rest));
    let lines: Vec<Vec<TrendLine>> = common
        .iter()
        .map(|common| {
            let cases: Vec<&Case> = run.cases.iter().filter(|case| rest(case) == *common).collect();
            names.iter().map(|name| line(name, &cases, plot, &levels)).collect()
        })
        .collect();
    let scale = TrendScale::over(lines.iter().flatten());
    let (name, over) = (name_of_measure(measure), short(&plot.over));
    let values = if unit.is_empty() { name.clone() } else { format!("{name}, {unit}") };
    let pictures = common.iter().zip(lines).map(|(common, lines)| {
        let of = common.join(", ");
        let title = if of.is_empty() { name.clone() } else { format!("{name} ({of})") };
        let content = Content::Trend {
            over: over.to_owned(),
            levels: levels.clone(),
            is_numeric: true,
            lines,
            scale,
        };
        PageFigure::of(&of, Picture { title, values: values.clone(), content })
    });
    let meaning = metric(&plot.metric).map_or("", |info| info.meaning);
    Some(FigureGroup {
        name: format!("{name} over {over}"),
        metric: plot.metric.clone(),
        meaning,
        pictures: pictures.collect(),
    })
}

fn line(name: &str, cases: &[&Case], plot: &Plot, levels: &[(f64, String)]) -> TrendLine {
    let points = levels.iter().enumerate().filter_map(|(level, (_, text))| {
        let is_it = |case: &&&Case| {
            name_of(case, plot) == name && level_of(case, &plot.over) == Some(text.as_str())
        };
        let summary = cases.iter().find(is_it)?.summary_of(plot.measure())?;
        Some(TrendPoint { level, mean: summary.mean, interval: summary.interval })
    });
    TrendLine { name: name.into(), points: points.collect() }
}

/// As numbers and as written.
fn sorted_levels(run: &Run, over: &str) -> Option<Vec<(f64, String)>> {
    let texts = distinct(run.cases.iter().filter_map(|case| level_of(case, over)));
    let mut levels: Vec<(f64, String)> =
        as_numbers(&texts)?.into_iter().zip(texts.iter().map(|text| (*text).into())).collect();
    levels.sort_by(|one, other| one.0.total_cmp(&other.0));
    Some(levels)
}

fn is_of(plot: &Plot, key: &str) -> bool {
    key == plot.over || plot.by.as_deref() == Some(key)
}

/// The name of a case's line.
fn name_of(case: &Case, plot: &Plot) -> String {
    let by = plot.by.as_deref().and_then(|by| level_of(case, by));
    by.unwrap_or_default().into()
}

/// The last part of a key: `concurrency` of `workload.load.concurrency`.
fn short(key: &str) -> &str {
    key.rsplit('.').next().unwrap_or(key)
}

fn table(run: &Run) -> Table {
    let metrics = distinct(
        run.plots
            .iter()
            .flat_map(|plot| [Some(plot.measure()), plot.other_measure()].into_iter().flatten()),
    );
    let unit = |name: &str| metric(name).map_or("", |info| info.unit).to_owned();
    let row = |(index, case): (usize, &Case)| Row {
        href: format!("#{}", anchor(index, None, None)),
        levels: case.levels.iter().map(|(_, level)| level.clone()).collect(),
        world: world(case),
        cells: metrics.iter().map(|it| case.summary_of(*it).as_deref().map(cell)).collect(),
    };
    let factors = run.cases.first().map_or(&[][..], |case| &case.levels);
    Table {
        factors: factors.iter().map(|(key, _)| short(key).into()).collect(),
        metrics: metrics.iter().map(|it| (name_of_measure(*it), unit(it.metric))).collect(),
        rows: run.cases.iter().enumerate().map(row).collect(),
        spread: run.cases.iter().any(|case| case.trials.len() > 1),
    }
}

fn cell(summary: &Summary) -> Cell {
    let half = summary.half_interval().filter(|half| *half > 0.0);
    let Some(half) = half else {
        let mean = figures(summary.mean);
        return Cell {
            half: String::new(),
            median: summary.median.map_or(mean.clone(), figures),
            mean,
        };
    };
    let places = decimals_for_error(half);
    Cell {
        mean: decimal(summary.mean, places),
        half: decimal(half, places),
        median: summary.median.map_or("–".into(), |median| decimal(median, places)),
    }
}
