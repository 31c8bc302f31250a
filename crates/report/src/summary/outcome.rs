//! The outcome of a run in a few sentences.

use tcplab_results::{Case, ClaimCounts, Run, Stopping, Width};
use tcplab_units::rounded::counted;

use super::recovery::{by_kind, has_connections, recovery};
use super::subject::part_of_each;
use super::worlds::headline;

/// What was run, which claims passed, how losses were recovered.
pub(crate) fn sentences(run: &Run) -> Vec<String> {
    let mut sentences = vec![headline(run)];
    sentences.extend(run.fallback.as_ref().map(|why| format!("{why}.")));
    sentences.extend(failures(run));
    sentences.extend(stopping(run));
    sentences.extend(claims(run));
    sentences.extend(episodes(run));
    sentences
}

/// Failed trials, which no figure includes.
pub(crate) fn failures(run: &Run) -> Option<String> {
    let failed: usize = run.cases.iter().map(|case| case.failures.len()).sum();
    let all: usize = run.cases.iter().map(Case::count).sum();
    let of: Vec<&str> = run
        .cases
        .iter()
        .filter(|case| !case.failures.is_empty())
        .map(|case| case.name.as_str())
        .collect();
    (failed > 0).then(|| {
        let verb = if failed == 1 { "is" } else { "are" };
        let failed = counted(failed, "trial", "trials");
        format!("{failed} of {all} failed and {verb} not counted ({}).", of.join(", "))
    })
}

/// Why the run stopped after this many trials, if it chose the number. A case without a value is
/// no reason to go on.
pub(crate) fn stopping(run: &Run) -> Option<String> {
    let Stopping { metric, ci, blocks, cases, .. } = run.stopping.as_ref()?;
    let has_value = |width: &&Width| {
        let case = run.cases.iter().find(|case| case.name == width.case);
        let mut trials = case.iter().flat_map(|case| &case.trials);
        trials.any(|trial| trial.metrics.value_named(metric).is_some())
    };
    let (open, unknown): (Vec<&Width>, Vec<&Width>) =
        cases.iter().filter(|case| !case.reached).partition(has_value);
    let unknown: Vec<&str> = unknown.iter().map(|case| case.case.as_str()).collect();
    let unknown = match unknown.len() {
        0 => String::new(),
        _ => format!("; of {} it is unknown", unknown.join(", ")),
    };
    let blocks = format!("{} of each case", counted(*blocks as usize, "trial", "trials"));
    Some(if !open.is_empty() {
        let width = |case: &&Width| {
            let share = case.share.map_or("unknown".into(), |it| format!("{:.1} %", it * 100.0));
            format!("{} {share}", case.case)
        };
        let open = open.iter().map(width).collect::<Vec<_>>().join(", ");
        format!("{blocks}, the maximum: {metric} is not yet known to ± {ci} ({open}){unknown}.")
    } else if cases.iter().any(|case| case.reached) {
        format!("{blocks}: {metric} is known to ± {ci}{unknown}.")
    } else {
        format!("{blocks}: {metric} has no value in any case.")
    })
}

/// How many claims passed, if there are any.
pub(super) fn claims(run: &Run) -> Option<String> {
    let counts = ClaimCounts::of(&run.claims);
    let judged = match (counts.all(), counts) {
        (0, _) => return None,
        (1, ClaimCounts { passed: 1, .. }) => "The claim passed.".to_string(),
        (1, ClaimCounts { failed: 1, .. }) => "The claim failed.".to_string(),
        (1, _) => return Some("The claim is not judged: it needs more trials.".into()),
        (all, ClaimCounts { passed, .. }) if passed == all => format!("All {all} claims passed."),
        (all, ClaimCounts { passed, failed: 0, .. }) => format!("{passed} of {all} claims passed."),
        (all, ClaimCounts { failed, .. }) => format!("{failed} of {all} claims failed."),
    };
    Some(match counts.not_judged {
        0 => judged,
        1 => format!("{judged} 1 is not judged: it needs more trials."),
        more => format!("{judged} {more} are not judged: they need more trials."),
    })
}

/// None where no trial counts.
fn episodes(run: &Run) -> Option<String> {
    let all = recovery(run);
    if run.cases.iter().all(|case| case.trials.is_empty()) {
        return None;
    }
    if !has_connections(run) {
        return Some("No TCP connection: the endpoints exchanged UDP datagrams.".to_string());
    }
    if all.episodes() == 0 {
        let on = part_of_each(run).map_or(String::new(), |part| format!(" on {part}"));
        return Some(format!("No losses to recover{on}{}.", of_those_that_count(run)));
    }
    let kinds: Vec<String> =
        by_kind(&all).into_iter().map(|(kind, n)| format!("{n} {kind}")).collect();
    let open = all.episodes() - all.repaired;
    let repaired = match open {
        0 => "all recovered".to_string(),
        open => format!("{open} never recovered"),
    };
    let of = part_of_each(run).map_or(String::new(), |part| format!(" of {part}"));
    Some(format!(
        "{}{of}: {}; {repaired}.",
        counted(all.episodes(), "recovery episode", "recovery episodes"),
        kinds.join(", "),
    ))
}

/// What follows "none": a trial that failed may have lost everything.
pub(crate) fn of_those_that_count(run: &Run) -> &'static str {
    let failed = run.cases.iter().any(|case| !case.failures.is_empty());
    if failed { " in the trials that count" } else { "" }
}
