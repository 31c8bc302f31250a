//! The outcome of a run in a few sentences.

use tcplab_results::{Case, Run, Stopping};

use super::recovery::{by_kind, has_connections, recovery};
use super::worlds::headline;
use crate::number::counted;

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
