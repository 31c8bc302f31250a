//! The answer of a run in a sentence or two, as far as its trials give one.
//!
//! The rule: of the factors that somebody may choose (those that leave the path as it is; all,
//! where there is no other) the one that explains most of the differences in the main metric is
//! asked. Its level with the best mean over complete blocks is held against every other level, by
//! the differences within blocks and their intervals, which all hold together with 95 %
//! (Bonferroni). Where they leave out zero that level is called best; where not, that is undecided.

use tcplab_plot::decimal;
use tcplab_scenario::Better;
use tcplab_stats::{Interval, Paired, VarianceShares, marginal_means, paired, ratio_of_means};

use super::factors::at;
use super::measure::{Measured, short};
use crate::number::{counted, decimals_for_error, title};

const CONFIDENCE: f64 = 0.95;
/// At twice as much one does not speak of percent any more.
const TWICE: f64 = 2.0;

/// The sentences.
pub(crate) fn answer(measured: &Measured, shares: Option<&VarianceShares>) -> String {
    let Some(factor) = asked(measured, shares) else { return alone(measured) };
    let Some(shares) = shares else {
        return format!(
            "{} is the same in every trial: {}.",
            capital(&title(measured.info.name)),
            measured.points.first().map_or("–".into(), |it| told(it.value, &measured.unit)),
        );
    };
    let blocks = measured.blocks(factor, |_| true);
    let Some(standing) = Standing::of(measured, factor, &blocks) else {
        return format!(
            "Which {} is best cannot be told: no trials have all of its levels in common.",
            short(&measured.factors[factor].key)
        );
    };
    let mut text = standing.told(measured);
    text += &depends(measured, factor, &standing, shares);
    text
}

/// Of the factors that may be chosen the one that explains most.
fn asked(measured: &Measured, shares: Option<&VarianceShares>) -> Option<usize> {
    let all = || measured.factors.iter().enumerate();
    let chosen: Vec<usize> = all().filter(|(_, it)| !it.is_condition).map(|(i, _)| i).collect();
    let asked = if chosen.is_empty() { all().map(|(i, _)| i).collect() } else { chosen };
    let share = |index: &usize| shares.map_or(0.0, |it| it.mains[*index]);
    // Of equal ones the first.
    asked.into_iter().rev().max_by(|one, other| share(one).total_cmp(&share(other)))
}

/// Of a run that varies nothing.
fn alone(measured: &Measured) -> String {
    let values: Vec<f64> = measured.points.iter().map(|point| point.value).collect();
    let name = capital(&title(measured.info.name));
    let Some(summary) = tcplab_stats::Summary::of(&values) else { return String::new() };
    let unit = if measured.unit.is_empty() { String::new() } else { format!(" {}", measured.unit) };
    match summary.interval {
        Some(interval) if interval.high > interval.low => {
            let places = decimals_for_error(interval.half_width());
            format!(
                "{name} is {}{unit} on average (95 % interval {} to {}, {}).",
                decimal(summary.mean, places),
                decimal(interval.low, places),
                decimal(interval.high, places),
                counted(summary.count, "trial", "trials"),
            )
        }
        _ => {
            let trials = match summary.count {
                1 => "one trial, so how sure that is cannot be told".to_owned(),
                n => format!("all {n} trials alike"),
            };
            format!("{name} is {} ({trials}).", told(summary.mean, &measured.unit))
        }
    }
}

/// How the levels of a factor stand to its best one.
struct Standing {
    factor: usize,
    best: usize,
    mean: f64,
    /// The others from the next best: level, mean, how the best differs from it.
    others: Vec<(usize, f64, Paired)>,
    /// Where the ratio of the best mean to the next lies.
    ratio: Option<Interval>,
}

