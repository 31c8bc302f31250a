//! What each factor does to the main metric, and each pair of factors.

use tcplab_plot::{
    Content, EcdfLine, Heat, Picture, SpreadRow, TrendLine, TrendPoint, TrendScale, heat,
};
use tcplab_stats::{
    VarianceShares, marginal_means, mean, median, median_interval, quantile, variance_shares,
};
use tcplab_units::rounded::{decimal, decimals_for_error, figures};

use super::boxes::{BOXED_LEAST, BOXES_EXPLAINED, bars_by, boxes_by, named_boxes};
use super::measure::{Factor, Measured};
use crate::html::figure::PageFigure;
use crate::title::short;

/// More pairs are in a fold, and this many at most.
pub(crate) const PAIRS_SHOWN: usize = 3;
const MOST_PAIRS: usize = 15;
/// With more lines only the heat map is drawn.
const MOST_LINES: usize = 7;
/// Columns of a readable heat map.
const MOST_COLUMNS: usize = 14;

/// The section about factors.
pub(crate) struct Factors {
    pub(crate) metric: String,
    /// Whether means are geometric.
    pub(crate) by_ratio: bool,
    pub(crate) mains: Vec<FactorView>,
    pub(crate) pairs: Vec<PairView>,
    /// The unexplained share of the variance.
    pub(crate) rest: String,
    /// Whether combinations of levels have unequal numbers of trials.
    pub(crate) unbalanced: bool,
}

/// A factor as shown.
pub(crate) struct FactorView {
    pub(crate) key: String,
    pub(crate) name: String,
    pub(crate) is_condition: bool,
    /// The answer is about it.
    pub(crate) is_answered: bool,
    /// Percent of the variance; empty where all values are equal.
    pub(crate) share: String,
    pub(crate) blocks: usize,
    pub(crate) figures: Vec<PageFigure>,
    pub(crate) rows: Vec<LevelRow>,
}

/// A level in numbers.
pub(crate) struct LevelRow {
    pub(crate) level: String,
    pub(crate) mean: String,
    /// Half of its interval, if there is one.
    pub(crate) half: String,
    pub(crate) median: String,
    pub(crate) trials: usize,
}

/// Two factors as shown.
pub(crate) struct PairView {
    pub(crate) title: String,
    pub(crate) share: String,
    pub(crate) figures: Vec<PageFigure>,
}

/// The shares of the variance.
pub(crate) fn shares(measured: &Measured) -> Option<VarianceShares> {
    let counts: Vec<usize> = measured.factors.iter().map(|it| it.levels.len()).collect();
    variance_shares(&counts, &measured.observations())
}

impl Factors {
    pub(crate) fn of(
        measured: &Measured,
        shares: Option<&VarianceShares>,
        responses: &[Vec<f64>],
        answered: Option<usize>,
    ) -> Option<Factors> {
        if measured.factors.is_empty() || measured.points.is_empty() {
            return None;
        }
        let percent = |share: f64| format!("{} %", decimal(share * 100.0, 1));
        let mut order: Vec<usize> = (0..measured.factors.len()).collect();
        let main = |factor: usize| shares.map_or(0.0, |it| it.mains[factor]);
        order.sort_by(|one, other| main(*other).total_cmp(&main(*one)));
        let view = |factor: usize| {
            let share = shares.map_or(String::new(), |it| percent(it.mains[factor]));
            let is_answered = answered == Some(factor);
            FactorView { is_answered, ..factor_view(measured, factor, share, responses) }
        };
        let mut pairs: Vec<((usize, usize), f64)> =
            shares.map_or(vec![], |shares| shares.pairs.clone());
        pairs.sort_by(|one, other| other.1.total_cmp(&one.1));
        pairs.truncate(MOST_PAIRS);
        let pair = |((one, other), share)| pair_view(measured, one, other, percent(share));
        Some(Factors {
            metric: measured.title(),
            by_ratio: measured.by_ratio,
            mains: order.into_iter().map(view).collect(),
            pairs: pairs.into_iter().map(pair).collect(),
            rest: shares.map_or(String::new(), |it| percent(it.rest)),
            unbalanced: is_unbalanced(measured),
        })
    }
}

fn is_unbalanced(measured: &Measured) -> bool {
    let mut counts = std::collections::BTreeMap::new();
    for point in &measured.points {
        *counts.entry(&point.levels).or_insert(0usize) += 1;
    }
    let cells: usize = measured.factors.iter().map(|it| it.levels.len()).product();
    let mut counts = counts.into_values();
    let first = counts.next();
    counts.len() + 1 < cells || counts.any(|count| Some(count) != first)
}

fn factor_view(
    measured: &Measured,
    index: usize,
    share: String,
    responses: &[Vec<f64>],
) -> FactorView {
    let factor = &measured.factors[index];
    let blocks = measured.blocks(index);
    let means = marginal_means(&blocks);
    let levels = measured.values_by_level(index);
    let mut figures = Vec::new();
    figures.extend(effect(measured, index, &means));
    figures.push(distribution(measured, factor, &levels));
    figures.push(strips(measured, index, &levels));
    figures.extend(response_times(measured, index, responses));
    FactorView {
        key: factor.key.clone(),
        name: short(&factor.key),
        is_condition: factor.is_condition,
        is_answered: false,
        share,
        blocks: blocks.len(),
        figures,
        rows: rows(measured, factor, &means, &levels),
    }
}

