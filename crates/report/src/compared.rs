//! A comparison in words.

use tcplab_results::comparison::{Comparison, Missing, Outcome, Row};
use tcplab_scenario::Better;
use tcplab_scenario::Threshold;
use tcplab_units::rounded::{counted, decimal, signed, with_unit};

use crate::title::title;

/// The name of a row's verdict. Of one trial `identical` says too much where another seed may
/// differ.
pub(crate) fn name_of(row: &Row) -> &'static str {
    match row.outcome {
        Outcome::Equivalent { identical: true } if row.trials() == [1, 1] && !row.is_exact => {
            SAME_IN_ONE
        }
        Outcome::Equivalent { identical: true } => IDENTICAL,
        other => other.name(),
    }
}

const IDENTICAL: &str = "identical";
const SAME_IN_ONE: &str = "the same in the one trial";

/// The outcome of a comparison, in a sentence or two.
pub fn sentence(found: &Comparison) -> String {
    let all = found.total();
    if found.rows.is_empty() {
        return format!("Nothing to compare.{}", missing(found));
    }
    let count = |name: &str| found.count(|verdict| verdict.name() == name);
    let (worse, better) = (count("worse"), count("better"));
    let (equivalent, different) = (count("equivalent"), count("different"));
    let inconclusive = count("inconclusive");
    let named = |name: &str| found.rows.iter().filter(|row| name_of(row) == name).count();
    let is_identical = |outcome: &Outcome| *outcome == Outcome::Equivalent { identical: true };
    let of = counted(all, "comparison", "comparisons");
    let first = |name: &str| {
        let row = found.rows.iter().find(|row| row.outcome.name() == name);
        row.map(|row| format!("{}, {}", about(row), change(row))).unwrap_or_default()
    };
    if found.count(is_identical) == all {
        if found.rows.iter().all(|row| name_of(row) == SAME_IN_ONE) {
            return format!("B is the same as A in the one trial, in {}.", one_or_all(all, &of));
        }
        return format!("B is identical to A in {}.", one_or_all(all, &of));
    }
    if equivalent == all {
        return format!("B is equivalent to A in {}.", one_or_all(all, &of));
    }
    let (mut head, mut rest) = (String::new(), Vec::new());
    if worse > 0 {
        head = format!("B is worse than A in {worse} of {of}; worst: {}", first("worse"));
    } else if different > 0 {
        head = format!("B differs from A in {different} of {of}; largest: {}", first("different"));
    } else if better > 0 {
        head = format!("B is better than A in {better} of {of}; largest: {}", first("better"));
    }
    let add = |rest: &mut Vec<String>, count: usize, what: &str| {
        if count > 0 {
            rest.push(format!("{what} in {count}"));
        }
    };
    if worse > 0 {
        add(&mut rest, different, "different");
    }
    if worse + different > 0 {
        add(&mut rest, better, "better");
    }
    // As the lines below the table name them.
    add(&mut rest, named("equivalent"), "equivalent");
    add(&mut rest, named(IDENTICAL), IDENTICAL);
    add(&mut rest, named(SAME_IN_ONE), "the same");
    if head.is_empty() {
        let others = [String::new()].into_iter().chain(rest).collect::<Vec<_>>().join(", ");
        let more = found.rows.iter().filter_map(|row| match row.outcome {
            Outcome::Inconclusive { more, .. } => Some((more, about(row))),
            _ => None,
        });
        let least = more.min().map_or_else(String::new, |(more, about)| {
            let (more, trials) = (many(more), trials_word(found, 2));
            format!(" {}{} {trials} needed for {about}.", more[..1].to_uppercase(), &more[1..])
        });
        let missing = missing(found);
        return format!("Inconclusive in {inconclusive} of {of}{others}.{least}{missing}");
    }
    add(&mut rest, inconclusive, "inconclusive");
    let rest =
        if rest.is_empty() { String::new() } else { format!(" Others: {}.", rest.join(", ")) };
    format!("{head}.{rest}{}", missing(found))
}

