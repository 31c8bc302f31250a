//! What is less than perfect about a trial.

use tcplab_results::Trial;

/// What is wrong with a trial, the gravest first.
pub(crate) fn less_than_perfect(trial: &Trial) -> Vec<String> {
    let mut told: Vec<String> = trial.flaws.iter().map(|flaw| format!("flawed: {flaw}")).collect();
    match trial.put_aside {
        0 => {}
        1 => told.push("it was flawed, put aside and run again once".into()),
        times => told.push(format!("it was flawed, put aside and run again {times} times")),
    }
    told.extend(trial.warnings.iter().cloned());
    told
}
