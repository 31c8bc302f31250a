//! # ACKs delayed too long
//!
//! **What it says.** The receiver delayed ACKs for 200 ms or more.
//!
//! **Why it matters.** Linux's retransmission timer may expire after 200 ms, so such delays cause
//! spurious retransmissions. They also slow down every exchange that waits for an ACK.
//!
//! **Evidence.** ACKs of a single segment, captured at the receiver: nothing else delayed them.
//!
//! **False positives.** A suspended or overloaded receiver. Silent at other capture points.
//!
//! **Reference.** RFC 9293 section 3.8.6.3; RFC 6298; `TCP_RTO_MIN`, `TCP_DELACK_MAX` in Linux.

use tcplab_units::Span;

use crate::words::{counted, rounded};
use crate::{Cost, Direction, Finding, Rule, Severity, Shown};

/// The rule.
pub const RULE: Rule = Rule::of_directions("delayed-acks", in_direction);

/// Linux's smallest retransmission timeout (`TCP_RTO_MIN`).
const LONG: Span = Span::from_millis(200);
/// The standard's limit.
const FORBIDDEN: Span = Span::from_millis(500);

fn in_direction(direction: &Direction<'_>) -> Option<Finding> {
    let habits = &direction.flow.acking;
    if habits.delayed.is_empty() || habits.delay_max < LONG {
        return None;
    }
    let receiver = direction.receiver;
    let (severity, measure) = if habits.delay_max >= FORBIDDEN {
        (Severity::Failure, "RFC 9293 allows less than 500 ms.")
    } else {
        (Severity::Note, "That is longer than Linux's minimum retransmission timeout (200 ms).")
    };
    let statement = format!(
        "The {receiver} delayed {}{} by {}. {measure}",
        counted(habits.delayed.count, "ACK"),
        if habits.delayed.count == 1 { "" } else { ", the longest" },
        rounded(habits.delay_max),
    );
    let remedy = format!(
        "Shorten the {receiver}'s delayed-ACK timer (Linux: `ip route … quickack 1`, \
         TCP_QUICKACK; Windows: TcpAckFrequency, DelayedAckTimeout), or find out what kept the \
         host from sending.",
    );
    let shown = Shown::by(&habits.delayed);
    let cost = Cost::time(habits.delay_max);
    Some(shown.proves(RULE.name, severity, cost).saying(statement, remedy))
}