/// What a side consists of, in a word.
fn trials_word(found: &Comparison, count: usize) -> &'static str {
    match (found.is_over_cases, count) {
        (false, 1) => "trial",
        (false, _) => "trials",
        (true, 1) => "case",
        (true, _) => "cases",
    }
}

/// What could not be compared, in a sentence after others.
fn missing(found: &Comparison) -> String {
    let Some((first, rest)) = found.missing.split_first() else { return String::new() };
    let rest = if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) };
    format!(" Not compared: {} ({}){rest}.", about_missing(first), first.why)
}

/// Such as `transfer time of reno`.
fn about_missing(missing: &Missing) -> String {
    format!("{} of {}", title(&missing.metric), missing.case)
}

/// A line for each metric that could not be compared.
pub(crate) fn missing_lines(found: &Comparison) -> Vec<String> {
    let line = |it: &Missing| format!("inconclusive: {} ({})", about_missing(it), it.why);
    found.missing.iter().map(line).collect()
}

/// The verdicts counted, such as `after against before: 7 better, 2 worse, 9 equivalent`.
pub fn tally(found: &Comparison) -> String {
    let [a, b] = found.sides.each_ref().map(|side| side.label.as_str());
    format!("{b} against {a}: {}", counts(found))
}

/// The counts alone.
pub(crate) fn counts(found: &Comparison) -> String {
    let counted: Vec<String> =
        kinds(found).into_iter().map(|(count, kind)| format!("{count} {kind}")).collect();
    if counted.is_empty() {
        let why = found.warnings.first().map(|why| format!(", {why}")).unwrap_or_default();
        return format!("nothing to compare{why}");
    }
    counted.join(", ")
}

/// How many verdicts there are of each kind, of those that there are.
pub(crate) fn kinds(found: &Comparison) -> Vec<(usize, &'static str)> {
    const KINDS: [&str; 5] = ["better", "worse", "different", "equivalent", "inconclusive"];
    let count = |kind: &'static str| (found.count(|verdict| verdict.name() == kind), kind);
    KINDS.into_iter().map(count).filter(|(count, _)| *count > 0).collect()
}

/// The worst row, else the best, and how many trials would decide an inconclusive one.
pub(crate) fn remark(found: &Comparison) -> String {
    // Of each verdict the largest effect comes first.
    let of = |name: &'static str| found.rows.iter().filter(move |row| row.outcome.name() == name);
    let text = |which: &str, row: &Row| format!("{which}: {}, {}.", about(row), change(row));
    let worst = of("worse").next().map(|row| text("Worst", row));
    let extreme = worst.or_else(|| of("better").next().map(|row| text("Best", row)));
    let open = found.rows.iter().filter_map(|row| match row.outcome {
        Outcome::Inconclusive { more, .. } => Some((more, about(row))),
        _ => None,
    });
    let open = open.min().map(|(more, about)| {
        let which = match found.count(|it| matches!(it, Outcome::Inconclusive { .. })) {
            1 => "Inconclusive",
            _ => "First of the inconclusive ones",
        };
        let trials = trials_word(found, more);
        let side = if found.is_over_cases { "" } else { " per side" };
        format!("{which}: {about} ({} {trials}{side} needed).", many(more))
    });
    let missing = Some(missing(found).trim_start().to_owned()).filter(|it| !it.is_empty());
    extreme.into_iter().chain(open).chain(missing).collect::<Vec<_>>().join(" ")
}

fn one_or_all(all: usize, of: &str) -> String {
    if all == 1 { "the one comparison".into() } else { format!("all {of}") }
}

/// Such as `transfer time of reno`.
pub(crate) fn about(row: &Row) -> String {
    format!("{} of {}", title(&row.metric), row.case)
}

