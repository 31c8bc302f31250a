//! # Congestion marks
//!
//! **What it says.** Packets carry "congestion experienced" (ECN CE): set by an AQM, or by a
//! device that does not understand the field.
//!
//! **Why it matters.** Marks slow the sender down without loss. Without ECN agreed on, the sender
//! ignores them, and the device that sets them violates the standard.
//!
//! **Evidence.** The marked packets; what the SYNs agreed on.
//!
//! **False positives.** None where the SYNs were captured; otherwise the rule is silent.
//!
//! **Reference.** RFC 3168 sections 5 and 6.1; RFC 9768; RFC 8087 on the benefits of ECN.

use tcplab_trace::EcnAgreement;

use crate::words::{counted, percent};
use crate::{Cost, Direction, Finding, Rule, Severity, Shown};

/// The rule.
pub const RULE: Rule = Rule::of_directions("congestion-marks", in_direction);

fn in_direction(direction: &Direction<'_>) -> Option<Finding> {
    let marks = &direction.flow.marks.ce_marks;
    if marks.is_empty() {
        return None;
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
            Some(shown.proves(RULE.name, Severity::Note, Cost::NONE).stating(statement))
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
