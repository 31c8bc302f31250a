//! # Congestion marks
//!
//! **What it says.** Packets carry "congestion experienced" (ECN CE): set by an AQM, or by a
//! device that does not understand the field. Or the sender reduced its window on such marks.
//!
//! **Why it matters.** Marks slow the sender down without loss. Without ECN agreed on, the sender
//! ignores them, and the device that sets them violates the standard.
//!
//! **Evidence.** The marked packets; the segments with CWR after an echo (ECE), by which a sender
//! answers marks that were set behind the capture point; what the SYNs agreed on. The cost is the
//! time under the congestion window.
//!
//! **False positives.** None where the SYNs were captured; otherwise the rule is silent.
//!
//! **Reference.** RFC 3168 sections 5 and 6.1; RFC 9768; RFC 8087 on the benefits of ECN.

use tcplab_trace::{EcnAgreement, Limit};

use crate::words::{counted, part_of_time, percent, times};
use crate::{Cost, Direction, Finding, Rule, Severity, Shown};

/// The rule.
pub const RULE: Rule = Rule::of_directions("congestion-marks", in_direction);

/// The least share of the time under the congestion window that is worth a sentence, per cent.
const SHARE: u64 = 20;

fn in_direction(direction: &Direction<'_>) -> Option<Finding> {
    let (marks, reductions) = (&direction.flow.marks.ce_marks, &direction.flow.marks.reductions);
    if marks.is_empty() {
        return (!reductions.is_empty()).then(|| reduced(direction));
    }
    let marked = format!(
        "{} of the {} ({}) arrived with a congestion mark (ECN CE)",
        counted(marks.count, "segment"),
        direction.sender,
        percent(marks.count, direction.wire_segments()),
    );
    let shown = Shown::by(marks);
    match direction.connection.handshake.ecn {
        EcnAgreement::Unknown => None,
        EcnAgreement::Classic | EcnAgreement::Accurate => {
            let statement = format!(
                "{marked}: an AQM on the path slows the sender down without dropping packets."
            );
            Some(shown.proves(RULE.name, Severity::Note, cost(direction)).stating(statement))
        }
        EcnAgreement::NotAsked | EcnAgreement::Refused => {
            let statement = format!(
                "{marked}, but the ends did not agree on ECN: a device on the path sets the ECN \
                 bits, and the sender ignores them."
            );
            Some(shown.proves(RULE.name, Severity::Failure, Cost::NONE).saying(
                statement,
                "Look for a device or rule that overwrites the whole type-of-service byte (DSCP \
                 marking must leave its two lowest bits alone).",
            ))
        }
    }
}

/// The marks passed behind the capture point; the sender's answers show them.
fn reduced(direction: &Direction<'_>) -> Finding {
    let reductions = &direction.flow.marks.reductions;
    let mut statement = format!(
        "The {} reduced its window {} on congestion marks (ECN CWR): an AQM on the path slows it \
         down without dropping packets.",
        direction.sender,
        times(reductions.count),
    );
    let cost = cost(direction);
    if let Some(time) = direction.limited(Limit::Congestion, SHARE) {
        let part = part_of_time(time, direction.time());
        statement += &format!(" Its congestion window limited it for {part}.");
    }
    Shown::by(reductions).proves(RULE.name, Severity::Note, cost).stating(statement)
}

/// The time under the congestion window, which marks made smaller.
fn cost(direction: &Direction<'_>) -> Cost {
    if direction.flow.marks.reductions.is_empty() {
        return Cost::NONE;
    }
    Cost::time(direction.flow.shares.of(Limit::Congestion))
}
