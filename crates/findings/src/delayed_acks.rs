//! # Acknowledgements held back too long
//!
//! **What it says.** The receiver delayed acknowledgements for 200 ms or more.
//!
//! **Why it matters.** Linux's retransmission timer may run out after 200 ms: delays like that make
//! senders retransmit what arrived. They also slow down whoever waits for an acknowledgement.
//!
//! **Evidence.** Acknowledgements of a single segment at the receiver's tap, where nothing else can
//! have delayed them.
//!
//! **False positives.** A receiver that was suspended or overloaded. At other taps nobody knows,
//! and the rule is silent.
//!
//! **Reference.** RFC 9293 section 3.8.6.3 (less than 500 ms); RFC 6298; `TCP_RTO_MIN` and
//! `TCP_DELACK_MAX` in Linux.

use tcplab_trace::Connection;
use tcplab_units::Span;

use crate::direction::{Direction, in_each};
use crate::finding::{Cost, Finding, Severity, Shown};
use crate::words::{counted, rounded};

/// The rule's name.
pub const NAME: &str = "delayed-acks";

/// Linux's smallest retransmission timeout.
const LONG: Span = Span::from_millis(200);
/// The standard's limit.
const FORBIDDEN: Span = Span::from_millis(500);

/// At most one finding for each direction.
pub fn examine(connection: &Connection) -> Vec<Finding> {
    in_each(connection, in_direction)
}

fn in_direction(direction: &Direction<'_>) -> Option<Finding> {
    let habits = &direction.flow.acking;
    if habits.delayed.is_empty() || habits.delay_max < LONG {
        return None;
    }
    let receiver = direction.receiver;
    let (severity, measure) = if habits.delay_max >= FORBIDDEN {
        (Severity::Failure, "The standard allows less than 500 ms.")
    } else {
        (Severity::Note, "That is as long as the shortest retransmission timeout of Linux.")
    };
    let statement = format!(
        "The {receiver} held {} back, {} for {}. {measure}",
        counted(habits.delayed.count, "acknowledgement"),
        if habits.delayed.count == 1 { "and that" } else { "one of them" },
        rounded(habits.delay_max),
    );
    let remedy = format!(
        "Shorten the {receiver}'s delayed-acknowledgement timer (Linux: `ip route … quickack 1`, \
         TCP_QUICKACK; Windows: TcpAckFrequency, DelayedAckTimeout), or find out what kept the host \
         from sending.",
    );
    let shown = Shown::by(&habits.delayed);
    let cost = Cost::time(habits.delay_max);
    Some(shown.proves(NAME, severity, cost).saying(statement, remedy))
}
