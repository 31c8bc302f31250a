//! The number of trials with which a scenario's comparison can find anything, before it is run.

use tcplab_results::comparison::ALPHA;
use tcplab_scenario::{CLAIMS, Case, Compare, Scenario};
use tcplab_stats::{least_p_of_pairs, least_pairs};
use tcplab_units::rounded::counted;

/// Of the key metrics, those that vary between the trials of a transfer: its time,
/// retransmissions, timeouts and the mean RTT.
const USUAL: usize = 4;

/// Why `trials` of each of these cases decide nothing about a comparison, if they cannot: the
/// smallest probability that so many pairs have is too large even for the first metric alone, over
/// all combinations of the other levels.
pub(crate) fn undecidable(cases: &[Case], compare: &Compare, trials: u32) -> Option<String> {
    let (combinations, pairs) = (compare.combinations(cases), trials as usize);
    if combinations == 0 || least_p_of_pairs(pairs) <= ALPHA / combinations as f64 {
        return None;
    }
    let [first, second] = &compare.levels;
    let have = if trials == 1 { "1 pair".into() } else { format!("{trials} pairs") };
    Some(format!(
        "comparison of {second} against {first}: {have} of trials can show no difference, however \
         large; run {} trials of each case",
        deciding(combinations, compare)
    ))
}

/// Why `trials` of each case do not answer the scenario's question, where they cannot: a pair of
/// levels of its factor of which so many pairs of trials show no difference. Where all else is the
/// path, the cases are the pairs, if there are enough. `is_by_chance` says of which cases trials
/// differ.
pub(crate) fn unanswerable(
    scenario: &Scenario,
    is_by_chance: &dyn Fn(&Case) -> bool,
    trials: u32,
) -> Option<String> {
    let factor = asked_factor(scenario)?;
    let mut levels: Vec<&str> = Vec::new();
    for (_, level) in
        scenario.cases.iter().flat_map(|case| &case.levels).filter(|it| it.0 == factor)
    {
        if !levels.contains(&level.as_str()) {
            levels.push(level);
        }
    }
    let too_few = |pairs: usize, tests: usize| least_p_of_pairs(pairs) > ALPHA / tests as f64;
    let tests = |levels: [&str; 2]| {
        let pairs = pairs(&scenario.cases, factor, levels);
        let tests = pairs.iter().filter(|(one, other)| is_by_chance(one) || is_by_chance(other));
        let tests = tests.count();
        let is_path_alone = pairs.windows(2).all(|two| differ_in_path_alone(two[0].0, two[1].0));
        let by_cases = is_path_alone && !too_few(pairs.len(), 1);
        if tests > 0 && !by_cases && too_few(trials as usize, tests) { tests } else { 0 }
    };
    let each = levels
        .iter()
        .enumerate()
        .flat_map(|(index, first)| levels[index + 1..].iter().map(move |second| [*first, *second]));
    // Of equal ones the first.
    let failing = each.map(|levels| (tests(levels), levels)).filter(|(tests, _)| *tests > 0);
    let (tests, [first, second]) =
        failing.reduce(|most, it| if it.0 > most.0 { it } else { most })?;
    Some(format!(
        "question: {} of trials of {second} against {first} can show no difference, however large; \
         run {} trials of each case",
        counted(trials as usize, "pair", "pairs"),
        least_pairs(ALPHA / tests as f64)
    ))
}

/// The factor of a question that a number answers: the one that it names, or the only one; none
/// where the scenario compares its levels itself.
fn asked_factor(scenario: &Scenario) -> Option<&str> {
    scenario.question.as_ref().or(scenario.question_factor.as_ref())?;
    let is_claims = scenario.question_metric.as_deref() == Some(CLAIMS);
    let only = match &scenario.cases.first()?.levels[..] {
        [(only, _)] => Some(only),
        _ => None,
    };
    let asked = scenario.question_factor.as_ref().or(only).filter(|_| !is_claims)?;
    let is_compared = scenario.compares.iter().any(|it| it.factor == *asked);
    (!is_compared).then_some(asked)
}

/// The cases with these levels of a factor that differ in nothing else.
fn pairs<'c>(cases: &'c [Case], factor: &str, levels: [&str; 2]) -> Vec<(&'c Case, &'c Case)> {
    let has = |case: &Case, wanted: &str| {
        case.levels.iter().any(|(key, level)| key == factor && level == wanted)
    };
    let others = |case: &Case| -> Vec<(String, String)> {
        case.levels.iter().filter(|(key, _)| key != factor).cloned().collect()
    };
    let first = cases.iter().filter(|case| has(case, levels[0]));
    let pair = |one: &'c Case| {
        let second = |other: &&Case| has(other, levels[1]) && others(other) == others(one);
        Some((one, cases.iter().find(second)?))
    };
    first.filter_map(pair).collect()
}

fn differ_in_path_alone(one: &Case, other: &Case) -> bool {
    one.client == other.client
        && one.server == other.server
        && one.workload == other.workload
        && one.flows == other.flows
}

