//! Which case of B belongs to which of A.

use tcplab_units::visible_line;

use crate::{Case, Run};

use super::error::CompareError;

/// A case on both sides.
pub(super) struct Matched<'a> {
    /// What both have in common.
    pub(super) name: String,
    pub(super) a: &'a Case,
    pub(super) b: &'a Case,
    /// The cases of which each is one trial here; nothing where trials are trials.
    pub(super) parts: Vec<Matched<'a>>,
}

impl<'a> Matched<'a> {
    pub(super) fn new(name: String, a: &'a Case, b: &'a Case) -> Matched<'a> {
        Matched { name, a, b, parts: Vec::new() }
    }

    /// What was run: itself, or its parts.
    pub(super) fn parts(&self) -> &[Matched<'a>] {
        if self.parts.is_empty() { std::slice::from_ref(self) } else { &self.parts }
    }

    /// Whether each side has trials.
    pub(super) fn has_trials(&self) -> bool {
        [self.a, self.b].iter().all(|case| !case.trials.is_empty())
    }
}

/// What was matched, and what was not, in sentences.
pub(super) struct Matching<'a> {
    pub(super) cases: Vec<Matched<'a>>,
    /// Cases of A that B should have, too.
    pub(super) lost: Vec<&'a Case>,
    pub(super) left_out: Vec<String>,
}

/// By equal levels, or else by equal names, or else because each run has but one.
pub(super) fn of_runs<'a>(a: &'a Run, b: &'a Run) -> Result<Matching<'a>, CompareError> {
    let mut rest: Vec<&Case> = b.cases.iter().collect();
    let mut cases = Vec::new();
    let mut left_out = Vec::new();
    let mut alone = Vec::new();
    for case in &a.cases {
        let same_levels = rest.iter().position(|other| same(&case.levels, &other.levels));
        let found = same_levels
            .filter(|_| !case.levels.is_empty())
            .or_else(|| rest.iter().position(|other| other.name == case.name));
        match found {
            Some(place) => {
                let other = rest.remove(place);
                cases.push(Matched::new(case.name.clone(), case, other));
            }
            None => alone.push(case),
        }
    }
    if let ([case], [other], true) = (&alone[..], &rest[..], cases.is_empty()) {
        left_out.push(format!(
            "the cases are called differently, `{}` and `{}`: compared all the same, for there are \
             no others",
            case.name, other.name
        ));
        let name = format!("{} / {}", case.name, other.name);
        let cases = vec![Matched::new(name, case, other)];
        return Ok(Matching { cases, lost: Vec::new(), left_out });
    }
    if cases.is_empty() {
        let names = |run: &Run| run.cases.iter().map(|case| case.name.clone()).collect();
        return Err(CompareError::NoCases { a: names(a), b: names(b) });
    }
    for (side, cases) in [("A", &alone), ("B", &rest)] {
        if !cases.is_empty() {
            let names: Vec<&str> = cases.iter().map(|case| case.name.as_str()).collect();
            left_out.push(format!("only {side} has {}: left out", names.join(", ")));
        }
    }
    Ok(Matching { cases, lost: alone, left_out })
}

/// Two levels of a factor, by its full name.
pub(super) struct Levels<'a> {
    pub(super) factor: String,
    pub(super) chosen: [String; 2],
    /// How many levels the factor has.
    pub(super) known: usize,
    pub(super) matched: Matching<'a>,
}

/// The cases of a run that differ in this factor alone.
pub(super) fn of_levels<'a>(
    run: &'a Run,
    asked: &str,
    levels: Option<[&str; 2]>,
) -> Result<Levels<'a>, CompareError> {
    let factor = factor(run, asked)?;
    let mut known: Vec<String> = Vec::new();
    for (_, level) in run.cases.iter().flat_map(|case| &case.levels).filter(|(f, _)| *f == factor) {
        if !known.contains(level) {
            known.push(level.clone());
        }
    }
    let unclear = |what: String, asked: Option<&str>| CompareError::Levels {
        what,
        asked: asked.map(str::to_owned),
        factor: factor.clone(),
        levels: known.clone(),
    };
    let chosen = match levels {
        Some(asked) => {
            if let Some(missing) = asked.iter().find(|level| !known.iter().any(|k| k == *level)) {
                let what = format!("`{factor}` has no level `{}`", visible_line(missing));
                return Err(unclear(what, Some(missing)));
            }
            if asked[0] == asked[1] {
                return Err(unclear("a level compared with itself is the same".into(), None));
            }
            asked.map(str::to_owned)
        }
        None => match &known[..] {
            [a, b] => [a.clone(), b.clone()],
            _ => return Err(unclear(format!("`{factor}` has {} levels", known.len()), None)),
        },
    };
    let of = |level: &str| -> Vec<&'a Case> {
        let has = |case: &&Case| case.levels.iter().any(|(f, l)| *f == factor && l == level);
        run.cases.iter().filter(has).collect()
    };
    let others = |case: &Case| -> Vec<(String, String)> {
        case.levels.iter().filter(|(f, _)| *f != factor).cloned().collect()
    };
    let (mut cases, mut left_out) = (Vec::new(), Vec::new());
    let theirs = of(&chosen[1]);
    for case in of(&chosen[0]) {
        let rest = others(case);
        match theirs.iter().find(|other| same(&rest, &others(other))) {
            Some(other) => {
                let levels: Vec<&str> = rest.iter().map(|(_, level)| level.as_str()).collect();
                let name = if levels.is_empty() { run.name.clone() } else { levels.join(", ") };
                cases.push(Matched::new(name, case, other));
            }
            None => left_out.push(format!("{} has no counterpart: left out", case.name)),
        }
    }
    if cases.is_empty() {
        let names = |level: &str| of(level).iter().map(|case| case.name.clone()).collect();
        return Err(CompareError::NoCases { a: names(&chosen[0]), b: names(&chosen[1]) });
    }
    // Not all levels of a factor need have all cases.
    let matched = Matching { cases, lost: Vec::new(), left_out };
    Ok(Levels { factor, chosen, known: known.len(), matched })
}

/// What varies in a run.
pub fn factors(run: &Run) -> Vec<String> {
    let mut factors: Vec<String> = Vec::new();
    for (factor, _) in run.cases.iter().flat_map(|case| &case.levels) {
        if !factors.contains(factor) {
            factors.push(factor.clone());
        }
    }
    factors
}

/// The factor's full name: as asked, or the only one that ends in these words.
fn factor(run: &Run, asked: &str) -> Result<String, CompareError> {
    let factors = factors(run);
    if factors.iter().any(|factor| factor == asked) {
        return Ok(asked.into());
    }
    let ending = format!(".{asked}");
    let mut ends = factors.iter().filter(|factor| factor.ends_with(&ending));
    match (ends.next(), ends.next()) {
        (Some(factor), None) => Ok(factor.clone()),
        _ => Err(CompareError::NoFactor { run: run.name.clone(), asked: asked.into(), factors }),
    }
}

/// Whether levels are the same, whatever their order.
fn same(some: &[(String, String)], others: &[(String, String)]) -> bool {
    some.len() == others.len() && some.iter().all(|level| others.contains(level))
}
