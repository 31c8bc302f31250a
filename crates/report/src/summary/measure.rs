//! What a run is judged by: its main metric, and the values of that by factor and level.

use std::collections::BTreeSet;

use crate::title::title;
use tcplab_results::{Case, Run, World, subject_flow};
use tcplab_scenario::{Better, Measure, MetricInfo, Scenario, metrics};
use tcplab_stats::Observation;

/// Positive values that span more than this factor are compared by their ratios.
const DECADE: f64 = 10.0;

/// These are of all flows together.
const OF_ALL_FLOWS: [&MetricInfo; 4] = [
    metrics::FAIRNESS,
    metrics::CONVERGENCE,
    metrics::AGGREGATE_GOODPUT,
    metrics::PATH_UTILISATION,
];

/// The finite values of a metric, with the numbers of the trials.
pub(crate) fn values(case: &Case, name: &str) -> Vec<(u32, f64)> {
    let value = |trial: &tcplab_results::Trial| {
        let value = trial.metrics.value_named(name)?;
        value.is_finite().then_some((trial.number, value))
    };
    case.trials.iter().filter_map(value).collect()
}

/// The response times of all requests that were answered, ms.
pub(crate) fn response_times(case: &Case) -> Vec<f64> {
    let ends = case.trials.iter().flat_map(|trial| &trial.ends);
    let times = ends.flat_map(|end| end.response_times_ms.iter().copied());
    times.filter(|time| time.is_finite()).collect()
}

/// Factors and measured values.
pub(crate) struct Measured {
    pub(crate) info: &'static MetricInfo,
    /// The flow that it is of, where there are flows.
    pub(crate) flow: Option<String>,
    pub(crate) unit: String,
    pub(crate) factors: Vec<Factor>,
    pub(crate) points: Vec<Point>,
    /// Whether values are compared by their ratios.
    pub(crate) by_ratio: bool,
}

#[derive(Clone)]
pub(crate) struct Factor {
    pub(crate) key: String,
    /// Numbers rise; others are in the scenario's order.
    pub(crate) levels: Vec<String>,
    pub(crate) is_numeric: bool,
    /// Whether it changes the path, so that it is no setting to choose.
    pub(crate) is_condition: bool,
}

#[derive(Clone)]
pub(crate) struct Point {
    /// By factor, from 0.
    pub(crate) levels: Vec<usize>,
    pub(crate) trial: u32,
    pub(crate) case: usize,
    pub(crate) world: World,
    pub(crate) value: f64,
}

impl Measured {
    pub(crate) fn of(run: &Run, info: &'static MetricInfo) -> Measured {
        Measured::with(run, info, factors(run))
    }

    /// As [`Self::of`], with the run's factors.
    pub(crate) fn with(run: &Run, info: &'static MetricInfo, factors: Vec<Factor>) -> Measured {
        let points: Vec<Point> = run
            .cases
            .iter()
            .enumerate()
            .flat_map(|(case, it)| {
                let levels = levels(it, &factors);
                let world = it.world;
                let point = move |(trial, value)| Point {
                    levels: levels.clone(),
                    trial,
                    case,
                    world,
                    value,
                };
                values(it, info.name).into_iter().map(point)
            })
            .collect();
        let (least, most) = points
            .iter()
            .fold((f64::INFINITY, 0.0f64), |(a, b), it| (a.min(it.value), b.max(it.value)));
        let mut all = run.cases.iter().flat_map(|case| &case.summaries);
        let unit = all.find(|it| it.name == info.name).map_or(info.unit, |it| it.unit.as_str());
        let flow = subject_flow(run).filter(|_| !OF_ALL_FLOWS.contains(&info));
        Measured {
            info,
            flow: flow.map(str::to_owned),
            unit: unit.to_owned(),
            by_ratio: least > 0.0 && most / least >= DECADE,
            factors,
            points,
        }
    }

