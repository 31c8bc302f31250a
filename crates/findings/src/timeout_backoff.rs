//! # Retransmission timeout with backoff
//!
//! **What it says.** The retransmission timer ran out several times in a row for the same segment.
//!
//! **Why it matters.** Each time the timer waits twice as long, so the sender notices the path's
//! return up to as late again as the path was gone.
//!
//! **Evidence.** The segment and its retransmissions, none of which an acknowledgement prompted.
//!
//! **False positives.** A stack that resends several segments at one timeout and loses the first
//! shows only the first. A capture that lacks the acknowledgements makes every repetition look
//! like a timeout.
//!
//! **Reference.** RFC 6298 sections 5.5 to 5.7; RFC 8961 section 4 on why the doubling.

use tcplab_trace::{Connection, Flow, Segment, SegmentKind, Timer};

use crate::{Finding, counted, flows, rounded, seconds};

/// The rule's name.
pub const NAME: &str = "timeout-backoff";

/// One finding for each segment that needed more than one timeout.
pub fn examine(connection: &Connection) -> Vec<Finding> {
    flows(connection).into_iter().flat_map(|(_, flow)| in_flow(flow)).collect()
}

fn in_flow(flow: &Flow) -> Vec<Finding> {
    let timeouts: Vec<&Segment> = flow
        .segments
        .iter()
        .filter(|s| {
            s.kind == SegmentKind::TimeoutRetransmission && s.timer == Some(Timer::Retransmission)
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
        "The retransmission timer ran out {} in a row for {first}, after {}: nothing got through \
         from {} to {}. The wait grows each time, so the sender notices late that the path is \
         back; where the peer can be heard again sooner, a smaller retransmission timeout or an \
         application-level retry shortens it.",
        counted(row.len() as u64, "time"),
        waits.join(", "),
        seconds(since),
        seconds(last.at),
    );
    let frames = sent.iter().map(|s| s.frame).collect();
    Finding { rule: NAME, statement, frames, at: first.at }
}
