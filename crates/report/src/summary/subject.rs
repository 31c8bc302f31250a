//! What the metrics and the recovery episodes of a run are of, where its trials have several
//! connections.

use std::collections::BTreeSet;

use tcplab_results::{Run, Trial, subject_flow};

/// Whose metrics a run's trials have, where there are flows.
pub(crate) fn flow_of_metrics(run: &Run) -> Option<String> {
    let flow = subject_flow(run)?;
    Some(format!("metrics of flow {flow}, the first that is not in the background"))
}

/// The connection of a trial whose episodes, findings and graphs there are, where it has several.
pub(crate) fn part(trial: &Trial) -> Option<String> {
    let of_flow = trial.subject_flow().map(|flow| match flow.connections.len() {
        1 => format!("flow {}", flow.name),
        _ => format!("the first connection of flow {}", flow.name),
    });
    of_flow.or_else(|| Some(format!("the first connection of {}", trial.connections?)))
}

/// That of each of a run's trials.
pub(crate) fn part_of_each(run: &Run) -> Option<String> {
    let trials = run.cases.iter().flat_map(|case| &case.trials);
    let mut parts: BTreeSet<Option<String>> = trials.map(part).collect();
    match parts.len() {
        0 | 1 => parts.pop_first().flatten(),
        _ => Some("the first connection of each trial".into()),
    }
}