    /// The levels of `factor` that ran in one world, and the names of those left out: a kernel and
    /// a model of it are no two answers to one question. Of the worlds, the one with more levels;
    /// all levels where another factor decides the world, or no world has two.
    pub(crate) fn in_one_world(&self, factor: usize) -> (Measured, Vec<String>) {
        let of = |world: World| -> BTreeSet<usize> {
            let here = self.points.iter().filter(|point| point.world == world);
            here.map(|point| point.levels[factor]).collect()
        };
        let (kernel, simulated) = (of(World::Kernel), of(World::Simulated));
        let (kept, left_out) = if simulated.len() > kernel.len() {
            (&simulated, &kernel)
        } else {
            (&kernel, &simulated)
        };
        let is_split = kept.is_disjoint(left_out) && kept.len() > 1;
        let kept: Vec<usize> = if is_split {
            kept.iter().copied().collect()
        } else {
            (0..self.factors[factor].levels.len()).collect()
        };
        let left_out = left_out.iter().filter(|_| is_split);
        let left_out = left_out.map(|level| self.factors[factor].levels[*level].clone()).collect();
        (self.with_levels(factor, &kept), left_out)
    }

    /// The levels of `factor` that have a value, and the names of the others.
    pub(crate) fn with_values(&self, factor: usize) -> (Measured, Vec<String>) {
        let values = self.values_by_level(factor);
        let (kept, left_out): (Vec<usize>, Vec<usize>) =
            (0..values.len()).partition(|level| !values[*level].is_empty());
        let left_out = left_out.iter().map(|level| self.factors[factor].levels[*level].clone());
        (self.with_levels(factor, &kept), left_out.collect())
    }

    /// With these levels of `factor` alone.
    fn with_levels(&self, factor: usize, kept: &[usize]) -> Measured {
        let mut factors = self.factors.clone();
        let name = |level: &usize| self.factors[factor].levels[*level].clone();
        factors[factor].levels = kept.iter().map(name).collect();
        let moved = |point: &Point| {
            let mut point = point.clone();
            point.levels[factor] = kept.iter().position(|level| *level == point.levels[factor])?;
            Some(point)
        };
        let points = self.points.iter().filter_map(moved).collect();
        let (flow, unit) = (self.flow.clone(), self.unit.clone());
        Measured { flow, unit, factors, points, ..*self }
    }

    /// Such as `transfer time`, or `transfer time of flow first`.
    pub(crate) fn title(&self) -> String {
        let name = title(self.info.name);
        self.flow.as_ref().map_or(name.clone(), |flow| format!("{name} of flow {flow}"))
    }

    /// The title with the unit, which follows the last comma.
    pub(crate) fn name(&self) -> String {
        self.with_unit(self.title())
    }

    /// As [`Self::name`], of means of scaled values.
    pub(crate) fn name_of_means(&self) -> String {
        let name = self.title();
        self.with_unit(if self.by_ratio { format!("{name} (geometric mean)") } else { name })
    }

    fn with_unit(&self, name: String) -> String {
        if self.unit.is_empty() { name } else { format!("{name}, {}", self.unit) }
    }

    /// The value or its logarithm, for comparison.
    pub(crate) fn scaled(&self, value: f64) -> f64 {
        if self.by_ratio { value.ln() } else { value }
    }

    /// The reverse of `scaled`.
    pub(crate) fn unscaled(&self, value: f64) -> f64 {
        if self.by_ratio { value.exp() } else { value }
    }

