//! Which trials belong together, and their values.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use tcplab_scenario::MetricInfo;

use super::sides::Matched;
use crate::comparison::ComparedCase;
use crate::{Case, Trial, World};

/// A trial's number and its value.
pub(super) type Numbered = (u32, f64);

/// The values of a metric.
pub(super) enum Values {
    /// Of both sides, in pairs where there are any.
    Both([Vec<Numbered>; 2]),
    /// None that could be compared, and why.
    Apart(&'static str),
    /// Neither side has any.
    None,
}

/// Which trials of a case belong together.
pub(super) fn compared(case: &Matched<'_>) -> ComparedCase {
    let Matched { name, a, b, .. } = case;
    let mut of_b: BTreeMap<u64, VecDeque<u32>> = BTreeMap::new();
    for trial in &b.trials {
        of_b.entry(trial.seed).or_default().push_back(trial.number);
    }
    let (mut pairs, mut alone) = (Vec::new(), Vec::new());
    for trial in &a.trials {
        match of_b.get_mut(&trial.seed).and_then(VecDeque::pop_front) {
            Some(partner) => pairs.push([trial.number, partner]),
            None => alone.push(trial.seed),
        }
    }
    let rest = of_b.iter().filter(|(_, trials)| !trials.is_empty()).map(|(seed, _)| *seed);
    // Where few trials happen to have a partner, throwing the others away would cost more than
    // pairs gain.
    if lacks_partners(alone, b) && lacks_partners(rest, a) {
        pairs.clear();
    }
    ComparedCase {
        name: name.clone(),
        names: [a.name.clone(), b.name.clone()],
        is_virtual: a.world == World::Simulated && b.world == World::Simulated,
        pairs,
    }
}

/// Whether trials with these seeds have no partner in a case, not even one that failed.
fn lacks_partners(seeds: impl IntoIterator<Item = u64>, case: &Case) -> bool {
    let failed: BTreeSet<u64> = case.failures.iter().map(|failure| failure.seed).collect();
    seeds.into_iter().any(|seed| !failed.contains(&seed))
}

/// A warning that trials are no pairs, of runs with one seed.
pub(super) fn unmatched(case: &Matched<'_>, compared: &ComparedCase) -> Option<String> {
    (compared.pairs.is_empty() && case.has_trials()).then(|| {
        "too few trials of A and B have the same seeds: they are compared as independent samples, \
         which takes more of them than pairs"
            .into()
    })
}

/// The values of a metric on both sides.
pub(super) fn values(case: &Matched<'_>, compared: &ComparedCase, info: &MetricInfo) -> Values {
    let all = [case.a, case.b].map(|case| {
        let numbered = |trial: &Trial| Some((trial.number, trial.metrics.value(info)?));
        case.trials.iter().filter_map(numbered).collect::<Vec<Numbered>>()
    });
    match all.each_ref().map(Vec::is_empty) {
        [true, true] => return Values::None,
        [true, false] => return Values::Apart("A has none"),
        [false, true] => return Values::Apart("B has none"),
        [false, false] if compared.pairs.is_empty() => return Values::Both(all),
        [false, false] => {}
    }
    let [a, b] = all.map(|all| all.into_iter().collect::<BTreeMap<u32, f64>>());
    let pair = |[x, y]: &[u32; 2]| Some(((*x, *a.get(x)?), (*y, *b.get(y)?)));
    let (a, b): (Vec<Numbered>, Vec<Numbered>) = compared.pairs.iter().filter_map(pair).unzip();
    if a.is_empty() { Values::Apart("no pair has both") } else { Values::Both([a, b]) }
}

/// A warning about trials that lack a metric.
pub(super) fn lacking(case: &Matched<'_>, info: &MetricInfo) -> Option<String> {
    let lacking = [("A", case.a), ("B", case.b)].map(|(side, case)| {
        let lacks = |trial: &&Trial| trial.metrics.value(info).is_none();
        (side, case.trials.iter().filter(lacks).count(), case.trials.len())
    });
    let missing_of = |(side, lacking, all): &(&str, usize, usize)| match lacking {
        0 => None,
        all_of_them if all_of_them == all => Some(format!("{side} has none")),
        some => Some(format!("{some} of {all} trials of {side} have none")),
    };
    let has_any = |(_, lacking, all): &(&str, usize, usize)| lacking < all;
    let missing: Vec<String> = lacking.iter().filter_map(missing_of).collect();
    // What neither side has is not missed.
    (lacking.iter().any(has_any) && !missing.is_empty())
        .then(|| format!("{}: {}; what is missing is left out", info.name, missing.join(", ")))
}
