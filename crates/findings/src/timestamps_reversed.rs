//! # Timestamps with reversed bytes
//!
//! **What it says.** An end writes the value of its timestamps option without conversion to network
//! byte order.
//!
//! **Why it matters.** The values jump by hours and go back. The other end's PAWS takes the packets
//! for old ones and drops them: the transfer stalls after every pause.
//!
//! **Evidence.** The value is a clock only with its bytes reversed: of its steps, at least eight,
//! and nine in ten, are large as written and small so.
//!
//! **False positives.** None known: a clock that is right makes large steps after hours only.
//!
//! **Reference.** RFC 7323 sections 3.2 and 5.3; RFC 1700 on byte order.

use tcplab_trace::ClockSteps;

use crate::words::times;
use crate::{Cost, Direction, Finding, Rule, Severity, Shown};

/// The rule.
pub const RULE: Rule = Rule::of_directions("timestamps-reversed", in_direction);

/// At least so many steps, and for each one that is right so many that are not.
const LEAST: u64 = 8;
const FOR_EACH_PLAIN: u64 = 9;

fn in_direction(direction: &Direction<'_>) -> Option<Finding> {
    let seen = &direction.flow.timestamp_faults;
    let connection = direction.connection;
    let other =
        if direction.sender == "client" { &connection.reverse } else { &connection.forward };
    // The receiver's clock counts where it sends no data, by which it is known better.
    let (sender, receiver) = (direction.sender, direction.receiver);
    let (steps, writer, reader) = if is_reversed(&seen.sender) {
        (&seen.sender, sender, receiver)
    } else if is_reversed(&seen.receiver) && !is_reversed(&other.timestamp_faults.sender) {
        (&seen.receiver, receiver, sender)
    } else {
        return None;
    };
    let back = match steps.back {
        0 => String::new(),
        back => format!(
            " As written it went back {}: the {reader}'s PAWS drops such a packet.",
            times(back)
        ),
    };
    let statement = format!(
        "The {writer} writes its timestamps with the bytes reversed: {} steps of its clock are \
         small only when reversed.{back}",
        steps.reversed.count,
    );
    let shown = Shown::by(&steps.reversed);
    Some(shown.proves(RULE.name, Severity::Failure, Cost::NONE).saying(
        statement,
        format!(
            "Convert the {writer}'s TSval with `htonl` before it is sent, and TSecr with `ntohl`. \
             Until then turn timestamps off at one end (on Linux net.ipv4.tcp_timestamps = 0)."
        ),
    ))
}

fn is_reversed(steps: &ClockSteps) -> bool {
    let reversed = steps.reversed.count;
    reversed >= LEAST && reversed >= steps.plain * FOR_EACH_PLAIN
}