/// A marginal mean and its interval, in the metric's unit.
type Marginal = (f64, Option<tcplab_stats::Interval>);

/// With the marginal mean of each level.
fn effect(measured: &Measured, index: usize, means: &[Marginal]) -> Option<PageFigure> {
    let factor = &measured.factors[index];
    let points = means.iter().enumerate().map(|(level, (mean, interval))| TrendPoint {
        level,
        mean: measured.unscaled(*mean),
        interval: interval.map(|it| (measured.unscaled(it.low), measured.unscaled(it.high))),
    });
    let lines = [TrendLine { name: String::new(), points: points.collect() }];
    let title = format!("Main effect of {}", short(&factor.key));
    (!means.is_empty()).then(|| {
        let values = measured.name_of_means();
        let bars = Picture { title: title.clone(), values, content: bars_by(measured, index) };
        let bars = PageFigure::of("Mean of each level, as bars", bars);
        let points = drawn("Mean of each level", &title, (measured, factor), &lines);
        points.or("Points", vec![("Bars", bars)])
    })
}

/// Lines of means over the levels of a factor.
fn drawn(
    name: &str,
    title: &str,
    (measured, factor): (&Measured, &Factor),
    lines: &[TrendLine],
) -> PageFigure {
    let content = Content::Trend {
        over: short(&factor.key),
        levels: axis_levels(factor),
        is_numeric: factor.is_numeric,
        lines: lines.to_vec(),
        scale: TrendScale::over(lines),
    };
    let values = measured.name_of_means();
    PageFigure::of(name, Picture { title: title.into(), values, content })
}

/// Numbers at their values, other levels at equal distances.
fn axis_levels(factor: &Factor) -> Vec<(f64, String)> {
    let texts: Vec<&str> = factor.levels.iter().map(String::as_str).collect();
    let numbers = tcplab_scenario::as_numbers(&texts).filter(|_| factor.is_numeric);
    let numbers = numbers.unwrap_or_else(|| (0..texts.len()).map(|n| n as f64).collect());
    numbers.into_iter().zip(factor.levels.iter().cloned()).collect()
}

fn strips(measured: &Measured, index: usize, levels: &[Vec<f64>]) -> PageFigure {
    let factor = &measured.factors[index];
    let rows = factor.levels.iter().zip(levels).map(|(name, values)| row(name, values));
    let rows: Vec<SpreadRow> = rows.collect();
    let (title, values) = (format!("Trials by {}", short(&factor.key)), measured.name());
    let drawn = |heading: &str, content| {
        let picture = Picture { title: title.clone(), values: values.clone(), content };
        PageFigure::of(heading, picture)
    };
    let boxes = drawn("Box plots of trials", boxes_by(measured, index)).explained(BOXES_EXPLAINED);
    drawn("Every trial", Content::Spread(rows)).or("Dots", vec![("Boxes", boxes)])
}

/// A row of trials: quartiles, median, and the interval of the median by order statistics.
pub(crate) fn row(name: &str, values: &[f64]) -> SpreadRow {
    let at = |share| quantile(values, share);
    let quartiles =
        at(0.25).zip(at(0.5)).zip(at(0.75)).map(|((low, middle), high)| (low, middle, high));
    SpreadRow {
        name: name.to_owned(),
        values: values.to_vec(),
        quartiles: quartiles.filter(|_| values.len() >= BOXED_LEAST),
        middle: median(values),
        interval: median_interval(values).map(|it| (it.low, it.high)),
    }
}

fn distribution(measured: &Measured, factor: &Factor, levels: &[Vec<f64>]) -> PageFigure {
    let lines: Vec<EcdfLine> = factor.levels.iter().cloned().zip(levels.iter().cloned()).collect();
    let title = format!("Distribution by {}", short(&factor.key));
    let picture = Picture { title, values: measured.name(), content: Content::Ecdf(lines) };
    PageFigure::of("Distribution over trials (ECDF)", picture)
}

/// Of each request, for workloads with requests; `responses` has those of each case.
fn response_times(measured: &Measured, index: usize, responses: &[Vec<f64>]) -> Option<PageFigure> {
    let factor = &measured.factors[index];
    let mut lines: Vec<EcdfLine> =
        factor.levels.iter().map(|name| (name.clone(), Vec::new())).collect();
    let mut seen = std::collections::BTreeSet::new();
    for point in measured.points.iter().filter(|point| seen.insert(point.case)) {
        let times = responses.get(point.case).map_or(&[][..], Vec::as_slice);
        lines[point.levels[index]].1.extend(times);
    }
    if lines.iter().all(|(_, values)| values.is_empty()) {
        return None;
    }
    let title = format!("Response times by {}", short(&factor.key));
    let drawn = |heading: &str, content| {
        let values = "response time, ms".into();
        let picture = Picture { title: title.clone(), values, content };
        PageFigure::of(heading, picture)
    };
    let boxes = named_boxes(lines.iter().map(|(name, values)| (name, values)));
    let boxes = drawn("Box plots of requests", boxes).explained(BOXES_EXPLAINED);
    let lines = drawn("Distribution over requests (ECDF)", Content::Ecdf(lines));
    Some(lines.or("ECDF", vec![("Boxes", boxes)]))
}

