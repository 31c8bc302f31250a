//! # Congestion marks
//!
//! **What it says.** Packets were marked "congestion experienced": by a queue that does its work,
//! or by something that does not understand the field.
//!
//! **Why it matters.** Marks slow the sender down without loss. On a connection that did not agree
//! on ECN nobody reads them, and whoever sets them breaks the standard.
//!
//! **Evidence.** The marked packets; what the SYNs agreed on.
//!
//! **False positives.** Where the SYNs were not seen nothing is said.
//!
//! **Reference.** RFC 3168 sections 5 and 6.1; RFC 9768; RFC 8087 on what ECN is good for.

use tcplab_trace::{Connection, EcnAgreement};

use crate::direction::{Direction, in_each};
use crate::finding::{Cost, Finding, Severity, Shown};
use crate::words::{counted, percent};

/// The rule's name.
pub const NAME: &str = "congestion-marks";

/// At most one finding for each direction.
pub fn examine(connection: &Connection) -> Vec<Finding> {
    in_each(connection, in_direction)
}

fn in_direction(direction: &Direction<'_>) -> Option<Finding> {
    let marks = &direction.flow.marks.ce_marks;
    if marks.is_empty() {
        return None;
    }
    let marked = format!(
        "{} of the {} ({}) bore the mark of congestion",
        counted(marks.count, "segment"),
        direction.sender,
        percent(marks.count, direction.segments()),
    );
    let shown = Shown::by(marks);
    match direction.connection.handshake.ecn {
        EcnAgreement::Unknown => None,
        EcnAgreement::Classic | EcnAgreement::Accurate => {
            let statement = format!(
                "{marked}: a queue on the way is managed, and slows the sender down without \
                 dropping its packets."
            );
            Some(shown.proves(NAME, Severity::Note, Cost::NONE).stating(statement))
        }
        EcnAgreement::NotAsked | EcnAgreement::Refused => {
            let statement = format!(
                "{marked}, though the ends had not agreed on ECN: something on the way sets these \
                 two bits, and the sender never learns of it."
            );
            Some(shown.proves(NAME, Severity::Failure, Cost::NONE).saying(
                statement,
                "Look for a device or a rule that writes the old type-of-service byte as a whole \
                 (DSCP marking must leave its two lowest bits alone).",
            ))
        }
    }
}