/// Such as `+12.3 %`.
pub(crate) fn change(row: &Row) -> String {
    match row.difference {
        // By the medians, which may say the opposite of the pairs.
        d if row.is_different() && d * row.effect < 0.0 && row.effect < 0.0 => {
            return "lower in some trials".into();
        }
        d if row.is_different() && d * row.effect < 0.0 => return "higher in some trials".into(),
        d if d != 0.0 => {}
        // Most trials are equal; the others differ in one direction.
        _ if row.is_different() && row.effect < 0.0 => return "lower in few trials".into(),
        _ if row.is_different() => return "higher in few trials".into(),
        _ => return "no difference".into(),
    }
    Notation::of(row).written(row, row.difference)
}

/// From here on a ratio is said as such, and no longer in percent.
const TWICE: f64 = 2.0;

/// How a row's change and the ends of its interval are written: all alike.
#[derive(Clone, Copy)]
enum Notation {
    /// `13.1×`, with so many decimals.
    Times(usize),
    /// `+12.3 %`.
    Percent(usize),
    /// In the metric's unit.
    Unit,
}

impl Notation {
    fn of(row: &Row) -> Notation {
        let Some(share) = row.relative(row.difference) else { return Notation::Unit };
        if share < TWICE - 1.0 {
            return Notation::Percent(if (share * 100.0).abs() < 10.0 { 2 } else { 1 });
        }
        let least = row.interval.and_then(|(low, _)| row.relative(low)).unwrap_or(share) + 1.0;
        Notation::Times(usize::from(least < 9.95) + usize::from(least < 0.995))
    }

    fn written(self, row: &Row, difference: f64) -> String {
        let share = row.relative(difference).unwrap_or_default();
        match self {
            Notation::Times(places) => format!("{}×", decimal(share + 1.0, places)),
            Notation::Percent(places) => {
                signed(share, &format!("{} %", decimal(share.abs() * 100.0, places)))
            }
            Notation::Unit => signed(difference, &in_unit(row, difference.abs())),
        }
    }
}

/// Shares differ by points.
fn in_unit(row: &Row, amount: f64) -> String {
    with_unit(amount, if row.unit == "%" { "points" } else { &row.unit })
}

/// What to think of a difference, in a few words; `found` has the row.
pub fn verdict(found: &Comparison, row: &Row) -> String {
    match row.outcome {
        Outcome::Worse => "worse".into(),
        Outcome::Better => "better".into(),
        Outcome::Different => "different".into(),
        Outcome::Equivalent { identical: true } => name_of(row).into(),
        Outcome::Equivalent { identical: false } => format!("equivalent within {}", threshold(row)),
        Outcome::Inconclusive { more, too_few: false } => {
            format!("inconclusive: {} needed", more_of(found, more))
        }
        Outcome::Inconclusive { more, too_few: true } => {
            let [a, b] = row.trials();
            let are = if row.is_paired && a == 1 { "is" } else { "are" };
            let have = if row.is_paired {
                counted(a, "pair", "pairs")
            } else {
                format!("{a} and {b} trials")
            };
            format!("inconclusive: {have} {are} too few; {} needed", more_of(found, more))
        }
    }
}

/// More than this many is only said to be more.
const MANY: usize = 9_999;

/// Such as `about 14 more`. Nobody runs so many that the last digit matters.
fn many(more: usize) -> String {
    if more > MANY {
        return "more than 10,000 more".into();
    }
    format!("about {} more", decimal(more as f64, 0))
}

/// Where cases are the pairs, such as `about 14 more cases`: more trials of these would not help.
fn more_of(found: &Comparison, more: usize) -> String {
    let which = found.is_over_cases.then(|| format!(" {}", trials_word(found, more)));
    many(more) + &which.unwrap_or_default()
}

pub(crate) fn threshold(row: &Row) -> String {
    match row.threshold {
        Threshold::Share(share) => short_percent(share),
        Threshold::Absolute(amount) => with_unit(amount, &row.unit),
    }
}

