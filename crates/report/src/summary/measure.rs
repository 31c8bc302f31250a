//! What a run is judged by: its main metric, and the values of that by factor and level.

use std::collections::{BTreeMap, BTreeSet};

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

    /// The complete blocks of a factor: for each combination of the other factors' levels and each
    /// trial that has all levels, the scaled values by level. Where the combinations are conditions
    /// alone, and more than the trials of each, they are the blocks: trials of one repeat its
    /// conditions, and are averaged.
    pub(crate) fn blocks(&self, factor: usize) -> Vec<Vec<f64>> {
        let levels = self.factors[factor].levels.len();
        let mut trials = BTreeMap::new();
        for point in &self.points {
            let others = point.levels.iter().enumerate().filter(|(index, _)| *index != factor);
            let others: Vec<usize> = others.map(|(_, level)| *level).collect();
            let of_combination: &mut BTreeMap<_, _> = trials.entry(others).or_default();
            let block = of_combination.entry(point.trial).or_insert_with(|| vec![None; levels]);
            block[point.levels[factor]] = Some(self.scaled(point.value));
        }
        let complete = |of: BTreeMap<u32, Vec<Option<f64>>>| -> Vec<Vec<f64>> {
            of.into_values().filter_map(|block| block.into_iter().collect()).collect()
        };
        let mut combinations: Vec<Vec<Vec<f64>>> = trials.into_values().map(complete).collect();
        combinations.retain(|blocks| !blocks.is_empty());
        let mut others = self.factors.iter().enumerate().filter(|(index, _)| *index != factor);
        let most = combinations.iter().map(Vec::len).max().unwrap_or(0);
        if others.all(|(_, it)| it.is_condition) && combinations.len() > most {
            return combinations.iter().map(|blocks| averaged(blocks)).collect();
        }
        combinations.concat()
    }
}

/// The mean of each level; there is a block.
fn averaged(blocks: &[Vec<f64>]) -> Vec<f64> {
    let mean = |level| blocks.iter().map(|block| block[level]).sum::<f64>() / blocks.len() as f64;
    (0..blocks[0].len()).map(mean).collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Two congestion controls under so many conditions with so many trials each.
    fn measured(conditions: usize, trials: u32, is_condition: bool) -> Measured {
        let factor = |key: &str, levels: usize, is_condition| Factor {
            key: key.into(),
            levels: (0..levels).map(|level| level.to_string()).collect(),
            is_numeric: false,
            is_condition,
        };
        let mut points = Vec::new();
        for one in 0..2 {
            for other in 0..conditions {
                let value = 4.0 + (one * (other + 1)) as f64;
                let levels = vec![one, other];
                points.extend((1..=trials).map(|trial| Point {
                    levels: levels.clone(),
                    trial,
                    case: one * conditions + other,
                    world: World::Simulated,
                    value: value + f64::from(trial),
                }));
            }
        }
        Measured {
            info: metrics::GOODPUT,
            flow: None,
            unit: String::new(),
            factors: vec![factor("cc", 2, false), factor("at", conditions, is_condition)],
            points,
            by_ratio: false,
        }
    }

    #[test]
    fn trials_that_repeat_conditions_are_one_block() {
        let once = measured(10, 1, true).blocks(0);
        assert_eq!(once.len(), 10);
        // The means of trials 1 to 3 are those of a trial 2.
        let thrice = measured(10, 3, true).blocks(0);
        let raised = once.iter().map(|block| block.iter().map(|it| it + 1.0).collect());
        assert_eq!(thrice, raised.collect::<Vec<Vec<f64>>>());
        assert_eq!(measured(3, 10, true).blocks(0).len(), 30, "trials are the chance");
        assert_eq!(measured(10, 3, false).blocks(0).len(), 30, "settings are no chance");
    }
}
