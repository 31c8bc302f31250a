//! # Delay spikes
//!
//! **What it says.** The transfer stalled because packets or ACKs were late, not lost.
//!
//! **Why it matters.** The RTT jumps to many times its usual value: radio retransmissions, a host
//! that sleeps, a route change. Senders often mistake that for loss.
//!
//! **Evidence.** The stalls that ended without a retransmission. Waits for ACKs that the receiver
//! delays on purpose are no part of them, even if it delays them too long: where Nagle's algorithm
//! waits as long as they last, that is another rule's (`nagle-delay`).
//!
//! **False positives.** A capture written late shows delays the packets did not have. Away from
//! the sender, a pause of its application looks the same: the rule is silent there.
//!
//! **Reference.** J. Zhou et al., "Demystifying and Mitigating TCP Stalls at the Server Side",
//! section 3 (packet delay); RFC 5682 section 1.

use tcplab_trace::{CapturePoint, StallCause, StallSum};
use tcplab_units::Span;

use crate::words::{part_of_time, rounded, seconds, times};
use crate::{Cost, Direction, Finding, Rule, Severity, Shown, is_share};

/// The rule.
pub const RULE: Rule = Rule::of_directions("delay-spikes", in_direction);

/// The least share of the transfer, per cent.
const SHARE: u64 = 10;
/// And the longest stall must last so long.
const LONG: Span = Span::from_millis(100);

fn in_direction(direction: &Direction<'_>) -> Option<Finding> {
    let late = direction.stalls(StallCause::PacketDelay)?;
    let beside =
        matches!(direction.flow.capture_point, CapturePoint::Sender | CapturePoint::Unknown);
    let longest = &late.longest;
    let lasted = longest.until.since(longest.from);
    if !beside || is_explained(direction, late) {
        return None;
    }
    // What was late after the last data were acknowledged delayed no transfer.
    let within = late.time <= direction.time();
    if lasted < LONG || !within || !is_share(late.time, direction.time(), SHARE) {
        return None;
    }
    let mut statement = format!(
        "Data from the {} stalled {} without loss, for {}; the longest stall took {}, from {} on",
        direction.sender,
        times(late.count),
        part_of_time(late.time, direction.time()),
        rounded(lasted),
        seconds(longest.from),
    );
    statement += &match direction.round_trip() {
        Some(usual) => format!(", at a path RTT of {}.", rounded(usual)),
        None => ".".to_owned(),
    };
    let shown = Shown::by_stall(longest);
    Some(shown.proves(RULE.name, Severity::Harm, Cost::time(late.time)).saying(
        statement,
        "Find out what delayed packets at these times: radio with retransmission or power saving, \
         a host or virtual machine that was not scheduled, a route change, bursts in a shared \
         queue.",
    ))
}

/// Whether they are waits for delayed ACKs: at least as many, and about as long.
fn is_explained(direction: &Direction<'_>, late: &StallSum) -> bool {
    let marks = &direction.flow.marks;
    let (waits, waited) = (marks.nagle_waits.count, marks.nagle_wait_time);
    waits >= late.count && waited / waits.max(1) * 2 >= late.longest.until.since(late.longest.from)
}
