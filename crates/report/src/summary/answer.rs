//! The answer of a run in one or two sentences.
//!
//! The rule: take the factors that a user can choose (those that do not change the path; all
//! factors if there are no others). Of these, take the one that explains most of the variance of
//! the main metric. Compare its level with the best mean over complete blocks with each other
//! level, by the differences within blocks. The confidence intervals hold together with 95 %
//! (Bonferroni). The level is best if no interval contains zero; else the levels are tied.
//! Where some levels ran on the kernel and others as models, those of the world with more are
//! compared: that a model differs from its kernel is no answer to the run's question.

use tcplab_scenario::Better;
use tcplab_stats::{Interval, Paired, VarianceShares, marginal_means, paired, ratio_of_means};
use tcplab_units::rounded::{counted, decimal, decimals_for_error, signed};

use super::factors::at;
use super::measure::{Measured, short};
use crate::title::title;

const CONFIDENCE: f64 = 0.95;
/// Larger ratios are shown as ratios, smaller ones in percent.
const TWICE: f64 = 2.0;

/// The answer in sentences, the best level first.
pub(crate) fn answer(measured: &Measured, shares: Option<&VarianceShares>) -> String {
    let Some(factor) = compared_factor(measured, shares) else { return without_factors(measured) };
    let Some(shares) = shares else {
        return format!(
            "No difference: {} is {} in every trial.",
            title(measured.info.name),
            measured.points.first().map_or("–".into(), |it| rounded(it.value, &measured.unit)),
        );
    };
    let (measured, left_out) = measured.in_one_world(factor);
    let measured = &measured;
    let blocks = measured.blocks(factor, |_| true);
    let Some(standing) = Standing::of(measured, factor, &blocks) else {
        return format!(
            "No answer: no block of trials has every level of {}.",
            short(&measured.factors[factor].key)
        );
    };
    let mut text = standing.sentence(measured);
    text += &depends(measured, factor, &standing, shares);
    if !left_out.is_empty() {
        text += &format!(" Not compared, as they ran in another world: {}.", and(&left_out));
    }
    text
}

/// Of the factors that a user can choose, the one that explains most.
fn compared_factor(measured: &Measured, shares: Option<&VarianceShares>) -> Option<usize> {
    let all = || measured.factors.iter().enumerate();
    let chosen: Vec<usize> = all().filter(|(_, it)| !it.is_condition).map(|(i, _)| i).collect();
    let candidates = if chosen.is_empty() { all().map(|(i, _)| i).collect() } else { chosen };
    let share = |index: &usize| shares.map_or(0.0, |it| it.mains[*index]);
    // Of equal ones the first.
    candidates.into_iter().rev().max_by(|one, other| share(one).total_cmp(&share(other)))
}

/// The answer of a run that varies nothing.
fn without_factors(measured: &Measured) -> String {
    let values: Vec<f64> = measured.points.iter().map(|point| point.value).collect();
    let name = capital(&title(measured.info.name));
    let Some(summary) = tcplab_stats::Summary::of(&values) else { return String::new() };
    let unit = if measured.unit.is_empty() { String::new() } else { format!(" {}", measured.unit) };
    match summary.interval {
        Some(interval) if interval.high > interval.low => {
            let places = decimals_for_error(interval.half_width());
            format!(
                "{name}: {}{unit} on average (95 % CI {} to {}, {}).",
                decimal(summary.mean, places),
                decimal(interval.low, places),
                decimal(interval.high, places),
                counted(summary.count, "trial", "trials"),
            )
        }
        _ => {
            let trials = match summary.count {
                1 => "one trial, so no confidence interval".to_owned(),
                n => format!("identical in all {n} trials"),
            };
            format!("{name}: {} ({trials}).", rounded(summary.mean, &measured.unit))
        }
    }
}

/// The best level of a factor, compared with the others.
struct Standing {
    factor: usize,
    best: usize,
    mean: f64,
    /// The other levels, next best first: level, mean, difference of the best from it.
    others: Vec<(usize, f64, Paired)>,
    /// Best mean over the next.
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