fn rows(
    measured: &Measured,
    factor: &Factor,
    means: &[Marginal],
    levels: &[Vec<f64>],
) -> Vec<LevelRow> {
    let row = |(index, name): (usize, &String)| {
        let (mean, half) = match means.get(index) {
            Some((mean, Some(interval))) => {
                let [low, high] = [interval.low, interval.high].map(|it| measured.unscaled(it));
                let places = decimals_for_error((high - low) / 2.0);
                let interval_text = if high > low {
                    format!("{} to {}", decimal(low, places), decimal(high, places))
                } else {
                    "all identical".to_owned()
                };
                let mean = measured.unscaled(*mean);
                (if high > low { decimal(mean, places) } else { figures(mean) }, interval_text)
            }
            Some((mean, None)) => (figures(measured.unscaled(*mean)), String::new()),
            None => ("–".to_owned(), String::new()),
        };
        let median = median(&levels[index]).map_or("–".to_owned(), figures);
        LevelRow { level: name.clone(), mean, half, median, trials: levels[index].len() }
    };
    factor.levels.iter().enumerate().map(row).collect()
}

fn pair_view(measured: &Measured, one: usize, other: usize, share: String) -> PairView {
    // The axis has the factor with numbers, else the one with more levels; the other has the lines.
    let rank = |index: usize| {
        let factor = &measured.factors[index];
        (factor.is_numeric, factor.levels.len())
    };
    let (across, down) = if rank(other) > rank(one) { (other, one) } else { (one, other) };
    let (x, y) = (&measured.factors[across], &measured.factors[down]);
    let (over, by) = (short(&x.key), short(&y.key));
    let cells = cells(measured, across, down);
    let mut figures = Vec::new();
    if y.levels.len() <= MOST_LINES {
        figures.push(lines(measured, (x, y), &cells));
    }
    if x.levels.len() <= MOST_COLUMNS {
        let name = measured.name_of_means();
        let means: Vec<Vec<Option<f64>>> = cells
            .iter()
            .map(|row| row.iter().map(|cell| cell.map(|it| it.mean)).collect())
            .collect();
        let title = format!("{over} and {by}");
        let scene = Heat {
            title: &title,
            factors: (&over, &by),
            columns: &x.levels,
            rows: &y.levels,
            values: &name,
            cells: &means,
        };
        figures.push(PageFigure::drawn("Mean of each combination", heat(&scene)));
    }
    PairView { title: format!("{over} × {by}"), share, figures }
}

#[derive(Debug, Clone, Copy)]
struct Cell {
    mean: f64,
    interval: Option<(f64, f64)>,
}

/// A row for each level of `down`, a cell for each of `across`; none where nothing was run.
fn cells(measured: &Measured, across: usize, down: usize) -> Vec<Vec<Option<Cell>>> {
    let (columns, rows) =
        (measured.factors[across].levels.len(), measured.factors[down].levels.len());
    let mut values = vec![vec![Vec::new(); columns]; rows];
    for point in &measured.points {
        values[point.levels[down]][point.levels[across]].push(measured.scaled(point.value));
    }
    // With further factors, trials of a cell differ by more than chance.
    let alone = measured.factors.len() == 2;
    let cell = |values: Vec<f64>| {
        let summary = tcplab_stats::Summary::of(&values)?;
        let interval = summary.interval.filter(|_| alone);
        Some(Cell {
            mean: measured.unscaled(mean(&values)?),
            interval: interval.map(|it| (measured.unscaled(it.low), measured.unscaled(it.high))),
        })
    };
    values.into_iter().map(|row| row.into_iter().map(cell).collect()).collect()
}

fn lines(
    measured: &Measured,
    (x, y): (&Factor, &Factor),
    cells: &[Vec<Option<Cell>>],
) -> PageFigure {
    let line = |(name, row): (&String, &Vec<Option<Cell>>)| {
        let points = row.iter().enumerate().filter_map(|(level, cell)| {
            let Cell { mean, interval } = (*cell)?;
            Some(TrendPoint { level, mean, interval })
        });
        TrendLine { name: name.clone(), points: points.collect() }
    };
    let lines: Vec<TrendLine> = y.levels.iter().zip(cells).map(line).collect();
    let title = format!("{} and {}", short(&x.key), short(&y.key));
    let each = if x.is_numeric { "line" } else { "colour" };
    drawn(&format!("One {each} per {}", short(&y.key)), &title, (measured, x), &lines)
}
