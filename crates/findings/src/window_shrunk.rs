//! # Window shrunk
//!
//! **What it says.** The receiver moved its window's right edge back: it withdrew granted room.
//!
//! **Why it matters.** Data sent into that room may be dropped on arrival and retransmitted as if
//! lost by the network. A receiver should not shrink its window.
//!
//! **Evidence.** ACKs whose right edge moved back by more than the scale's rounding.
//!
//! **False positives.** Reordered ACKs with equal sequence numbers. Of Multipath TCP the rule is
//! silent: all subflows share a window, which may move back on one (RFC 8684 section 3.3.1).
//!
//! **Reference.** RFC 9293 section 3.8.6; RFC 7323 section 2.4; tcp(7) and the kernel's
//! ip-sysctl.rst on tcp_shrink_window.

use crate::words::times;
use crate::{Cost, Direction, Finding, Rule, Severity, Shown};

/// The rule.
pub const RULE: Rule = Rule::of_directions("window-shrunk", in_direction);

fn in_direction(direction: &Direction<'_>) -> Option<Finding> {
    let shrunk = &direction.flow.windows.windows_shrunk;
    if shrunk.is_empty() || direction.connection.handshake.multipath {
        return None;
    }
    let (sender, receiver) = (direction.sender, direction.receiver);
    let statement = format!(
        "The {receiver} shrank its window {}: the right edge moved back. Data that the {sender} \
         had already sent may be dropped on arrival.",
        times(shrunk.count),
    );
    let remedy = format!(
        "Do not reduce the {receiver}'s buffer during the connection; on Linux check \
         net.ipv4.tcp_shrink_window and memory pressure (`nstat -az TcpExtTCPRcvCollapsed`).",
    );
    let shown = Shown::by(shrunk);
    Some(shown.proves(RULE.name, Severity::Harm, Cost::NONE).saying(statement, remedy))
}
