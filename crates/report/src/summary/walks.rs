//! Which states of TCP the ends go through, by the levels of a factor.

use tcplab_results::{Case, Run, Trial};
use tcplab_units::rounded::counted;

use super::measure::level_of;
use crate::title::short;

/// More levels are only counted.
const MOST_NAMED: usize = 6;
/// From here on they differ.
const OPEN: &str = "ESTABLISHED";

/// The states of client and server once the connection is open, by the levels of the factor `key`;
/// none where the trials do not have two ends, or a case not the factor.
pub(crate) fn walks(run: &Run, key: &str) -> Option<String> {
    let mut levels: Vec<(&str, Option<String>)> = Vec::new();
    for case in &run.cases {
        let level = level_of(case, key)?;
        let walk = of_case(case);
        match levels.iter_mut().find(|(known, _)| *known == level) {
            None => levels.push((level, walk)),
            Some((_, known)) if *known != walk => *known = None,
            Some(_) => {}
        }
    }
    if levels.is_empty() || levels.iter().all(|(_, walk)| walk.is_none()) {
        return None;
    }
    let part = |(level, walk): &(&str, Option<String>)| {
        format!("{level}: {}", walk.as_deref().unwrap_or("not alike in all trials"))
    };
    let mut parts: Vec<String> = levels.iter().take(MOST_NAMED).map(part).collect();
    if let more @ 1.. = levels.len().saturating_sub(MOST_NAMED) {
        parts.push(counted(more, "other level", "other levels"));
    }
    Some(format!("States after {OPEN}, by {}: {}.", short(key), parts.join("; ")))
}

/// Those of all trials of a case, if they are alike.
fn of_case(case: &Case) -> Option<String> {
    let mut walks = case.trials.iter().map(of_trial);
    let first = walks.next()??;
    walks.all(|walk| walk.as_ref() == Some(&first)).then_some(first)
}

fn of_trial(trial: &Trial) -> Option<String> {
    let [client, server] = trial.ends.as_slice() else { return None };
    let [client, server] = [&client.states, &server.states].map(|states| {
        let open = states.iter().position(|state| state == OPEN)?;
        Some(states[open + 1..].join(", "))
    });
    let (client, server) = (client?, server?);
    let named = |states: String| if states.is_empty() { "none".to_owned() } else { states };
    Some(if client == server {
        format!("both ends {}", named(client))
    } else {
        format!("client {}, server {}", named(client), named(server))
    })
}