/// The number of trials with which each test of a comparison can show a difference, after the
/// correction for all of them (Holm).
fn deciding(combinations: usize, compare: &Compare) -> usize {
    let metrics = if compare.metrics.is_empty() { USUAL } else { compare.metrics.len() };
    least_pairs(ALPHA / (combinations * metrics) as f64)
}

#[cfg(test)]
mod tests {
    use tcplab_scenario::catalogue;

    use super::*;

    fn scenario(more: &str) -> Scenario {
        let source = format!(
            "title = \"t\"\n[path]\n[workload]\nupload = \"1 MB\"\n[matrix]\n\
             \"path.loss\" = [\"1 %\", \"2 %\", \"3 %\"]\n\
             \"client.socket.congestion\" = [\"reno\", \"cubic\"]\n\
             [[compare]]\nfactor = \"client.socket.congestion\"\n{more}"
        );
        Scenario::parse(&source, "t").unwrap()
    }

    /// 2⁻⁵ = 0.031 is above 0.05 / 3, 2⁻⁶ = 0.016 below; 2⁻⁷ = 0.0078 is below 0.05 / 6, and
    /// 2⁻⁸ = 0.0039 below 0.05 / 12.
    #[test]
    fn comparison_names_the_trials_that_can_decide() {
        for (metrics, trials, needed) in [
            ("metrics = [\"goodput\"]", 6, Some(7)),
            ("metrics = [\"goodput\"]", 7, None),
            ("metrics = [\"goodput\", \"mean_rtt\"]", 3, Some(8)),
            ("", 1, Some(9)),
        ] {
            let scenario = scenario(metrics);
            let found = undecidable(&scenario.cases, &scenario.compares[0], trials);
            assert_eq!(found.is_some(), needed.is_some(), "{metrics}, {trials}: {found:?}");
            if let (Some(found), Some(needed)) = (found, needed) {
                assert!(found.ends_with(&format!("; run {needed} trials of each case")), "{found}");
            }
        }
    }

    /// Three levels and two kinds of paths: 2⁻⁵ = 0.031 is above 0.05 / 2, 2⁻⁶ = 0.016 below. Where
    /// nothing is left to chance one trial answers, and where claims answer any number.
    #[test]
    fn question_names_the_trials_that_can_answer_it() {
        let scenario = |loss: &str, more: &str| {
            let source = format!(
                "title = \"t\"\nquestion = \"Which is fastest?\"\n\
                 question_factor = \"client.socket.congestion\"\n{more}\n\
                 [path]\n[workload]\nupload = \"1 MB\"\n[matrix]\n\"path.loss\" = [{loss}]\n\
                 \"client.socket.congestion\" = [\"reno\", \"cubic\", \"bbr\"]\n"
            );
            Scenario::parse(&source, "t").unwrap()
        };
        let two = scenario("\"1 %\", \"2 %\"", "");
        let is_bbr = |case: &Case| case.name.starts_with("loss=1%") && case.name.contains("bbr");
        assert!(two.cases.iter().any(is_bbr), "{:?}", two.cases[0].name);
        let six = scenario("\"1 %\", \"2 %\", \"3 %\", \"4 %\", \"5 %\", \"6 %\"", "");
        let claims = scenario("\"1 %\", \"2 %\"", "question_metric = \"claims\"");
        let check = |scenario, is_by_chance: &dyn Fn(&Case) -> bool, trials, said: Option<&str>| {
            let found = unanswerable(scenario, is_by_chance, trials);
            let is_said = said.is_none_or(|it| found.as_ref().is_some_and(|f| f.starts_with(it)));
            assert!(found.is_some() == said.is_some() && is_said, "{trials}: {found:?}");
        };
        let (all, none) = (|_: &Case| true, |_: &Case| false);
        check(&two, &all, 6, Some("question: 6 pairs of trials of cubic against reno"));
        check(&two, &all, 7, None);
        check(&two, &none, 1, None);
        check(&two, &is_bbr, 1, Some("question: 1 pair of trials of bbr against reno"));
        check(&two, &is_bbr, 6, None);
        check(&six, &all, 1, None);
        check(&claims, &all, 1, None);
        let found = unanswerable(&two, &all, 1).unwrap();
        assert!(found.ends_with("; run 7 trials of each case"), "{found}");
    }

    #[test]
    fn silent_scenario_has_enough_trials_to_decide() {
        let scenario = scenario("");
        assert_eq!(undecidable(&scenario.cases, &scenario.compares[0], scenario.trials), None);
        assert!(scenario.trials as usize >= deciding(3, &scenario.compares[0]));
    }

    #[test]
    fn comparisons_of_the_catalogue_can_be_decided() {
        let mut seen = 0;
        for (name, source) in catalogue() {
            let scenario = Scenario::parse(source, name).unwrap();
            for compare in &scenario.compares {
                let needed = deciding(compare.combinations(&scenario.cases), compare);
                assert!(scenario.trials as usize >= needed, "{name}: {needed}");
                seen += 1;
            }
        }
        assert!(seen >= 5, "{seen}");
    }
}
