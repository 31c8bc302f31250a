//! # Window taken back
//!
//! **What it says.** The receiver moved its window's right edge back: it took back room that it had
//! granted.
//!
//! **Why it matters.** What was sent into that room may be dropped on arrival, and is sent again as
//! if the network had lost it. The standard says that a receiver should not do so.
//!
//! **Evidence.** The acknowledgements whose edge lies before an earlier one's, by more than the
//! rounding of window scaling.
//!
//! **False positives.** Acknowledgements that overtook one another are recognised by their sequence
//! numbers, though not where both are the same.
//!
//! **Reference.** RFC 9293 section 3.8.6; RFC 7323 section 2.4; tcp(7) and the kernel's
//! ip-sysctl.rst on tcp_shrink_window.

use tcplab_trace::Connection;

use crate::direction::{Direction, in_each};
use crate::finding::{Cost, Finding, Severity, Shown};
use crate::words::times;

/// The rule's name.
pub const NAME: &str = "window-shrunk";

/// At most one finding for each direction.
pub fn examine(connection: &Connection) -> Vec<Finding> {
    in_each(connection, in_direction)
}

fn in_direction(direction: &Direction<'_>) -> Option<Finding> {
    let shrunk = &direction.flow.windows.windows_shrunk;
    if shrunk.is_empty() {
        return None;
    }
    let (sender, receiver) = (direction.sender, direction.receiver);
    let statement = format!(
        "The {receiver} took granted room back {}: its window's right edge moved to the left. What \
         the {sender} had sent into it may be dropped on arrival.",
        times(shrunk.count),
    );
    let remedy = format!(
        "Do not make the {receiver}'s buffer smaller while the connection lives; on Linux look at \
         net.ipv4.tcp_shrink_window and at memory pressure (`nstat -az TcpExtTCPRcvCollapsed`).",
    );
    let shown = Shown::by(shrunk);
    Some(shown.proves(NAME, Severity::Harm, Cost::NONE).saying(statement, remedy))
}
