//! The answer of a run in a sentence.
//!
//! The rule: take the factor that the scenario's question names, else that of its first comparison.
//! Without one, take the factors that
//! a user can choose (those that do not change the path; all factors if there are no others), and
//! of these the one that explains most of the variance of the main metric. Hold its best level over
//! complete blocks against each other level, by the comparison that `tcplab compare RUN --by FACTOR
//! --levels OTHER,BEST` makes: the verdicts, estimates and intervals are those. Of several cases,
//! the largest effect is named. Where cases differ in conditions alone and have too few trials
//! each, the cases are the pairs (`--over-cases`). Where some levels ran on the kernel and others
//! as models, those of the world with more are compared: that a model differs from its kernel is
//! no answer to the run's question.
//!
//! Where the question asks for no number (`question_metric = "claims"`), its claims answer it.

use std::path::Path;

use tcplab_path::tc::quoted;
use tcplab_results::compare::{
    Asked, Metrics, compare_levels, compare_over_cases, factor_word, level_word,
};
use tcplab_results::comparison::{CONFIDENCE, Comparison, Outcome, Row};
use tcplab_results::{Case, Run, Summary};
use tcplab_scenario::{Better, CLAIMS, metrics};
use tcplab_stats::{Shift, VarianceShares};
use tcplab_units::rounded::{counted, decimal, decimals_for_error, decimals_of};

use super::alternatives::{equivalents, unbeaten};
use super::arrivals::{MOST_NAMED, arrivals, unfinished};
use super::measure::{Factor, Measured, level_of};
use super::outcome::claims;
use super::walks::walks;
use crate::compared::{change, estimate, interval, kinds, trials, verdict};
use crate::title::short;

/// More of the other levels are only counted.
const MOST_OTHERS: usize = 2;

/// The answer: which levels did not finish all their trials; with which the data arrive, where that
/// depends on them; then a sentence with the best level first. Where the question asks for no
/// number: what its claims are about, and how many of them passed.
pub(crate) fn answer(run: &Run, measured: &Measured, shares: Option<&VarianceShares>) -> String {
    let factor = answered_factor(run, measured, shares);
    let key = factor.map(|it| measured.factors[it].key.as_str());
    let found = match (claimed(run), factor) {
        (Some(claimed), _) => Found::Answer(claimed),
        (None, Some(factor)) => best_level(run, measured, shares, factor),
        (None, None) => Found::Answer(without_factors(measured)),
    };
    let before = key.map(|key| [before_verdict(run, key), unbeaten(run, key)]);
    let before: String = before.into_iter().flatten().flatten().map(|it| it + " ").collect();
    let others = measured.factors.iter().map(|it| it.key.as_str());
    let keys: Vec<&str> = key.into_iter().chain(others).collect();
    let unfinished = unfinished(run, &keys);
    match (found, unfinished) {
        (Found::Answer(found), None) => format!("{before}{found}"),
        (Found::Answer(found), Some(unfinished)) => {
            format!("{}. {before}{found}", capital(&unfinished))
        }
        (Found::Nothing(why), None) => format!("{before}No answer: {why}."),
        (Found::Nothing(why), Some(unfinished)) => {
            format!("No answer: {unfinished}; {why}. {before}").trim_end().to_owned()
        }
    }
}

/// The answer of a run none of whose trials has a number to judge by.
pub(super) fn without_metric(run: &Run) -> String {
    match (claimed(run), unfinished(run, &[])) {
        (Some(claimed), None) => claimed,
        (Some(claimed), Some(unfinished)) => format!("{}. {claimed}", capital(&unfinished)),
        (None, Some(unfinished)) => format!("No answer: {unfinished}."),
        (None, None) => String::new(),
    }
}

/// What depends on the level and comes first: whether the data arrive; where claims answer the
/// question, what they are about, of states of TCP and arrivals.
fn before_verdict(run: &Run, key: &str) -> Option<String> {
    let is_about = |keys: &[&str]| run.claims.iter().any(|claim| keys.contains(&claim.metric()));
    match claimed(run) {
        None => arrivals(run, key),
        Some(_) if is_about(&[metrics::STATE.name]) => walks(run, key),
        Some(_) if is_about(&[metrics::PAYLOAD_INTACT.name, metrics::APP_READ.name]) => {
            arrivals(run, key)
        }
        Some(_) => None,
    }
}

