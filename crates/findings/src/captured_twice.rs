//! # Captured twice
//!
//! **What it says.** The capture holds frames more than once that crossed the network once.
//!
//! **Why it matters.** The copies do not count here; other tools count them as retransmissions.
//!
//! **Evidence.** Frames equal in every field, close together, and more than a network duplicates.
//!
//! **False positives.** A network that duplicates most packets at once.
//!
//! **Reference.** Wireshark's manual on duplicate packets; tcpdump(1) on `-i any`.

use tcplab_units::rounded::counted;

use crate::{Cost, Direction, Finding, Rule, Severity, Shown};

/// The rule.
pub const RULE: Rule = Rule::of_directions("captured-twice", in_direction);

fn in_direction(direction: &Direction<'_>) -> Option<Finding> {
    let causes = &direction.flow.causes;
    let (copies, others) = (&causes.capture_duplicates, &causes.network_duplicates);
    let all = direction.capture_makes_copies();
    let count = copies.count + if all { others.count } else { 0 };
    // A few among many that the network made look alike: then all are its.
    if count == 0 || !all && others.count >= copies.count {
        return None;
    }
    let statement = format!(
        "The capture holds {} from the {}: packets that it has more than once. Counts of \
         segments, retransmissions and ACKs leave the copies out; frames count them.",
        counted(count as usize, "copy", "copies"),
        direction.sender,
    );
    let shown = Shown::by(copies);
    let shown = if all { shown.and(Shown::by(others)) } else { shown };
    Some(shown.proves(RULE.name, Severity::Doubt, Cost::NONE).saying(
        statement,
        "Capture on one interface, not on all (`-i any` sees a packet on the bridge and on its \
         port); mirror one direction of a port, not both; or run `editcap -d` first.",
    ))
}
