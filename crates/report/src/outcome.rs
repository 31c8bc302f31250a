//! The outcome of a run in a few sentences.

use tcplab_lab::{Case, Recovery, Run, Stopping};

use crate::number::counted;
use crate::place::headline;

/// What was run, whether the claims held, how the losses were repaired.
pub(crate) fn sentences(run: &Run) -> Vec<String> {
    let mut sentences = vec![headline(run)];
    sentences.extend(run.fallback.as_ref().map(|told| format!("{told}.")));
    sentences.extend(failures(run));
    sentences.extend(stopping(run));
    sentences.extend(claims(run));
    sentences.push(episodes(run));
    sentences
}

/// That trials failed; they are in no number below.
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
        let failed = counted(failed, "trial", "trials");
        format!("{failed} of {all} failed and counts for nothing below ({}).", of.join(", "))
    })
}

/// Why there are so many trials, where that was found out.
pub(crate) fn stopping(run: &Run) -> Option<String> {
    let Stopping { metric, ci, blocks, cases, .. } = run.stopping.as_ref()?;
    let open: Vec<String> = cases
        .iter()
        .filter(|case| !case.reached)
        .map(|case| {
            let share = case.share.map_or("unknown".into(), |it| format!("{:.1} %", it * 100.0));
            format!("{} {share}", case.case)
        })
        .collect();
    let blocks = counted(*blocks as usize, "trial", "trials");
    Some(if open.is_empty() {
        format!("After {blocks} of each case {metric} is known to ± {ci}.")
    } else {
        let open = open.join(", ");
        format!(
            "After {blocks} of each case, the most allowed, {metric} is not known to ± {ci} \
             everywhere: {open}."
        )
    })
}

fn claims(run: &Run) -> Option<String> {
    let broken = run.claims.iter().filter(|claim| !claim.held).count();
    Some(match (run.claims.len(), broken) {
        (0, _) => return None,
        (1, 0) => "The scenario's claim held.".to_string(),
        (1, _) => "The scenario's claim did not hold.".to_string(),
        (all, 0) => format!("All {all} claims held."),
        (all, broken) => format!("{broken} of {all} claims did not hold."),
    })
}

fn episodes(run: &Run) -> String {
    let all = recovery(run);
    if !has_connections(run) {
        return "There was no TCP connection: the ends exchanged UDP datagrams.".to_string();
    }
    if all.episodes() == 0 {
        return "No packet of a transfer had to be recovered.".to_string();
    }
    let kinds: Vec<String> =
        by_kind(&all).into_iter().map(|(kind, n)| format!("{n} {kind}")).collect();
    let open = all.episodes() - all.repaired;
    let repaired = match open {
        0 => "every one was repaired".to_string(),
        open => format!("{open} never repaired"),
    };
    format!(
        "{}: {}; {repaired}.",
        counted(all.episodes(), "recovery episode", "recovery episodes"),
        kinds.join(", "),
    )
}

/// Whether any trial is not one of datagrams alone.
pub(crate) fn has_connections(run: &Run) -> bool {
    let mut trials = run.cases.iter().flat_map(|case| &case.trials).peekable();
    trials.peek().is_none() || trials.any(|trial| !trial.has_datagrams())
}

/// The recovery episodes of all variants.
pub(crate) fn recovery(run: &Run) -> Recovery {
    let mut all = Recovery::default();
    run.cases.iter().for_each(|case| all.add(&case.recovery()));
    all
}

/// How many episodes are of each type, in the paper's order, unknown names last.
pub(crate) fn by_kind(all: &Recovery) -> Vec<(&str, usize)> {
    let mut counts: Vec<(&str, usize)> =
        all.kinds.iter().map(|(kind, count)| (kind.as_str(), *count)).collect();
    counts.sort_by_key(|(kind, _)| rank(kind));
    counts
}

/// The types of "Experimental Analysis of TCP Behaviors against Bursty Packet Losses Caused by
/// Transmission Interruption", and the CSS class of each.
pub(crate) const KINDS: [(&str, &str); 3] =
    [("without time lag", "without"), ("with time lag", "with"), ("intermittent", "intermittent")];

fn rank(kind: &str) -> usize {
    KINDS.iter().position(|(name, _)| *name == kind).unwrap_or(KINDS.len())
}

/// The CSS class of a type.
pub(crate) fn kind_class(kind: &str) -> &'static str {
    KINDS.iter().find(|(name, _)| *name == kind).map_or("unknown", |(_, class)| class)
}

/// The path of a type's sign: a line that goes on, one with a gap, one in pieces.
pub(crate) fn icon(class: &str) -> &'static str {
    match class {
        "without" => "M2 4h20",
        "with" => "M2 4h6m9 0h5",
        "intermittent" => "M2 4h2m6 0h2m6 0h2",
        _ => "M10 4h4",
    }
}