/// The answer where the question asks for no number: how many claims passed.
fn claimed(run: &Run) -> Option<String> {
    claims(run).filter(|_| run.question_metric.as_deref() == Some(CLAIMS))
}

/// What a comparison of levels came to.
enum Found {
    Answer(String),
    /// Why there is none.
    Nothing(String),
}

/// The best level against each other one.
fn best_level(
    run: &Run,
    measured: &Measured,
    shares: Option<&VarianceShares>,
    factor: usize,
) -> Found {
    let key = measured.factors[factor].key.as_str();
    let name = measured.title();
    let (with_values, without) = measured.with_values(factor);
    let first = measured.points.first().map(|it| rounded(it.value, &measured.unit));
    let first = first.unwrap_or_else(|| "–".into());
    if let [only] = &with_values.factors[factor].levels[..] {
        let value = if shares.is_none() { format!(" ({first})") } else { String::new() };
        return Found::Nothing(format!("only {} {only} has a {name}{value}", short(key)));
    }
    if shares.is_none() {
        let all = run.cases.iter().map(Case::count).sum::<usize>() == measured.points.len();
        let which = if all { "in every trial" } else { "in every trial that has one" };
        return Found::Answer(format!("No difference: {name} is {first} {which}."));
    }
    let (measured, of_other_world) = with_values.in_one_world(factor);
    let order = order(&measured, factor);
    let Some((best, others)) = order.split_first() else {
        return Found::Nothing(format!("no block of trials has every level of {}", short(key)));
    };
    let left_out = left_out(run, key, &name, &without) + &other_world(&of_other_world);
    let found = against_others(run, &measured, factor, (best, others));
    let most = format!("{} {name}", measured.superlative());
    if let Some(few) = too_few(&found, &format!("{} {best} has the {most}", short(key))) {
        return Found::Answer(format!("Not decided: {few}{left_out}"));
    }
    if !found.is_empty() && found.iter().all(are_identical) {
        let levels = of_levels(&measured.factors[factor]);
        let each = if found.iter().any(|it| it.total() > 1) { "case" } else { "trial" };
        let same = format!("{name} is identical in every {each} with {levels}");
        return Found::Answer(format!("No difference: {same}.{left_out}"));
    }
    let mut clauses: Vec<String> = found.iter().take(MOST_OTHERS).map(clause).collect();
    if let more @ 1.. = found.len().saturating_sub(MOST_OTHERS) {
        clauses.push(others_by(key, best, more));
    }
    let rows = || found.iter().flat_map(|it| &it.rows);
    let head = if rows().any(|row| row.outcome == Outcome::Worse) {
        format!("It depends on the case; on the whole the {most}:")
    } else if rows().any(shows_difference) && rows().any(may_be_worse) {
        format!("Not decided in every case; on the whole the {most}:")
    } else if rows().any(shows_difference) {
        capital(&most) + ":"
    } else if found.iter().all(is_equivalent) {
        format!("No relevant difference: {most}:")
    } else {
        // Nobody knows whose is best.
        format!("Not decided: {name} with")
    };
    let equivalents = equivalents(&found, &measured.factors[factor], best);
    let equivalents = equivalents.filter(|_| rows().any(shows_difference));
    let equivalents = equivalents.map(|it| format!(" {it}")).unwrap_or_default();
    let clauses = clauses.join("; ");
    Found::Answer(format!("{head} {} {best}; {clauses}.{equivalents}{left_out}", short(key)))
}