    fn sentence(&self, measured: &Measured) -> String {
        let factor = &measured.factors[self.factor];
        let (of, metric) = (short(&factor.key), title(measured.info.name));
        let head = format!("{} {metric}", capital(measured.superlative()));
        let name = |level: usize| factor.levels[level].as_str();
        let best = name(self.best);
        let Some((next, next_mean, pair)) = self.others.first() else { return String::new() };
        let next = name(*next);
        let pairs = counted(pair.blocks, "pair", "pairs");
        let Lead { change, interval } = Lead::of(measured, pair, *next_mean, self.ratio);
        let Some(interval) = interval else {
            return format!(
                "{head}: inconclusive; {best} leads {next} by {change} in one pair of trials. Run \
                 more trials."
            );
        };
        let tied: Vec<String> = self
            .others
            .iter()
            .filter(|(_, _, pair)| !is_apart(pair))
            .map(|(level, ..)| name(*level).to_owned())
            .collect();
        if tied.is_empty() {
            let mean = rounded(measured.unscaled(self.mean), &measured.unit);
            let rank = if self.others.len() > 1 { ", the next best" } else { "" };
            return format!(
                "{head}: {of} {best}, {mean} on average: {change} against {next}{rank} ({interval}, \
                 {pairs})."
            );
        }
        let is_equal = pair.interval.is_some_and(|it| it.high <= it.low) && !is_apart(pair);
        let against = if tied.len() > 1 { format!(" against {next}") } else { String::new() };
        let all: Vec<String> = std::iter::once(best.to_owned()).chain(tied).collect();
        let worse = match self.others.len() + 1 - all.len() {
            0 => String::new(),
            1 => " The other level is worse.".to_owned(),
            several => format!(" The {several} other levels are worse."),
        };
        let lead = if is_equal {
            format!("equal in {pairs}")
        } else {
            format!("{change}{against}, {interval}, {pairs}")
        };
        format!("{head}: {} are tied ({lead}).{worse}", few(&all))
    }
}

/// Whether the interval does not contain zero.
fn is_apart(pair: &Paired) -> bool {
    pair.interval.is_some_and(|it| it.low > 0.0 || it.high < 0.0)
}

/// By how much the best level leads the next one.
struct Lead {
    /// `+12 %`, `3.1×`, or a difference where the other mean may be zero.
    change: String,
    /// `95 % CI +8 % to +15 %`; none of a single pair.
    interval: Option<String>,
}

impl Lead {
    fn of(measured: &Measured, pair: &Paired, other: f64, ratio: Option<Interval>) -> Lead {
        let is_measured = pair.interval.is_some_and(|it| it.high > it.low);
        let has_ratio = measured.by_ratio || other > 0.0 && (ratio.is_some() || !is_measured);
        let middle = if measured.by_ratio { pair.mean.exp() } else { 1.0 + pair.mean / other };
        let lead = |change: String, range: Option<Interval>, text: &dyn Fn(f64) -> String| {
            let interval = pair.interval.map(|_| match range {
                Some(it) if is_measured => {
                    format!("95 % CI {} to {}", text(it.low), text(it.high))
                }
                _ => "the same in every trial".to_owned(),
            });
            Lead { change, interval }
        };
        if !has_ratio {
            let text = |value: f64| signed(value, &rounded(value.abs(), &measured.unit));
            return lead(text(pair.mean), pair.interval, &text);
        }
        if middle >= TWICE {
            let text = |ratio: f64| format!("{}×", decimal(ratio, usize::from(middle < 10.0)));
            return lead(text(middle), ratio, &text);
        }
        let half = ratio.map_or(0.0, |it| it.half_width() * 100.0);
        let places = if half > 0.0 { decimals_for_error(half).min(2) } else { 1 };
        let text = |ratio: f64| {
            let percent = (ratio - 1.0) * 100.0;
            signed(percent, &format!("{} %", decimal(percent.abs(), places)))
        };
        lead(text(middle), ratio, &text)
    }
}

/// Certain at single levels of the factor with the largest interaction: another level than the
/// overall best, or a best level where the overall comparison is tied.
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
        (false, true) => format!(" Exceptions by {by}: {}.", and(&sure)),
        (false, false) => format!(" By {by}, the best is {}.", and(&sure)),
    }
}

/// With three figures.
fn rounded(value: f64, unit: &str) -> String {
    let size = if value == 0.0 { 0.0 } else { value.abs().log10().floor() };
    let places = (2.0 - size).clamp(0.0, 4.0) as usize;
    let whole = value.fract() == 0.0;
    format!("{} {unit}", decimal(value, if whole { 0 } else { places })).trim_end().to_owned()
}

/// The first names.
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
