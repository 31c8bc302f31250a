//! Statements about a connection, each with the packets that prove it.
//!
//! One rule, one file. Its head says what the rule states, why that matters, what the evidence
//! is, when it may be wrong, and where the knowledge comes from.

use serde::Serialize;
use tcplab_trace::{Connection, Flow};
use tcplab_units::{Instant, Span};

pub mod needless_retransmissions;
pub mod recovery_episode;
mod story;
pub mod timeout_backoff;
pub mod window_limited;

#[cfg(test)]
mod tests;

pub use story::story;

/// Something found out about a connection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The rule that found it, as in [`RULES`].
    pub rule: &'static str,
    /// What was found, in plain sentences, with what to do about it where something can be done.
    pub statement: String,
    /// The frames that prove it, counted from 1 as in Wireshark.
    pub frames: Vec<u64>,
    /// When it was the case first.
    pub at: Instant,
}

/// Something to look for in every connection.
#[derive(Debug, Clone, Copy)]
pub struct Rule {
    /// Its name.
    pub name: &'static str,
    /// Looks for it.
    pub examine: fn(&Connection) -> Vec<Finding>,
}

/// All rules.
pub const RULES: &[Rule] = &[
    Rule { name: recovery_episode::NAME, examine: recovery_episode::examine },
    Rule { name: window_limited::NAME, examine: window_limited::examine },
    Rule { name: timeout_backoff::NAME, examine: timeout_backoff::examine },
    Rule { name: needless_retransmissions::NAME, examine: needless_retransmissions::examine },
];

/// What all rules find in `connection`, in order of time.
pub fn examine(connection: &Connection) -> Vec<Finding> {
    let mut findings: Vec<Finding> =
        RULES.iter().flat_map(|rule| (rule.examine)(connection)).collect();
    findings.sort_by_key(|finding| finding.at);
    findings
}

/// The two directions and who sends in each.
fn flows(connection: &Connection) -> [(&'static str, &Flow); 2] {
    [("client", &connection.forward), ("server", &connection.reverse)]
}

fn seconds(at: Instant) -> String {
    format!("{:.3} s", at.as_secs_f64())
}

/// A length of time with the three digits that a reader can use.
fn rounded(span: Span) -> String {
    let nanos = span.as_nanos();
    let unit = 10_u64.pow(nanos.checked_ilog10().unwrap_or(0).saturating_sub(2));
    Span::from_nanos((nanos + unit / 2) / unit * unit).to_string()
}

/// `1 segment`, `88 segments`.
fn counted(count: u64, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}