/// With as many decimals as the share has, at most nine.
fn short_percent(share: f64) -> String {
    let text = decimal(share * 100.0, 9);
    format!("{} %", text.trim_end_matches('0').trim_end_matches('.'))
}

/// With one or two decimals.
pub(crate) fn percent(share: f64) -> String {
    let value = share * 100.0;
    let decimals = if value.abs() < 10.0 { 2 } else { 1 };
    format!("{} %", decimal(value, decimals))
}

/// A's median, or that changed by the estimated difference.
pub(crate) fn estimate(row: &Row, side: usize) -> String {
    with_unit(row.estimates()[side], &row.unit)
}

/// B − A, rounded as both are.
pub(crate) fn difference(row: &Row) -> String {
    Notation::Unit.written(row, row.difference)
}

/// Where the change lies, in the terms of [`change`].
pub(crate) fn interval(row: &Row) -> String {
    if row.is_exact {
        return "exact".into();
    }
    let Some((low, high)) = row.interval else { return "too few trials".into() };
    let notation = Notation::of(row);
    format!("{} to {}", notation.written(row, low), notation.written(row, high))
}

pub(crate) fn signed_percent(share: f64) -> String {
    signed(share, &percent(share.abs()))
}

/// That such a difference is by chance, where chance has a part.
pub(crate) fn probability(row: &Row, p: f64) -> String {
    match p {
        _ if row.is_exact => "–".into(),
        p if p < 0.0001 => "< 0.0001".into(),
        p if p < 0.1 => decimal(p, 4),
        p => decimal(p, 2),
    }
}

/// The minimum detectable difference.
pub(crate) fn detectable(row: &Row) -> String {
    let Some(amount) = row.detectable else { return "–".into() };
    row.relative(amount).map_or_else(|| in_unit(row, amount), percent)
}

pub(crate) fn trials(row: &Row) -> String {
    let [a, b] = row.trials();
    if row.is_paired { counted(a, "pair", "pairs") } else { format!("{a} and {b}") }
}

pub(crate) fn good(row: &Row) -> &'static str {
    match row.better {
        Better::Lower => "lower is better",
        Better::Higher => "higher is better",
        Better::Neither => "no better direction",
    }
}

/// Rows without a difference, which tables leave out.
pub(crate) fn is_quiet(row: &Row) -> bool {
    matches!(row.outcome, Outcome::Equivalent { .. })
}

/// The quiet rows in a line: of each verdict the metrics, with the number of cases where that is
/// not one.
pub(crate) fn quiet(found: &Comparison) -> Vec<String> {
    let mut groups: Vec<(String, Vec<(String, usize)>)> = Vec::new();
    for row in found.rows.iter().filter(|row| is_quiet(row)) {
        let (verdict, metric) = (verdict(found, row), title(&row.metric));
        let place = groups.iter().position(|(known, _)| *known == verdict);
        let place = place.unwrap_or_else(|| {
            groups.push((verdict, Vec::new()));
            groups.len() - 1
        });
        match groups[place].1.iter_mut().find(|(known, _)| *known == metric) {
            Some((_, count)) => *count += 1,
            None => groups[place].1.push((metric, 1)),
        }
    }
    let one = |(metric, count): &(String, usize)| {
        if *count == 1 { metric.clone() } else { format!("{metric} ({count} cases)") }
    };
    let line = |(verdict, metrics): &(String, Vec<(String, usize)>)| {
        format!("{verdict}: {}", metrics.iter().map(one).collect::<Vec<_>>().join(", "))
    };
    groups.iter().map(line).collect()
}

pub(crate) fn side(found: &Comparison, index: usize) -> String {
    let side = &found.sides[index];
    match &found.by {
        Some(_) => side.label.clone(),
        None => format!("{} ({}, seed {})", side.label, side.scenario, side.seed),
    }
}
