//! What the analyser finds in the sender's capture is what the path did.

use std::collections::BTreeMap;

use tcplab_path::Cause;

use crate::experiment::Recorded;

/// Every interruption that dropped something of the transfer is one episode with exactly its losses,
/// and there is no other.
///
/// One exception stands in `tcplab_trace`: an interruption that hits nothing but repetitions of what
/// an episode repairs lengthens that episode, as it does TCP's own recovery.
pub(crate) fn interruptions_are_episodes(trial: &Recorded<'_>) {
    let mut losses: BTreeMap<u64, (usize, bool)> = BTreeMap::new();
    for (packet, cause) in trial.drops() {
        let Cause::Interruption { number, .. } = cause else {
            panic!("{}: frame {} was {cause}", trial.name(), packet.frame);
        };
        let (lost, new_data) = losses.entry(number).or_default();
        *lost += 1;
        *new_data |= !packet.again;
    }
    let mut expected: Vec<(u64, usize)> = Vec::new();
    for (number, (lost, new_data)) in losses {
        match expected.last_mut() {
            Some((_, before)) if !new_data => *before += lost,
            _ => expected.push((number, lost)),
        }
    }
    let found: Vec<(u64, usize)> = trial
        .row
        .episodes
        .iter()
        .map(|episode| (episode.interruption.unwrap_or_default(), episode.lost_segments))
        .collect();
    assert_eq!(found, expected, "{}: (interruption, lost)", trial.name());
    for episode in &trial.row.episodes {
        assert_eq!(episode.truth_lost, episode.lost_segments, "{}: {episode:?}", trial.name());
        assert!(episode.repaired, "{}: {episode:?}", trial.name());
    }
}

/// Whatever took the packets, all losses are found, each once, and each was repaired by sending
/// again.
pub(crate) fn losses_are_found(trial: &Recorded<'_>) {
    let lost = trial.drops().len();
    let found: usize = trial.row.episodes.iter().map(|episode| episode.lost_segments).sum();
    assert_eq!(found, lost, "{}: segments lost", trial.name());
    assert_eq!(trial.metric("lost") as usize, lost, "{}: the metric", trial.name());
    let again = trial.metric("retransmissions") as usize;
    assert!(again >= lost, "{}: {lost} lost, {again} sent again", trial.name());
}

/// There is something to judge: a test that sees no loss proves nothing.
pub(crate) fn something_was_lost(trials: &[Recorded<'_>]) {
    for trial in trials {
        assert!(!trial.drops().is_empty(), "{}: the path dropped nothing", trial.name());
    }
}
