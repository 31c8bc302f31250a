//! What else differs between two runs, or is less than perfect about them.

use crate::{Case, Run, RunWorld, World};
use tcplab_scenario::MetricKind;
use tcplab_stats::{OUTLIER, Trend, modified_z_scores, outliers};
use tcplab_units::rounded::counted;
use tcplab_units::visible_line;

use super::sides::Matched;

/// At most this many differing lines of two scenarios are shown.
const LINES: usize = 6;
/// What of the environment is never the same.
const FLEETING: [&str; 1] = ["load at the start"];

/// What two runs do not have in common, a sentence each.
pub(super) fn of_runs(a: &Run, b: &Run) -> Vec<String> {
    let mut differences = Vec::new();
    let mut differ = |what: &str, a: &str, b: &str| {
        if a != b {
            differences.push(format!("{what} differs: A {a}, B {b}"));
        }
    };
    differ("the scenario's name", &a.name, &b.name);
    differ("the world", a.world.name(), b.world.name());
    if a.seed != b.seed {
        differences.push(format!(
            "the seeds differ (A {}, B {}): trials are compared as independent samples, which takes \
             more of them than pairs of the same seed",
            a.seed, b.seed
        ));
    }
    differences.extend(scenario_lines(a, b));
    if a.path != b.path {
        differences.push("the paths differ: see the scenarios".into());
    }
    let value = |run: &Run, name: &str| -> Option<String> {
        run.environment.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone())
    };
    let names = a.environment.iter().chain(&b.environment).map(|(name, _)| name.as_str());
    let mut seen: Vec<&str> = Vec::new();
    // In virtual time the machine decides nothing, but what ran there does.
    let is_virtual = a.world == RunWorld::Simulated && b.world == RunWorld::Simulated;
    let names = names.filter(|name| !FLEETING.contains(name));
    let decides = |name: &str| name.starts_with("tcplab") || name.ends_with(" in virtual time");
    for name in names.filter(|name| !is_virtual || decides(name)) {
        if seen.contains(&name) {
            continue;
        }
        seen.push(name);
        let [x, y] = [a, b].map(|run| value(run, name).unwrap_or_else(|| "nothing".into()));
        if x != y {
            differences.push(format!("{name} differs: A {x}, B {y}"));
        }
    }
    differences
}

/// The lines that only one of two scenarios has.
fn scenario_lines(a: &Run, b: &Run) -> Option<String> {
    let lines = |run: &Run| -> Vec<String> {
        let lines = run.scenario.lines().map(|line| {
            let code = line.split_once(" #").map_or(line, |(code, _)| code);
            code.split_whitespace().collect::<Vec<_>>().join(" ")
        });
        lines.filter(|line| !line.is_empty() && !line.starts_with('#')).collect()
    };
    let [of_a, of_b] = [a, b].map(lines);
    let only = |some: &[String], others: &[String]| -> String {
        let alone: Vec<&String> = some.iter().filter(|line| !others.contains(line)).collect();
        let shown: Vec<String> = alone.iter().take(LINES).map(|line| format!("`{line}`")).collect();
        match (shown.len(), alone.len() - shown.len()) {
            (0, _) => "nothing of its own".into(),
            (_, 0) => shown.join(" "),
            (_, more) => format!("{} and {more} more lines", shown.join(" ")),
        }
    };
    (of_a != of_b).then(|| {
        format!("the scenarios differ: A has {}, B has {}", only(&of_a, &of_b), only(&of_b, &of_a))
    })
}

/// Warnings of cases as sentences, those that several cases share once.
pub(super) fn together(warnings: Vec<(String, String)>) -> Vec<String> {
    let mut groups: Vec<(String, Vec<String>)> = Vec::new();
    for (case, what) in warnings {
        match groups.iter_mut().find(|(known, _)| *known == what) {
            Some((_, cases)) => cases.push(case),
            None => groups.push((what, vec![case])),
        }
    }
    let sentence = |(what, cases): (String, Vec<String>)| match &cases[..] {
        [one, two, _, ..] => {
            format!("{one}, {two} and {} more cases: {what}", cases.len() - 2)
        }
        few => format!("{}: {what}", few.join(", ")),
    };
    groups.into_iter().map(sentence).collect()
}

