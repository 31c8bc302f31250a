//! Recovery episodes: how many there are of each type, and how a type looks.

use tcplab_results::{Recovery, Run};

/// Whether any trial has a TCP connection.
pub(crate) fn has_connections(run: &Run) -> bool {
    let mut trials = run.cases.iter().flat_map(|case| &case.trials).peekable();
    trials.peek().is_none() || trials.any(|trial| !trial.has_datagrams())
}

/// The recovery episodes of all variants.
pub(crate) fn recovery(run: &Run) -> Recovery {
    let mut all = Recovery::default();
    run.cases.iter().for_each(|case| all.add(&case.recovery()));
    all
}

/// Counts by type, in the paper's order, unknown names last.
pub(crate) fn by_kind(all: &Recovery) -> Vec<(&str, usize)> {
    let mut counts: Vec<(&str, usize)> =
        all.kinds.iter().map(|(kind, count)| (kind.as_str(), *count)).collect();
    counts.sort_by_key(|(kind, _)| rank(kind));
    counts
}

/// The types of "Experimental Analysis of TCP Behaviors against Bursty Packet Losses Caused by
/// Transmission Interruption", and the CSS class of each.
const KINDS: [(&str, &str); 4] = [
    ("without time lag", "without"),
    ("with time lag", "with"),
    ("intermittent", "intermittent"),
    ("unknown", "unknown"),
];

/// The types to show, with their classes: the paper's, and `unknown` if there is one.
pub(crate) fn kinds(run: &Run) -> Vec<(&'static str, &'static str)> {
    let all = recovery(run);
    let is_shown = |(kind, _): &(&str, &str)| *kind != "unknown" || all.of_kind(kind) > 0;
    KINDS.into_iter().filter(is_shown).collect()
}

fn rank(kind: &str) -> usize {
    KINDS.iter().position(|(name, _)| *name == kind).unwrap_or(KINDS.len())
}

/// The CSS class of a type.
pub(crate) fn kind_class(kind: &str) -> &'static str {
    KINDS.iter().find(|(name, _)| *name == kind).map_or("unknown", |(_, class)| class)
}

/// A solid line, a line with a gap, a broken line.
pub(crate) fn icon(class: &str) -> &'static str {
    match class {
        "without" => "M2 4h20",
        "with" => "M2 4h6m9 0h5",
        "intermittent" => "M2 4h2m6 0h2m6 0h2",
        _ => "M10 4h4",
    }
}
