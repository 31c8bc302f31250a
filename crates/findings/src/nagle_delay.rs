//! # Nagle's algorithm against delayed ACKs
//!
//! **What it says.** Small segments waited for an ACK that the receiver delayed.
//!
//! **Why it matters.** Each such write takes 40 ms (Linux) to 200 ms (others) longer; a receiver
//! may be set to delay less, or up to 500 ms.
//!
//! **Evidence.** Segments smaller than a full one, sent as soon as a delayed ACK left nothing
//! unacknowledged (away from the sender, a round trip to it later); and how long they waited.
//!
//! **False positives.** An application that writes in step with delayed ACKs by chance.
//!
//! **Reference.** RFC 9293 sections 3.7.4 and 3.8.6.3; G. Minshall et al., "Application
//! Performance Pitfalls and TCP's Nagle Algorithm".

use tcplab_units::Span;

use crate::words::{counted, part_of_time, rounded};
use crate::{Cost, Direction, Finding, Rule, Severity, Shown, is_share};

/// The rule.
pub const RULE: Rule = Rule::of_directions("nagle-delay", in_direction);

/// Fewer may be chance.
const LEAST: u64 = 3;
/// The least share of the transfer, per cent, or the least time.
const SHARE: u64 = 5;
const LONG: Span = Span::from_millis(500);

fn in_direction(direction: &Direction<'_>) -> Option<Finding> {
    let marks = &direction.flow.marks;
    let (waits, waited) = (&marks.nagle_waits, marks.nagle_wait_time);
    let worth = waited >= LONG || is_share(waited, direction.time(), SHARE);
    if waits.count < LEAST || !worth {
        return None;
    }
    let (sender, receiver) = (direction.sender, direction.receiver);
    let statement = format!(
        "{} of the {sender} waited for ACKs that the {receiver} delayed: {}, {} each.",
        counted(waits.count, "small segment"),
        part_of_time(waited, direction.time().max(waited)),
        rounded(waited / waits.count),
    );
    let remedy = format!(
        "Write each message in one piece in the {sender}'s program (writev, a buffer, MSG_MORE or \
         TCP_CORK), or set TCP_NODELAY there.",
    );
    let shown = Shown::by(waits);
    Some(shown.proves(RULE.name, Severity::Harm, Cost::time(waited)).saying(statement, remedy))
}