/// What is less than perfect about a case, on either side. Of two levels of a factor that sets
/// stacks, these are what is asked about; runs of two worlds are warned of as runs.
pub(super) fn of_case(
    matched: &Matched<'_>,
    metrics: &[&tcplab_scenario::MetricInfo],
    is_of_levels: bool,
    is_one_world: bool,
) -> Vec<String> {
    let mut warnings = Vec::new();
    let Matched { a, b, .. } = matched;
    if a.world != b.world && is_one_world {
        warnings.push(format!("A ran in the world of {}, B in that of {}", a.world, b.world));
    }
    let stacks = |case: &Case| -> Vec<String> {
        case.stacks.iter().map(|stack| format!("{} {stack}", stack.end)).collect()
    };
    if !is_of_levels && a.world == b.world && stacks(a) != stacks(b) {
        let [x, y] = [a, b].map(|case| stacks(case).join(", "));
        warnings.push(format!("the stacks differ: A {x}; B {y}"));
    }
    for (side, case) in [("A", a), ("B", b)] {
        warnings.extend(failed(side, case));
        let flawed = case.trials.iter().filter(|trial| !trial.flaws.is_empty()).count();
        if flawed > 0 {
            let all = case.trials.len();
            warnings.push(format!("the path misbehaved in {flawed} of {all} trials of {side}"));
        }
        // What virtual time draws is what the path is like; there is nothing beside it to blame.
        if case.world == World::Simulated {
            continue;
        }
        for info in metrics.iter().filter(|info| is_measured(info)) {
            let values = values(case, info);
            warnings.extend(disturbed(&format!("{} of {side}", info.name), &values));
        }
    }
    warnings
}

/// Trials without a result. What is compared are the others, and it may be the hard ones that fail.
fn failed(side: &str, case: &Case) -> Option<String> {
    let first = case.failures.first()?;
    let (count, all) = (case.failures.len(), case.count());
    let (are, them) = if count == 1 { ("is", "it") } else { ("are", "them") };
    let reason = visible_line(&first.reason);
    Some(format!(
        "{count} of {} of {side} failed ({reason}) and {are} left out: without {them} {side} may \
         look better than it is",
        counted(all, "trial", "trials")
    ))
}

/// Whether a metric is a measured amount, and not a count.
fn is_measured(info: &tcplab_scenario::MetricInfo) -> bool {
    info.kind == MetricKind::Number && !matches!(info.unit, "" | "segments" | "bytes")
}

fn values(case: &Case, info: &tcplab_scenario::MetricInfo) -> Vec<f64> {
    case.trials.iter().filter_map(|trial| trial.metrics.value(info)).collect()
}

/// As hyperfine warns: a first trial far from all others, outliers; and a drift over the run.
fn disturbed(what: &str, values: &[f64]) -> Option<String> {
    let first = modified_z_scores(values).first().is_some_and(|score| *score > OUTLIER);
    let far = outliers(values);
    if first && far.len() == 1 {
        return Some(format!(
            "{what} of the first trial is far above all others: caches or a device may have been \
             cold; a warm-up would help"
        ));
    }
    if !far.is_empty() {
        return Some(format!(
            "{what} has {} far from the others (more than ten standard deviations): something else \
             may have been at work on the machine",
            if far.len() == 1 { "one outlier".into() } else { format!("{} outliers", far.len()) }
        ));
    }
    let trend = Trend::of(values).filter(|trend| trend.p < DRIFTS)?;
    Some(format!(
        "{what} drifts from trial to trial, by {:.3} each (Mann-Kendall, p = {:.4}): the machine \
         did not stay as it was",
        trend.slope, trend.p
    ))
}

/// A drift is reported when it is surer than this: each metric of each case is asked.
const DRIFTS: f64 = 0.001;
