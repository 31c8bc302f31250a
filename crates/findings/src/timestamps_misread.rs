//! # Timestamps read with reversed bytes
//!
//! **What it says.** A receiver drops segments whose timestamps are newer than the last: PAWS
//! compares values that were not converted from network byte order.
//!
//! **Why it matters.** Half of all pauses of more than 127 ticks end in it: the segment is answered
//! and not taken, until the low byte of the sender's clock has moved on. The transfer stalls, on a
//! path that loses nothing, and the packets themselves look right.
//!
//! **Evidence.** Segments at the left edge that the receiver answered without taking them, at least
//! six. Nine in ten are older than its echo (TS.Recent) only with the bytes of both reversed, and
//! no retransmission was taken that is.
//!
//! **False positives.** Segments that were lost after pauses that are all of 128 to 255 ticks, on a
//! connection without SACK.
//!
//! **Reference.** RFC 7323 sections 3.2 and 5.3; Haiku aaa7cebc24 ("tcp: rfc 7323: added PAWS
//! timestamp check on Receive"), which added both the check and the conversion.

use crate::words::rounded;
use crate::{Cost, Direction, Finding, Rule, Severity, Shown};

/// The rule.
pub const RULE: Rule = Rule::of_directions("timestamps-misread", in_direction);

/// At least so many segments, and for each one that does not fit so many that do.
const LEAST: u64 = 6;
const FOR_EACH_OTHER: u64 = 9;

fn in_direction(direction: &Direction<'_>) -> Option<Finding> {
    let seen = &direction.flow.timestamp_faults;
    let refused = &seen.refused;
    let fits = refused.count >= seen.refused_otherwise * FOR_EACH_OTHER;
    if refused.count < LEAST || !fits || seen.taken_otherwise > 0 {
        return None;
    }
    let (sender, receiver) = (direction.sender, direction.receiver);
    let statement = format!(
        "The {receiver} reads timestamps with the bytes reversed: it answered {} segments of the \
         {sender} without taking them. Each is newer than its echo, and older with the bytes of \
         both reversed, so its PAWS drops it. That took {}.",
        refused.count,
        rounded(seen.refused_for),
    );
    let shown = Shown::by(refused);
    let cost = Cost::time(seen.refused_for);
    Some(shown.proves(RULE.name, Severity::Failure, cost).saying(
        statement,
        format!(
            "Convert TSval with `ntohl` where the {receiver} reads the option, and TSecr with \
             `htonl` where it writes it. Until then turn timestamps off at one end (on Linux \
             net.ipv4.tcp_timestamps = 0)."
        ),
    ))
}