/// The best level against each other one as `tcplab compare` has it, the largest effect first.
fn against_others(
    run: &Run,
    measured: &Measured,
    factor: usize,
    (best, others): (&str, &[&str]),
) -> Vec<Comparison> {
    let key = measured.factors[factor].key.as_str();
    let metrics = Metrics::Named(vec![measured.info.name.into()]);
    let asked = Asked { metrics, ..Asked::default() };
    let are_conditions =
        measured.factors.iter().enumerate().all(|(it, of)| it == factor || of.is_condition);
    let against = |other: &&str| {
        let of = (Path::new("."), run);
        let by_case = compare_levels(of, key, Some([*other, best]), &asked).ok()?;
        let rows = || by_case.rows.iter();
        if are_conditions && rows().all(is_open) && rows().any(is_too_few) {
            let over_cases = compare_over_cases(of, key, Some([*other, best]), &asked).ok();
            let over_cases = over_cases.filter(|it| !it.rows.iter().any(is_too_few));
            return Some(over_cases.unwrap_or(by_case));
        }
        Some(by_case)
    };
    let mut found: Vec<Comparison> = others.iter().filter_map(against).collect();
    found.sort_by(|one, other| {
        let order = |it: &Comparison| (!is_asked(run, key, it), order_of(largest(it)));
        let ((not_asked, one), (other_not_asked, other)) = (order(one), order(other));
        not_asked.cmp(&other_not_asked).then(one.total_cmp(&other))
    });
    found
}

/// Which command compares so many more levels with the best.
fn others_by(key: &str, best: &str, more: usize) -> String {
    let more = counted(more, "other level", "other levels");
    let (factor, levels) = (quoted(factor_word(key)), format!("LEVEL,{}", level_word(best)));
    format!("{more} by `tcplab compare RUN --by {factor} --levels {}`", quoted(&levels))
}

/// Levels without a value, of which the answer has not said that all their trials failed.
fn left_out(run: &Run, key: &str, name: &str, without: &[String]) -> String {
    let has_trials = |level: &&String| {
        let mut of = run.cases.iter().filter(|case| level_of(case, key) == Some(level.as_str()));
        of.any(|case| !case.trials.is_empty())
    };
    let some: Vec<&str> = without.iter().filter(has_trials).map(String::as_str).collect();
    match &some[..] {
        [] => String::new(),
        some => format!(" Not compared, without a {name}: {}.", some.join(", ")),
    }
}

fn other_world(left_out: &[String]) -> String {
    match left_out {
        [] => String::new(),
        some => format!(" Not compared, as they ran in another world: {}.", some.join(", ")),
    }
}

/// What can be said where no comparison has trials enough: `which` seems to be the best. The
/// largest difference stands first.
fn too_few(found: &[Comparison], which: &str) -> Option<String> {
    if !found.iter().all(|it| it.rows.iter().all(is_open)) {
        return None;
    }
    // Where the best is the worse one, another case says why it is the best.
    let rows = found.iter().flat_map(|it| it.rows.iter().map(move |row| (it, row)));
    let rows = rows.filter(|(_, row)| is_too_few(row));
    let (of, row) = rows.min_by(|(_, one), (_, other)| {
        let order = |row: &Row| (!is_improved(row), order_of(Some(row)));
        let ((worse, one), (other_worse, other)) = (order(one), order(other));
        worse.cmp(&other_worse).then(one.total_cmp(&other))
    })?;
    let [other, best] = of.sides.each_ref().map(|side| &side.label);
    let at = if of.rows.len() > 1 { format!(" at {}", row.case) } else { String::new() };
    let (why, change) = (verdict(of, row).replacen("inconclusive: ", "", 1), change(row));
    // The best's estimate is not said, as nobody measured it: it is the other's median, shifted.
    let found = format!("{change} with {best}; {other} has {}", estimate(row, 0));
    Some(format!("{which}, but {why}. Largest difference{at}: {found}."))
}

/// Whether the scenario's first comparison of this factor is that of these levels.
fn is_asked(run: &Run, key: &str, found: &Comparison) -> bool {
    let first = run.comparisons.iter().find(|it| it.by.as_deref() == Some(key));
    let labels = |of: &Comparison| of.sides.each_ref().map(|side| side.label.clone());
    first.is_some_and(|first| labels(first).iter().all(|label| labels(found).contains(label)))
}

fn is_too_few(row: &Row) -> bool {
    matches!(row.outcome, Outcome::Inconclusive { too_few: true, .. })
}

/// Whether nothing but a lack of trials can be said of it.
fn is_open(row: &Row) -> bool {
    is_too_few(row) || row.outcome == (Outcome::Equivalent { identical: true })
}

