//! # Retransmission timeout with backoff
//!
//! **What it says.** The retransmission timer expired several times in a row for the same segment.
//!
//! **Why it matters.** The timeout doubles, so the sender notices the end of an outage late.
//!
//! **Evidence.** The retransmissions of the segment with the most, none triggered by an ACK.
//!
//! A D-SACK or an echoed timestamp shows where only the acknowledgements were lost.
//!
//! **False positives.** A stack that retransmits several segments per timeout and loses the first
//! shows only the first. In a capture without ACKs every retransmission looks like a timeout. What
//! ends with smaller segments is another rule's (`path-mtu`).
//!
//! **Reference.** RFC 6298 sections 5.5 to 5.7; RFC 8961 section 4 on the doubling.

use crate::path_mtu::{self, BlackHole};
use crate::words::{counted, rounded, seconds, times};
use crate::{Cost, Direction, Finding, Rule, Severity, Shown};

/// The rule.
pub const RULE: Rule = Rule::of_directions("timeout-backoff", in_direction);

const REMEDY: &str = "The timeout doubles each time, so the sender notices late that the path is \
                      back. A shorter retransmission timeout (ip route … rto_min) or a retry by \
                      the application shortens the wait.";

const ARRIVED: &str = "The data arrived: look at the return path for loss or sudden delay.";

fn in_direction(direction: &Direction<'_>) -> Option<Finding> {
    let backoffs = &direction.flow.causes.backoffs;
    let longest = backoffs.longest.as_ref()?;
    if BlackHole::of(direction).is_some_and(|hole| hole.since == longest.since) {
        return None;
    }
    let mut waits: Vec<String> = longest.waits.iter().map(|wait| rounded(*wait)).collect();
    if longest.timeouts > waits.len() as u64 {
        waits.push("…".into());
    }
    // A spurious one shows that an earlier transmission had arrived.
    let proven = &direction.flow.causes.spurious.sent.frames;
    let had_arrived = longest.frames.iter().skip(1).any(|frame| proven.contains(frame));
    let passed = if had_arrived { "no acknowledgement came" } else { "nothing got through" };
    let mut statement = format!(
        "The {}'s retransmission timer expired {} in a row for {}:{}({}), after {}: {passed} \
         from {} to {}.",
        direction.sender,
        times(longest.timeouts),
        longest.range.start,
        longest.range.end,
        longest.range.len(),
        waits.join(", "),
        seconds(longest.since),
        seconds(longest.until),
    );
    if backoffs.segments > 1 {
        let others = counted(backoffs.segments - 1, "other segment");
        statement += &format!(" It expired several times in a row for {others}, too.");
    }
    let shown = Shown::in_frames(longest.frames.iter().copied(), longest.since);
    let found = shown.proves(RULE.name, Severity::Harm, Cost::time(backoffs.time));
    if had_arrived {
        return Some(found.saying(statement, ARRIVED));
    }
    Some(match path_mtu::suspicion(direction) {
        Some((why, remedy)) => found.saying(statement + &why, remedy),
        None => found.saying(statement, REMEDY),
    })
}
