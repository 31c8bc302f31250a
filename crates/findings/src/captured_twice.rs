//! # Captured twice
//!
//! **What it says.** The capture holds frames twice that crossed the network once.
//!
//! **Why it matters.** The copies do not count here; other tools count them as retransmissions.
//!
//! **Evidence.** Frames equal in every field, close together, and more than a network duplicates.
//!
//! **False positives.** A network that duplicates most packets at once.
//!
//! **Reference.** Wireshark's manual on duplicate packets; tcpdump(1) on `-i any`.

use crate::words::counted;
use crate::{Cost, Direction, Finding, Rule, Severity, Shown};

/// The rule.
pub const RULE: Rule = Rule::of_directions("captured-twice", in_direction);

fn in_direction(direction: &Direction<'_>) -> Option<Finding> {
    let copies = &direction.flow.causes.capture_duplicates;
    if copies.is_empty() {
        return None;
    }
    let statement = format!(
        "The capture holds {} from the {} twice. All counts leave the copies out.",
        counted(copies.count, "packet"),
        direction.sender,
    );
    let shown = Shown::by(copies);
    Some(shown.proves(RULE.name, Severity::Doubt, Cost::NONE).saying(
        statement,
        "Capture on one interface, not on all (`-i any` sees a packet on the bridge and on its \
         port); mirror one direction of a port, not both; or run `editcap -d` first.",
    ))
}
