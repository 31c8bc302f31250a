//! The analyser's findings in the sender's capture match the path's log.

use std::collections::BTreeMap;

use tcplab_path::Cause;

use crate::experiment::Recorded;
use crate::frames::Sent;

/// Every interruption that dropped data is one episode with exactly its losses, and there is no
/// other.
///
/// One exception, from `tcplab_trace`: an interruption that drops only retransmissions of an
/// episode lengthens that episode, as it does TCP's own recovery.
pub(crate) fn interruptions_are_episodes(trial: &Recorded<'_>) {
    let mut hit: BTreeMap<u64, Vec<Sent>> = BTreeMap::new();
    for (packet, cause) in trial.drops() {
        let Cause::Interruption { number, .. } = cause else {
            panic!("{}: frame {} was {cause}", trial.name(), packet.frame);
        };
        hit.entry(number).or_default().push(packet);
    }
    let mut expected: Vec<(u64, Vec<Sent>)> = Vec::new();
    for (number, packets) in hit {
        let repairs = |before: &[Sent]| {
            packets.iter().all(|p| p.again && before.iter().any(|b| b.start == p.start))
        };
        match expected.last_mut() {
            Some((_, before)) if repairs(before) => before.extend(packets),
            _ => expected.push((number, packets)),
        }
    }
    let expected: Vec<(u64, usize)> =
        expected.into_iter().map(|(number, packets)| (number, packets.len())).collect();
    let found: Vec<(u64, usize)> = trial
        .row
        .episodes
        .iter()
        .map(|episode| (episode.interruption.unwrap_or_default(), episode.lost_segments))
        .collect();
    assert_eq!(found, expected, "{}: (interruption, lost)", trial.name());
    for episode in &trial.row.episodes {
        assert_eq!(
            episode.truth_lost,
            Some(episode.lost_segments),
            "{}: {episode:?}",
            trial.name()
        );
        assert!(episode.repaired, "{}: {episode:?}", trial.name());
    }
}

/// All losses are found once, whatever their cause, and each was retransmitted.
pub(crate) fn losses_are_found(trial: &Recorded<'_>) {
    let lost = trial.drops().len();
    let found: usize = trial.row.episodes.iter().map(|episode| episode.lost_segments).sum();
    assert_eq!(found, lost, "{}: segments lost", trial.name());
    assert_eq!(trial.metric("lost") as usize, lost, "{}: the metric", trial.name());
    let again = trial.metric("retransmissions") as usize;
    assert!(again >= lost, "{}: {lost} lost, {again} retransmitted", trial.name());
}

/// Without losses the test would prove nothing.
pub(crate) fn something_was_lost(trials: &[Recorded<'_>]) {
    for trial in trials {
        assert!(!trial.drops().is_empty(), "{}: the path dropped nothing", trial.name());
    }
}
