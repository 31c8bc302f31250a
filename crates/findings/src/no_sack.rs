//! # Loss without SACK
//!
//! **What it says.** Data were lost and retransmitted on a connection without SACK.
//!
//! **Why it matters.** Recovery of one loss per RTT, no tail loss probes, more timeouts.
//!
//! **Evidence.** The options of both SYNs; the retransmissions.
//!
//! **False positives.** None where both SYNs were captured whole; otherwise the rule is silent.
//!
//! **Reference.** RFC 2018; RFC 6582 section 1; RFC 8985 section 7.1.

use crate::words::{counted, percent};
use crate::{Cost, Direction, Finding, Rule, Severity, Shown};

/// The rule.
pub const RULE: Rule = Rule::of_directions("no-sack", in_direction);

/// Fewer retransmissions cost the same with SACK.
const LEAST: u64 = 3;

fn in_direction(direction: &Direction<'_>) -> Option<Finding> {
    let refusal = direction.refusal(|syn| syn.sack_permitted)?;
    let causes = &direction.flow.causes;
    // SYNs and FINs are retransmitted by their timer alone.
    let control = causes.syn_retransmissions.count + causes.fin_retransmissions.count;
    let repeats = causes.retransmissions().saturating_sub(control);
    if repeats < LEAST {
        return None;
    }
    let statement = format!(
        "The {} retransmitted {} ({}) without SACK ({refusal}): it learns of one loss per round \
         trip.",
        direction.sender,
        counted(repeats, "segment"),
        percent(repeats, direction.wire_segments()),
    );
    let shown = Shown::by_offers(direction.connection).and(direction.shown_by_retransmissions());
    let cost = Cost::bytes(direction.flow.totals.retransmitted);
    Some(shown.proves(RULE.name, Severity::Harm, cost).saying(
        statement,
        "Enable SACK at the end that lacks it (on Linux net.ipv4.tcp_sack = 1, the default). If \
         both ends have it enabled, a firewall or SYN proxy on the path strips the option.",
    ))
}
