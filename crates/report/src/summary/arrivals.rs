//! Which levels of a factor keep trials from finishing, or transfers from arriving.

use tcplab_results::{Case, Run, Trial};
use tcplab_scenario::{MetricInfo, metrics};
use tcplab_units::rounded::counted;

use super::measure::level_of;
use crate::title::short;

/// More levels are only counted.
pub(super) const MOST_NAMED: usize = 5;

/// How many trials of a level did something, of all its trials.
struct Share<'a> {
    level: &'a str,
    some: usize,
    all: usize,
}

/// In how many trials the data arrived as sent, by the levels of the factor `key`; none where that
/// does not depend on the level, is not known, or [`unfinished`] says it.
pub(crate) fn arrivals(run: &Run, key: &str) -> Option<String> {
    let trials = || run.cases.iter().flat_map(|case| &case.trials);
    let has = |info: &'static MetricInfo| trials().any(|it| it.metrics.value(info).is_some());
    if !has(metrics::PAYLOAD_INTACT) || trials().any(|it| it.load.is_some() || it.has_datagrams()) {
        return None;
    }
    let is_timed = has(metrics::TRANSFER_TIME);
    let is_whole = |trial: &&Trial| {
        let value = |info| trial.metrics.value(info);
        // A transfer that was broken off has no time, though what was read may be what was sent.
        let is_over = !is_timed || value(metrics::TRANSFER_TIME).is_some();
        is_over && value(metrics::PAYLOAD_INTACT).is_some_and(|value| value > 0.0)
    };
    let arrived = |case: &Case| case.trials.iter().filter(is_whole).count();
    let arrived: Vec<usize> = run.cases.iter().map(arrived).collect();
    let finished = run.cases.iter().map(|case| case.trials.len());
    if finished.sum::<usize>() == arrived.iter().sum::<usize>() {
        return None;
    }
    let levels = shares(run, key, |index, _| arrived[index])?;
    let first = levels.first()?;
    if levels.iter().all(|level| level.some * first.all == first.some * level.all) {
        return None;
    }
    let (always, not): (Vec<_>, Vec<_>) =
        levels.into_iter().partition(|level| level.some == level.all);
    let always: Vec<&str> = always.into_iter().map(|it| it.level).collect();
    let mut parts: Vec<String> = match always.len() {
        0 => vec![],
        1..=MOST_NAMED => vec![format!("in every trial with {}", always.join(", "))],
        many => vec![format!("in every trial with {many} levels")],
    };
    parts.extend(alike(not.iter().take(MOST_NAMED).map(|Share { level, some, all }| {
        let (some, decided) = match some {
            0 => ("none".into(), String::new()),
            _ => (some.to_string(), decided(run, (key, level), &arrived)),
        };
        (format!("in {some} of {all}"), *level, decided)
    })));
    if let more @ 1.. = not.len().saturating_sub(MOST_NAMED) {
        parts.push(format!("not in all with {}", counted(more, "other level", "other levels")));
    }
    Some(format!("By {}, the data arrive {}.", short(key), parts.join("; ")))
}

/// Levels of which the same is said are named together.
fn alike<'a>(levels: impl Iterator<Item = (String, &'a str, String)>) -> Vec<String> {
    let mut together: Vec<(String, Vec<&str>, String)> = Vec::new();
    for (before, level, behind) in levels {
        match together.iter_mut().find(|it| it.0 == before && it.2 == behind) {
            Some((_, levels, _)) => levels.push(level),
            None => together.push((before, vec![level], behind)),
        }
    }
    let part = |(before, levels, behind): (String, Vec<&str>, String)| {
        let each = if levels.len() > 1 { " each" } else { "" };
        format!("{before}{each} with {}{behind}", levels.join(", "))
    };
    together.into_iter().map(part).collect()
}

/// Where the other factors decide what arrives with a level, the combinations with which nothing
/// does; `arrived` counts by case.
fn decided(run: &Run, (key, level): (&str, &str), arrived: &[usize]) -> String {
    let own = || run.cases.iter().zip(arrived).filter(|it| level_of(it.0, key) == Some(level));
    if own().any(|(case, arrived)| *arrived != 0 && *arrived != case.count()) {
        return String::new();
    }
    let none = own().filter(|(case, arrived)| **arrived == 0 && case.count() > 0);
    let others = none.map(|(case, _)| {
        let others = case.levels.iter().filter(|(other, _)| other != key);
        others.map(|(_, level)| level.as_str()).collect::<Vec<_>>().join(", ")
    });
    let others: Vec<String> = others.collect();
    if others.len() > MOST_NAMED {
        return String::new();
    }
    format!(" (not with {})", others.join("; "))
}

/// How many trials failed, such as `sndbuf 8 kB did not finish in 3 of 3 trials`: by the levels of
/// the factor that decides most about it, of equal ones the first; without regard to levels where
/// none does. None where no trial failed.
pub(crate) fn unfinished(run: &Run, keys: &[&str]) -> Option<String> {
    let failed = |case: &Case| case.failures.len();
    let some: usize = run.cases.iter().map(failed).sum();
    let all: usize = run.cases.iter().map(Case::count).sum();
    if some == 0 {
        return None;
    }
    let by = |key: &&str| Some((short(key), shares(run, key, |_, case| failed(case))?));
    let range = |levels: &[Share<'_>]| {
        let each = || levels.iter().map(|it| it.some as f64 / it.all as f64);
        each().fold(0.0, f64::max) - each().fold(1.0, f64::min)
    };
    let decisive = keys.iter().filter_map(by).filter(|(_, levels)| range(levels) > 0.0);
    let decisive =
        decisive.reduce(|one, other| if range(&other.1) > range(&one.1) { other } else { one });
    let Some((name, mut levels)) = decisive else {
        return Some(format!("{some} of {} did not finish", counted(all, "trial", "trials")));
    };
    levels.retain(|level| level.some > 0);
    levels.sort_by(|one, other| (other.some * one.all).cmp(&(one.some * other.all)));
    let (first, others) = levels.split_first()?;
    let (Share { level, some, all }, trials) = (first, counted(first.all, "trial", "trials"));
    let mut parts = vec![if some == all && *all == 1 {
        format!("{name} {level} did not finish in its one trial")
    } else {
        format!("{name} {level} did not finish in {some} of {trials}")
    }];
    let part = |it: &Share<'_>| format!("{} in {} of {}", it.level, it.some, it.all);
    parts.extend(others.iter().take(MOST_NAMED - 1).map(part));
    if let more @ 1.. = others.len().saturating_sub(MOST_NAMED - 1) {
        parts.push(format!("{} not always", counted(more, "other level", "other levels")));
    }
    Some(parts.join("; "))
}

/// By level, those with trials, failed ones counted; `some` counts in each case. None where a case
/// does not have the factor.
fn shares<'r>(
    run: &'r Run,
    key: &str,
    some: impl Fn(usize, &Case) -> usize,
) -> Option<Vec<Share<'r>>> {
    let mut levels: Vec<Share<'r>> = Vec::new();
    for (index, case) in run.cases.iter().enumerate() {
        let level = level_of(case, key)?;
        let at = levels.iter().position(|known| known.level == level).unwrap_or_else(|| {
            levels.push(Share { level, some: 0, all: 0 });
            levels.len() - 1
        });
        levels[at].some += some(index, case);
        levels[at].all += case.count();
    }
    levels.retain(|level| level.all > 0);
    Some(levels)
}