/// Whether B is better as far as one sees.
fn is_improved(row: &Row) -> bool {
    if row.better == Better::Lower { row.difference < 0.0 } else { row.difference > 0.0 }
}

/// Whether B may be the worse one by more than the margin: as far as one sees it is, but more
/// trials are needed.
fn may_be_worse(row: &Row) -> bool {
    let is_inconclusive = matches!(row.outcome, Outcome::Inconclusive { .. });
    is_inconclusive && row.difference.abs() > row.margin && !is_improved(row)
}

fn is_identical(outcome: &Outcome) -> bool {
    *outcome == Outcome::Equivalent { identical: true }
}

fn are_identical(found: &Comparison) -> bool {
    found.total() > 0 && found.count(is_identical) == found.total()
}

fn shows_difference(row: &Row) -> bool {
    matches!(row.outcome, Outcome::Worse | Outcome::Better | Outcome::Different)
}

/// Whether all can be compared, and is equivalent.
fn is_equivalent(found: &Comparison) -> bool {
    found.count(|outcome| matches!(outcome, Outcome::Equivalent { .. })) == found.total()
}

/// Of the rows that show a difference, that with the largest effect; else of all.
fn largest(found: &Comparison) -> Option<&Row> {
    found.rows.iter().min_by(|one, other| order_of(Some(one)).total_cmp(&order_of(Some(other))))
}

/// The least first: what shows a difference before what does not, then the largest effect.
fn order_of(row: Option<&Row>) -> f64 {
    row.map_or(f64::INFINITY, |row| {
        // The inverse of the size is in ]0, 1].
        1.0 / (1.0 + row.size()) + if shows_difference(row) { 0.0 } else { 1.0 }
    })
}

/// The best level against another.
fn clause(found: &Comparison) -> String {
    let other = &found.sides[0].label;
    let Some(row) = largest(found) else { return format!("nothing to compare with {other}") };
    let a = estimate(row, 0);
    let is_identical = is_identical(&row.outcome);
    // Where there is chance, B's estimate is not said: beside each other level it is another one.
    let figures = match row.interval {
        _ if row.is_exact && is_identical => a,
        _ if row.is_exact => format!("{} instead of {a}, {}", estimate(row, 1), change(row)),
        _ if is_identical => format!("{a}; {}", trials(row)),
        Some(_) => {
            format!("{}, 95 % CI {}; {other} has {a}; {}", change(row), interval(row), trials(row))
        }
        None => format!("{}; {other} has {a}; {}", change(row), trials(row)),
    };
    let verdict = verdict(found, row).replacen("inconclusive: ", "inconclusive, ", 1);
    if found.rows.len() == 1 {
        return format!("against {other}: {verdict} ({figures})");
    }
    let (cases, case) = (in_cases(found), &row.case);
    if is_identical {
        return format!("against {other}: {cases}");
    }
    format!("against {other}: {cases}, largest at {case}: {verdict} ({figures})")
}

/// The verdicts in words, such as `better in 5 cases, equivalent in 1`.
fn in_cases(found: &Comparison) -> String {
    if are_identical(found) {
        return format!("identical in {}", counted(found.total(), "case", "cases"));
    }
    let counts = kinds(found).into_iter().enumerate().map(|(index, (count, kind))| match index {
        0 => format!("{kind} in {}", counted(count, "case", "cases")),
        _ => format!("{kind} in {count}"),
    });
    counts.collect::<Vec<_>>().join(", ")
}

/// A factor with its levels, or how many.
fn of_levels(factor: &Factor) -> String {
    let (key, levels) = (short(&factor.key), &factor.levels);
    match levels.len() {
        many if many <= MOST_NAMED => format!("{key} {}", levels.join(", ")),
        many => format!("all {many} levels of {key}"),
    }
}

/// The factor that the answer is about.
pub(super) fn answered_factor(
    run: &Run,
    measured: &Measured,
    shares: Option<&VarianceShares>,
) -> Option<usize> {
    asked_factor(run, measured).or_else(|| widest_factor(measured, shares))
}

