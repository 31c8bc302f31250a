//! What the formulas leave open.

use super::model::Law;
use super::rules::felt;
use super::situation::{Goal, Situation};
use super::words::percent;

/// What no formula says about this situation, and how to find it out; nothing where the
/// recommendations are all that there is.
pub fn unknown(situation: &Situation, goal: Goal) -> Option<String> {
    let fills_queue = goal.wants_latency() && felt(situation).is_some();
    if !goal.wants_throughput() && !fills_queue {
        return None;
    }
    let name = situation.congestion.name.as_deref();
    // Without loss and queue all those that have a formula do alike.
    if name.is_none() && situation.loss == 0.0 && !fills_queue {
        return None;
    }
    let (why, remedy) = match (name, Law::of(situation)) {
        (None, _) => {
            ("that of the sender is not known".to_owned(), "name it with `--congestion`".to_owned())
        }
        (Some(name), None) => (format!("there is no formula for {name}"), trials(situation, name)),
        (Some(name), Some(_)) if Law::Bbr.is_unknown(situation) && goal.wants_throughput() => {
            let loss = percent(situation.loss);
            (format!("there is no formula for BBR at {loss} loss"), trials(situation, name))
        }
        _ => return None,
    };
    Some(format!("Unknown whether another congestion control does better: {why}; {remedy}."))
}

/// How to try it against another.
fn trials(situation: &Situation, name: &str) -> String {
    let other = if name == "bbr" { "cubic" } else { "bbr" };
    format!(
        "trials can tell: a scenario with `\"{}\" = [\"{name}\", \"{other}\"]` in `[matrix]`",
        situation.congestion_key()
    )
}