    /// The best value in a word.
    pub(crate) fn superlative(&self) -> &'static str {
        if self.info.better == Better::Lower { "lowest" } else { "highest" }
    }

    /// The values of all trials with each level of a factor.
    pub(crate) fn values_by_level(&self, factor: usize) -> Vec<Vec<f64>> {
        let mut values = vec![Vec::new(); self.factors[factor].levels.len()];
        for point in &self.points {
            values[point.levels[factor]].push(point.value);
        }
        values
    }

    pub(crate) fn observations(&self) -> Vec<Observation> {
        let observation = |point: &Point| Observation {
            levels: point.levels.clone(),
            value: self.scaled(point.value),
        };
        self.points.iter().map(observation).collect()
    }

    /// The complete blocks of a factor among the chosen points: for each combination of the other
    /// factors' levels and each trial that has all levels, the scaled values by level.
    pub(crate) fn blocks(&self, factor: usize, which: impl Fn(&Point) -> bool) -> Vec<Vec<f64>> {
        let levels = self.factors[factor].levels.len();
        let mut blocks = std::collections::BTreeMap::new();
        for point in self.points.iter().filter(|point| which(point)) {
            let others = point.levels.iter().enumerate().filter(|(index, _)| *index != factor);
            let others: Vec<usize> = others.map(|(_, level)| *level).collect();
            let block: &mut Vec<Option<f64>> =
                blocks.entry((others, point.trial)).or_insert_with(|| vec![None; levels]);
            block[point.levels[factor]] = Some(self.scaled(point.value));
        }
        blocks.into_values().filter_map(|block| block.into_iter().collect()).collect()
    }
}

fn levels(case: &Case, factors: &[Factor]) -> Vec<usize> {
    let level = |factor: &Factor| {
        let text = case.levels.iter().find(|(key, _)| *key == factor.key).map(|(_, it)| it);
        factor.levels.iter().position(|level| Some(level) == text).unwrap_or(0)
    };
    factors.iter().map(level).collect()
}

/// Factors that all cases have, with more than one level.
pub(crate) fn factors(run: &Run) -> Vec<Factor> {
    let Some(first) = run.cases.first() else { return Vec::new() };
    let scenario = Scenario::parse(&run.scenario, &run.name).ok();
    let of = |case: &Case, key: &str| {
        case.levels.iter().find(|(own, _)| own == key).map(|(_, level)| level.clone())
    };
    let factor = |(key, _): &(String, String)| {
        let all: Option<Vec<String>> = run.cases.iter().map(|case| of(case, key)).collect();
        let mut levels: Vec<String> = Vec::new();
        for level in all? {
            if !levels.contains(&level) {
                levels.push(level);
            }
        }
        let is_numeric = sort(&mut levels);
        let is_condition = key.starts_with("path.")
            || scenario.as_ref().is_some_and(|scenario| varies_path(scenario, key));
        let factor = Factor { key: key.clone(), levels, is_numeric, is_condition };
        (factor.levels.len() > 1).then_some(factor)
    };
    first.levels.iter().filter_map(factor).collect()
}

/// Sorts numeric levels; says whether they are numeric.
fn sort(levels: &mut Vec<String>) -> bool {
    let texts: Vec<&str> = levels.iter().map(String::as_str).collect();
    let Some(numbers) = tcplab_scenario::as_numbers(&texts) else { return false };
    let mut pairs: Vec<(f64, String)> = numbers.into_iter().zip(levels.drain(..)).collect();
    pairs.sort_by(|one, other| one.0.total_cmp(&other.0));
    levels.extend(pairs.into_iter().map(|(_, text)| text));
    true
}

/// Whether cases that differ in this factor alone have different paths.
fn varies_path(scenario: &Scenario, key: &str) -> bool {
    let others = |case: &tcplab_scenario::Case| -> Vec<(String, String)> {
        case.levels.iter().filter(|(own, _)| own != key).cloned().collect()
    };
    scenario.cases.iter().any(|one| {
        let rest = others(one);
        scenario.cases.iter().any(|other| other.path != one.path && others(other) == rest)
    })
}

pub(crate) fn level_of<'c>(case: &'c Case, factor: &str) -> Option<&'c str> {
    case.levels.iter().find(|(key, _)| key == factor).map(|(_, level)| level.as_str())
}

/// With its flow.
pub(crate) fn name_of_measure(measure: Measure<'_>) -> String {
    let name = title(measure.metric);
    measure.flow.map_or(name.clone(), |flow| format!("{name} of {flow}"))
}

pub(crate) fn distinct<T: PartialEq>(all: impl Iterator<Item = T>) -> Vec<T> {
    all.fold(Vec::new(), |mut seen, one| {
        if !seen.contains(&one) {
            seen.push(one);
        }
        seen
    })
}
