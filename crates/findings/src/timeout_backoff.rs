//! # Retransmission timeout with backoff
//!
//! **What it says.** The retransmission timer expired several times in a row for the same segment.
//!
//! **Why it matters.** The timeout doubles, so the sender notices the end of an outage late.
//!
//! **Evidence.** The segment and its retransmissions, none triggered by an ACK. Without stored
//! packets: the most timeouts in a row.
//!
//! **False positives.** A stack that retransmits several segments per timeout and loses the first
//! shows only the first. In a capture without ACKs every retransmission looks like a timeout.
//!
//! **Reference.** RFC 6298 sections 5.5 to 5.7; RFC 8961 section 4 on the doubling.

use tcplab_trace::{Connection, Flow, Segment, SegmentKind, Timer};

use crate::words::{counted, rounded, seconds, times};
use crate::{Cost, Direction, Finding, Rule, Severity, Shown, Test};

/// The rule.
pub const RULE: Rule =
    Rule { name: "timeout-backoff", needs_packets: false, test: Test::Any(in_connection) };

const REMEDY: &str = "The timeout doubles each time, so the sender notices late that the path is \
                      back. A shorter retransmission timeout (ip route … rto_min) or a retry by \
                      the application shortens the wait.";

/// A finding for each segment with several timeouts; without packets, one for each direction.
fn in_connection(connection: &Connection) -> Vec<Finding> {
    let [forward, reverse] = [&connection.forward, &connection.reverse];
    if forward.segments.is_empty() && reverse.segments.is_empty() {
        return Direction::both(connection).iter().filter_map(in_sums).collect();
    }
    [forward, reverse].into_iter().flat_map(in_packets).collect()
}

fn in_sums(direction: &Direction<'_>) -> Option<Finding> {
    let causes = &direction.flow.causes;
    let row = causes.backoff_max;
    if row < 2 {
        return None;
    }
    let statement = format!(
        "The {}'s retransmission timer expired {} in a row for the same segment.",
        direction.sender,
        times(row),
    );
    let shown = Shown::by(&causes.timeouts).or(Shown::by_all(direction.connection));
    // No sum holds the duration; the rule on timeouts counts all waiting.
    Some(shown.proves(RULE.name, Severity::Harm, Cost::NONE).saying(statement, REMEDY))
}

fn in_packets(flow: &Flow) -> Vec<Finding> {
    let timeouts: Vec<&Segment> = flow
        .segments
        .iter()
        .filter(|s| {
            // SYNs have a rule of their own.
            s.kind == SegmentKind::TimeoutRetransmission
                && s.timer == Some(Timer::Retransmission)
                && !s.syn
        })
        .collect();
    timeouts
        .chunk_by(|a, b| a.range.start == b.range.start)
        .filter(|row| row.len() > 1)
        .map(|row| finding(flow, row))
        .collect()
}

fn finding(flow: &Flow, row: &[&Segment]) -> Finding {
    let (first, last) = (row[0], row[row.len() - 1]);
    // The last transmission before the timer ran out for the first time.
    let original = flow
        .segments
        .iter()
        .take_while(|s| s.frame < first.frame)
        .filter(|s| s.range.overlaps(first.range))
        .last();
    let sent: Vec<&Segment> = original.into_iter().chain(row.iter().copied()).collect();
    let waits: Vec<String> =
        sent.windows(2).map(|pair| rounded(pair[1].at.since(pair[0].at))).collect();
    let since = sent[0].at;
    let statement = format!(
        "The retransmission timer expired {} in a row for {first}, after {}: nothing got through \
         from {} to {}.",
        counted(row.len() as u64, "time"),
        waits.join(", "),
        seconds(since),
        seconds(last.at),
    );
    let shown = Shown::in_frames(sent.iter().map(|s| s.frame), first.at);
    let cost = Cost::time(last.at.since(since));
    shown.proves(RULE.name, Severity::Harm, cost).saying(statement, REMEDY)
}