impl Standing {
    fn of(measured: &Measured, factor: usize, blocks: &[Vec<f64>]) -> Option<Standing> {
        let means = marginal_means(blocks);
        let mut order: Vec<usize> = (0..means.len()).collect();
        let lower = measured.info.better == Better::Lower;
        order.sort_by(|one, other| {
            let (one, other) = (means[*one].0, means[*other].0);
            if lower { one.total_cmp(&other) } else { other.total_cmp(&one) }
        });
        let (best, rest) = order.split_first()?;
        let others = rest.iter().map(|&level| {
            let differences: Vec<f64> =
                blocks.iter().map(|block| block[*best] - block[level]).collect();
            Some((level, means[level].0, paired(&differences, CONFIDENCE, rest.len())?))
        });
        let others = others.collect::<Option<Vec<_>>>()?;
        let (_, _, lead) = others.first()?;
        let ratio = if measured.by_ratio {
            lead.interval.map(|it| Interval { low: it.low.exp(), high: it.high.exp() })
        } else {
            let pairs = blocks.iter().map(|block| (block[*best], block[rest[0]]));
            ratio_of_means(&pairs.collect::<Vec<_>>(), CONFIDENCE, rest.len())
        };
        Some(Standing { factor, best: *best, mean: means[*best].0, others, ratio })
    }

    fn is_decided(&self) -> bool {
        self.others.iter().all(|(_, _, pair)| is_apart(pair))
    }

    fn told(&self, measured: &Measured) -> String {
        let factor = &measured.factors[self.factor];
        let (of, metric) = (short(&factor.key), title(measured.info.name));
        let name = |level: usize| factor.levels[level].as_str();
        let best = name(self.best);
        let Some((next, next_mean, pair)) = self.others.first() else { return String::new() };
        let blocks = counted(pair.blocks, "pair of trials", "pairs of trials");
        let by = advantage(measured, pair, *next_mean, self.ratio);
        let mean = told(measured.unscaled(self.mean), &measured.unit);
        if pair.interval.is_none() {
            return format!(
                "Which {of} is best is undecided: {best} has the {} {metric}, {by} {}, but in a single \
                 trial; more trials would tell.",
                measured.superlative(),
                name(*next),
            );
        }
        let level = |level: &usize| name(*level).to_owned();
        let close = self.others.iter().filter(|(_, _, it)| !is_apart(it)).map(|(it, ..)| it);
        let close: Vec<String> = close.map(level).collect();
        let alike = pair.interval.is_some_and(|it| it.high <= it.low) && !is_apart(pair);
        let by = if alike { "as much as".to_owned() } else { by };
        if close.is_empty() {
            return format!(
                "{of} {best} gives the {} {metric}, {mean} on average: {by} {}{} ({blocks}).",
                measured.superlative(),
                name(*next),
                if self.others.len() > 1 { ", the next" } else { "" },
            );
        }
        if close.len() == self.others.len() {
            return format!(
                "No difference in {metric} between levels of {of} can be told: {best} comes out {by} \
                 {} ({blocks}).",
                name(*next),
            );
        }
        let worse = match self.others.len() - close.len() {
            1 => "The other is worse.".to_owned(),
            several => format!("The {several} others are worse."),
        };
        format!(
            "Which {of} gives the {} {metric} is undecided between {best} and {}: {best} comes out \
             {by} {} ({blocks}). {worse}",
            measured.superlative(),
            few(&close),
            name(*next),
        )
    }
}

/// Whether the interval leaves out zero; of values that never differ by anything else, too.
fn is_apart(pair: &Paired) -> bool {
    pair.interval.is_some_and(|it| it.low > 0.0 || it.high < 0.0)
}

