//! What is as good as the best level, or good in another way.

use tcplab_results::Run;
use tcplab_results::comparison::{Comparison, Outcome};
use tcplab_units::rounded::counted;

use super::arrivals::MOST_NAMED;
use super::measure::{Factor, distinct, name_of_measure};
use super::scatter::Scatter;
use crate::compared::threshold;
use crate::title::short;

/// Of more cases the report tells.
const MOST_CASES: usize = 4;

/// Where the scenario's first plot sets two metrics against each other: the levels of its factor
/// `key` that no other beats in both. None where all are, or there are too many cases.
pub(super) fn unbeaten(run: &Run, key: &str) -> Option<String> {
    let plot = run.plots.first().filter(|plot| plot.over == key)?;
    let against = plot.other_measure()?;
    let scatter = Scatter::of(run, plot, against)?;
    let found = scatter.unbeaten(plot);
    let is_all = |at: usize| scatter.each[at].1.len() == found[at].1.len();
    if found.len() > MOST_CASES || (0..found.len()).all(is_all) {
        return None;
    }
    // Cases in which no level is beaten stand together.
    let (all, some): (Vec<usize>, Vec<usize>) = (0..found.len()).partition(|at| is_all(*at));
    let part = |at: usize| {
        let (common, names) = (found[at].0, found[at].1.join(", "));
        if found.len() > 1 { format!("{names} at {common}") } else { names }
    };
    let mut parts: Vec<String> = some.into_iter().map(part).collect();
    if !all.is_empty() {
        let all: Vec<&str> = all.into_iter().map(|at| found[at].0).collect();
        parts.push(format!("all at {}", all.join(", ")));
    }
    let [up, across] = [plot.measure(), against].map(name_of_measure);
    let (key, parts) = (short(key), parts.join("; "));
    Some(format!("Unbeaten {key} in {up} and {across} together: {parts}."))
}

/// The name of a case in a list: that of several levels in brackets.
fn apart(case: &str) -> String {
    if case.contains(", ") && !case.contains('[') { format!("({case})") } else { case.to_owned() }
}

/// Which levels are equivalent to the best, in each case, or of many cases in all: of ordered
/// levels the smallest, unless that is the best itself. None where there is none.
pub(super) fn equivalents(found: &[Comparison], factor: &Factor, best: &str) -> Option<String> {
    let rows = || found.iter().flat_map(|it| it.rows.iter().map(move |row| (it, row)));
    let cases = distinct(found.iter().flat_map(|it| &it.cases).map(|case| case.name.as_str()));
    let threshold = threshold(rows().next()?.1);
    let is_equivalent = |level: &str, case: &str| {
        rows().any(|(of, row)| {
            let is_equivalent = matches!(row.outcome, Outcome::Equivalent { .. });
            of.sides[0].label == level && row.case == case && is_equivalent
        })
    };
    let chosen = |is_one: &dyn Fn(&str) -> bool| -> Vec<&str> {
        let levels = factor.levels.iter().map(String::as_str);
        if factor.is_numeric {
            levels
                .take_while(|level| *level != best)
                .find(|level| is_one(level))
                .into_iter()
                .collect()
        } else {
            levels.filter(|level| is_one(level)).collect()
        }
    };
    let equivalent = |case: &str| chosen(&|level| is_equivalent(level, case));
    let all: Vec<(&str, Vec<&str>)> = cases.iter().map(|case| (*case, equivalent(case))).collect();
    let some: Vec<&(&str, Vec<&str>)> = all.iter().filter(|(_, some)| !some.is_empty()).collect();
    let (_, first) = some.first()?;
    let is_same = some.len() == all.len() && some.iter().all(|(_, levels)| levels == first);
    let named = |levels: &[&str]| match levels.len() {
        many if many <= MOST_NAMED => levels.join(", "),
        many if many + 1 == factor.levels.len() => "all others".into(),
        many => format!("{many} others"),
    };
    let levels = match is_same {
        true => named(first),
        false if some.len() > MOST_CASES => {
            let in_all = chosen(&|level| cases.iter().all(|case| is_equivalent(level, case)));
            let count = counted(cases.len(), "case", "cases");
            in_all.first().map(|_| format!("{} in all {count}", named(&in_all)))?
        }
        false => {
            let part = |(case, levels): &&(&str, Vec<&str>)| {
                format!("{} at {}", named(levels), apart(case))
            };
            some.iter().map(part).collect::<Vec<_>>().join("; ")
        }
    };
    let which = if factor.is_numeric { "The smallest that is equivalent" } else { "Equivalent" };
    Some(format!("{which} (within {threshold}): {levels}."))
}