/// The factor that the scenario names, else compares first.
fn asked_factor(run: &Run, measured: &Measured) -> Option<usize> {
    let compared = || run.comparisons.first()?.by.as_ref();
    let by = run.question_factor.as_ref().or_else(compared)?;
    measured.factors.iter().position(|factor| factor.key == *by)
}

/// Of the factors that a user can choose, the one that explains most.
fn widest_factor(measured: &Measured, shares: Option<&VarianceShares>) -> Option<usize> {
    let all = || measured.factors.iter().enumerate();
    let chosen: Vec<usize> = all().filter(|(_, it)| !it.is_condition).map(|(i, _)| i).collect();
    let candidates = if chosen.is_empty() { all().map(|(i, _)| i).collect() } else { chosen };
    let share = |index: &usize| shares.map_or(0.0, |it| it.mains[*index]);
    // Of equal ones the first.
    candidates.into_iter().rev().max_by(|one, other| share(one).total_cmp(&share(other)))
}

/// The levels of a factor, the best first: by how many others each is better than over complete
/// blocks, as estimated in the comparison (Hodges and Lehmann; where that is nothing, as most
/// blocks are equal, by the mean), so that both agree which of two is better; then by the mean.
fn order(measured: &Measured, factor: usize) -> Vec<&str> {
    let blocks = measured.blocks(factor);
    let levels = blocks.first().map_or(0, Vec::len);
    let sign = if measured.info.better == Better::Lower { -1.0 } else { 1.0 };
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len().max(1) as f64;
    let is_better = |one: usize, other: usize| -> bool {
        let apart: Vec<f64> = blocks.iter().map(|it| sign * (it[one] - it[other])).collect();
        let shift = Shift::of_pairs(&apart, CONFIDENCE).map_or(0.0, |shift| shift.estimate);
        if shift == 0.0 { mean(&apart) > 0.0 } else { shift > 0.0 }
    };
    let merit = |level: usize| {
        let wins = (0..levels).filter(|other| is_better(level, *other)).count();
        (wins, sign * mean(&blocks.iter().map(|block| block[level]).collect::<Vec<f64>>()))
    };
    let merits: Vec<(usize, f64)> = (0..levels).map(merit).collect();
    let mut order: Vec<usize> = (0..levels).collect();
    order.sort_by(|one, other| {
        let ((wins, mean), (other_wins, other_mean)) = (merits[*one], merits[*other]);
        other_wins.cmp(&wins).then(other_mean.total_cmp(&mean))
    });
    order.into_iter().map(|level| measured.factors[factor].levels[level].as_str()).collect()
}

/// The answer of a run that varies nothing.
fn without_factors(measured: &Measured) -> String {
    let values: Vec<f64> = measured.points.iter().map(|point| point.value).collect();
    let name = capital(&measured.title());
    let Some(summary) = Summary::of(measured.info, &values) else { return String::new() };
    let unit = if measured.unit.is_empty() { String::new() } else { format!(" {}", measured.unit) };
    match summary.interval {
        Some((low, high)) if high > low => {
            let places = decimals_for_error((high - low) / 2.0);
            let of = |value: f64| decimal(value, places).replace('-', "−");
            format!(
                "{name}: {}{unit} on average (95 % CI {} to {}, {}).",
                of(summary.mean),
                of(low),
                of(high),
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

/// With three figures.
fn rounded(value: f64, unit: &str) -> String {
    let whole = value.fract() == 0.0;
    format!("{} {unit}", decimal(value, if whole { 0 } else { decimals_of(value, 3.0) }))
        .trim_end()
        .to_owned()
}

/// With a capital letter.
pub(crate) fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|it| it.to_uppercase().collect::<String>()).unwrap_or_default()
        + letters.as_str()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_that_compares_the_others_can_be_pasted() {
        let said = |best| others_by("path.interruption.offset", best, 2);
        let command = "2 other levels by `tcplab compare RUN --by offset --levels";
        assert_eq!(said("reno"), format!("{command} LEVEL,reno`"));
        assert_eq!(said("10 ms"), format!("{command} 'LEVEL,10 ms'`"));
        assert_eq!(said("a, b"), format!("{command} 'LEVEL,\"a, b\"'`"));
    }
}
