//! Which levels of a factor keep transfers from arriving.

use tcplab_results::{Run, Trial};
use tcplab_scenario::metrics;
use tcplab_units::rounded::counted;

use crate::title::short;

/// More levels are only counted.
const MOST_NAMED: usize = 5;

/// A level, its trials whose data arrived as sent, and all its trials.
type Arrived<'a> = (&'a str, usize, usize);

/// In how many trials the data arrived as sent, by the levels of the factor `key`; none where that
/// does not depend on the level, or is not known of every trial.
pub(crate) fn arrivals(run: &Run, key: &str) -> Option<String> {
    let mut levels: Vec<Arrived<'_>> = Vec::new();
    for case in &run.cases {
        let (_, level) = case.levels.iter().find(|(own, _)| own == key)?;
        let arrived = case.trials.iter().map(is_whole).collect::<Option<Vec<bool>>>()?;
        let at = levels.iter().position(|(known, ..)| known == level).unwrap_or_else(|| {
            levels.push((level, 0, 0));
            levels.len() - 1
        });
        levels[at].1 += arrived.iter().filter(|is_whole| **is_whole).count();
        levels[at].2 += arrived.len();
    }
    levels.retain(|(_, _, all)| *all > 0);
    let (_, arrived, all) = *levels.first()?;
    if levels.iter().all(|level| level.1 * all == arrived * level.2) {
        return None;
    }
    let (always, not): (Vec<_>, Vec<_>) =
        levels.into_iter().partition(|(_, whole, all)| whole == all);
    let always: Vec<&str> = always.into_iter().map(|(level, ..)| level).collect();
    let mut parts: Vec<String> = match always.len() {
        0 => vec![],
        1..=MOST_NAMED => vec![format!("in every trial with {}", always.join(", "))],
        many => vec![format!("in every trial with {many} levels")],
    };
    parts.extend(not.iter().take(MOST_NAMED).map(|(level, whole, all)| match whole {
        0 => format!("in none of {all} with {level}"),
        _ => format!("in {whole} of {all} with {level}"),
    }));
    if let more @ 1.. = not.len().saturating_sub(MOST_NAMED) {
        parts.push(format!("not in all with {}", counted(more, "other level", "other levels")));
    }
    Some(format!("By {}, the data arrive {}.", short(key), parts.join("; ")))
}

/// `payload_intact` is 1 or 0.
fn is_whole(trial: &Trial) -> Option<bool> {
    trial.metrics.value(metrics::PAYLOAD_INTACT).map(|value| value > 0.0)
}
