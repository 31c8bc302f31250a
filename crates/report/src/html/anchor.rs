//! Where on a run's page something is.

/// The id of a case, a trial or an episode on the page.
pub(crate) fn anchor(case: usize, trial: Option<u32>, episode: Option<usize>) -> String {
    let mut id = format!("case-{}", case + 1);
    if let Some(trial) = trial {
        id = format!("{id}-trial-{trial}");
    }
    if let Some(episode) = episode {
        id = format!("{id}-episode-{episode}");
    }
    id
}