/// Such as `12 % more (95 % interval 8 % to 15 %) than`, `3.1 times (2.9 to 3.3) that of`; where
/// the `other` mean is not surely above zero, as a difference.
fn advantage(measured: &Measured, pair: &Paired, other: f64, ratio: Option<Interval>) -> String {
    let is_measured = pair.interval.is_some_and(|it| it.high > it.low);
    let within = |interval: Option<Interval>, text: &dyn Fn(f64) -> String| match interval {
        Some(it) if is_measured => {
            // The smaller one first, also where less is better.
            format!(" (95 % interval {} to {})", text(it.low), text(it.high))
        }
        Some(_) => " in every trial".into(),
        None => String::new(),
    };
    let has_ratio = measured.by_ratio || other > 0.0 && (ratio.is_some() || !is_measured);
    if !has_ratio {
        let told = |value: f64| told(value, &measured.unit);
        let word = if pair.mean < 0.0 { "less" } else { "more" };
        return format!("{} {word}{} than", told(pair.mean.abs()), within(pair.interval, &told));
    }
    let middle = if measured.by_ratio { pair.mean.exp() } else { 1.0 + pair.mean / other };
    if middle >= TWICE {
        let told = |ratio: f64| decimal(ratio, usize::from(middle < 10.0));
        return format!("{} times{} that of", told(middle), within(ratio, &told));
    }
    let half = ratio.map_or(0.0, |it| it.half_width() * 100.0);
    let places = if half > 0.0 { decimals_for_error(half).min(2) } else { 1 };
    let (word, sign) = if middle < 1.0 { ("less", -1.0) } else { ("more", 1.0) };
    let told = |ratio: f64| format!("{} %", decimal(sign * (ratio - 1.0) * 100.0, places));
    let turned = |it: Interval| Interval { low: it.high, high: it.low };
    let interval = within(if sign < 0.0 { ratio.map(turned) } else { ratio }, &told);
    format!("{} {word}{interval} than", told(middle))
}

/// What is sure at single levels of the factor that matters most to this one: where another level
/// is better than the best over all; where that is undecided, which is best of all.
fn depends(
    measured: &Measured,
    factor: usize,
    standing: &Standing,
    shares: &VarianceShares,
) -> String {
    let with = shares.pairs.iter().filter(|((a, b), _)| *a == factor || *b == factor);
    let Some(((a, b), _)) = with.max_by(|one, other| one.1.total_cmp(&other.1)) else {
        return String::new();
    };
    let other = if *a == factor { *b } else { *a };
    let name = |level: usize| measured.factors[factor].levels[level].as_str();
    let sure = (0..measured.factors[other].levels.len()).filter_map(|level| {
        let blocks = measured.blocks(factor, at(other, level));
        let here = Standing::of(measured, factor, &blocks)?;
        let is_sure = if standing.is_decided() {
            let overall = here.others.iter().find(|(it, ..)| *it == standing.best);
            overall.is_some_and(|(_, _, pair)| is_apart(pair))
        } else {
            here.is_decided()
        };
        let place = &measured.factors[other].levels[level];
        is_sure.then(|| format!("{} at {place}", name(here.best)))
    });
    let sure: Vec<String> = sure.collect();
    let by = short(&measured.factors[other].key);
    match (sure.is_empty(), standing.is_decided()) {
        (true, _) => String::new(),
        (false, true) => format!(" Not everywhere: by {by}, better is {}.", and(&sure)),
        (false, false) => format!(" It is decided by {by}: best is {}.", and(&sure)),
    }
}

/// Three figures are enough for a sentence.
fn told(value: f64, unit: &str) -> String {
    let size = if value == 0.0 { 0.0 } else { value.abs().log10().floor() };
    let places = (2.0 - size).clamp(0.0, 4.0) as usize;
    let whole = value.fract() == 0.0;
    format!("{} {unit}", decimal(value, if whole { 0 } else { places })).trim_end().to_owned()
}

/// The first of many names.
fn few(names: &[String]) -> String {
    match names {
        [first, second, _, _, ..] => format!("{first}, {second} and {} more", names.len() - 2),
        names => and(names),
    }
}

fn and(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|it| it.to_uppercase().collect::<String>()).unwrap_or_default()
        + letters.as_str()
}
