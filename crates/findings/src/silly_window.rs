//! # Silly windows
//!
//! **What it says.** The receiver told of room in its buffer in crumbs: less than a full segment
//! and less than half of the buffer.
//!
//! **Why it matters.** A sender that takes what is offered sends crumbs, each with full headers; a
//! receiver must wait until there is room for a full segment.
//!
//! **Evidence.** The acknowledgements that opened the window by so little.
//!
//! **False positives.** Receivers whose whole buffer is about a segment can do no better; three
//! crumbs and more are told only.
//!
//! **Reference.** RFC 9293 section 3.8.6.2.2; RFC 813.

use tcplab_trace::Connection;

use crate::direction::{Direction, in_each};
use crate::finding::{Cost, Finding, Severity, Shown};
use crate::words::{amount, times};

/// The rule's name.
pub const NAME: &str = "silly-window";

/// Fewer do no harm.
const LEAST: u64 = 3;

/// At most one finding for each direction.
pub fn examine(connection: &Connection) -> Vec<Finding> {
    in_each(connection, in_direction)
}

fn in_direction(direction: &Direction<'_>) -> Option<Finding> {
    let windows = &direction.flow.windows;
    if windows.silly_windows.count < LEAST {
        return None;
    }
    let receiver = direction.receiver;
    let largest = windows.max.map_or(String::new(), |max| {
        format!("; at other times it advertised up to {}", amount(max))
    });
    let statement = format!(
        "The {receiver} told {} of room for less than a full segment{largest}: an invitation to \
         send crumbs (silly window syndrome).",
        times(windows.silly_windows.count),
    );
    let remedy = format!(
        "Let the {receiver}'s application read in larger pieces and more often, and give it a \
         buffer of several segments (SO_RCVBUF).",
    );
    let shown = Shown::by(&windows.silly_windows);
    Some(shown.proves(NAME, Severity::Harm, Cost::NONE).saying(statement, remedy))
}
