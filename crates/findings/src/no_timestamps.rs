//! # Loss without timestamps
//!
//! **What it says.** Many segments were retransmitted on a connection without timestamps.
//!
//! **Why it matters.** Retransmitted data then give no RTT samples (Karn's rule), so the timeout
//! stays long, and a spurious retransmission is recognised late or never.
//!
//! **Evidence.** The options of both SYNs; the retransmissions.
//!
//! **False positives.** SACK and D-SACK undo most of the harm; hence a note only.
//!
//! **Reference.** RFC 7323 sections 3 and 4; RFC 3522.

use crate::words::{counted, percent};
use crate::{Cost, Direction, Finding, Rule, Severity, Shown};

/// The rule.
pub const RULE: Rule = Rule::of_directions("no-timestamps", in_direction);

/// At least so many retransmissions, and one in so many segments.
const LEAST: u64 = 10;
const ONE_IN: u64 = 200;

fn in_direction(direction: &Direction<'_>) -> Option<Finding> {
    let refusal = direction.refusal(|syn| syn.timestamps)?;
    let repeats = direction.flow.causes.retransmissions();
    if repeats < LEAST || repeats * ONE_IN < direction.wire_segments() {
        return None;
    }
    let statement = format!(
        "The {} retransmitted {} ({}) without timestamps ({refusal}): retransmitted data gives no \
         RTT samples, and spurious retransmissions are hard to recognise.",
        direction.sender,
        counted(repeats, "segment"),
        percent(repeats, direction.wire_segments()),
    );
    let shown = Shown::by_offers(direction.connection).and(direction.shown_by_retransmissions());
    Some(shown.proves(RULE.name, Severity::Note, Cost::NONE).saying(
        statement,
        "Enable timestamps at the end that lacks them (on Linux net.ipv4.tcp_timestamps = 1, the \
         default; Windows: netsh interface tcp set global timestamps=enabled).",
    ))
}
