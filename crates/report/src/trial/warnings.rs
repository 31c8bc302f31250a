//! The warnings of a trial.

use tcplab_results::Trial;

/// What is wrong with a trial, the gravest first.
pub(crate) fn less_than_perfect(trial: &Trial) -> Vec<String> {
    let mut told: Vec<String> = trial.flaws.iter().map(|flaw| format!("flagged: {flaw}")).collect();
    match trial.put_aside {
        0 => {}
        1 => told.push("repeated once: the first attempt was flagged".into()),
        times => told.push(format!("repeated {times} times: earlier attempts were flagged")),
    }
    told.extend(trial.warnings.iter().cloned());
    told
}
