//! The warnings of a trial.

use tcplab_results::{Recovery, Trial};
use tcplab_units::rounded::{counted, grouped};

/// The worst first, that about lost segments last.
pub(crate) fn warnings_of(trial: &Trial) -> Vec<String> {
    let mut recovery = Recovery::default();
    recovery.count(&trial.episodes);
    let mut warnings = warnings_but_of_losses(trial);
    warnings.extend(losses_differ(&recovery));
    warnings
}

/// Where the analyser's lost segments are not the path's, in how many of the episodes.
pub(crate) fn losses_differ(recovery: &Recovery) -> Option<String> {
    let differing = recovery.differing;
    let all = counted(recovery.episodes(), "recovery episode", "recovery episodes");
    (differing.episodes > 0).then(|| {
        let found = recovery.lost_segments;
        let [some, wrong, missed, found] =
            [differing.episodes, differing.not_lost, differing.not_found, found]
                .map(|count| grouped(count as u64));
        format!(
            "in {some} of {all} the lost segments are not those of the path’s log: {wrong} of \
             {found} were not lost, {missed} not found"
        )
    })
}

/// All others.
pub(crate) fn warnings_but_of_losses(trial: &Trial) -> Vec<String> {
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
