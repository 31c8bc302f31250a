//! The warnings of a trial.

use tcplab_results::Trial;

/// The worst first.
pub(crate) fn warnings_of(trial: &Trial) -> Vec<String> {
    let mut warnings: Vec<String> =
        trial.flaws.iter().map(|flaw| format!("flagged: {flaw}")).collect();
    match trial.put_aside {
        0 => {}
        1 => warnings.push("repeated once: the first attempt was flagged".into()),
        times => warnings.push(format!("repeated {times} times: earlier attempts were flagged")),
    }
    warnings.extend(trial.warnings.iter().cloned());
    warnings
}
