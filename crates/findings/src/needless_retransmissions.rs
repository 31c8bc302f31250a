//! # Needless retransmissions
//!
//! **What it says.** Segments were sent again although the receiver had them.
//!
//! **Why it matters.** They cost capacity, and the sender slowed down for losses that were none:
//! the path reorders, its delay jumps, or acknowledgements are lost.
//!
//! **Evidence.** Each retransmission and the acknowledgement whose D-SACK block reports it as
//! received twice.
//!
//! **False positives.** A packet that the network duplicated is reported in the same way; it
//! counts only where the capture shows a retransmission of the same data before the report.
//!
//! **Reference.** RFC 2883; RFC 3708 on what senders can conclude.

use tcplab_trace::{Ack, Connection, Flow, Segment, Timer};

use crate::{Finding, counted, flows};

/// The rule's name.
pub const NAME: &str = "needless-retransmissions";

/// As many pairs of frames are named as evidence.
const NAMED: usize = 10;

/// At most one finding for each direction.
pub fn examine(connection: &Connection) -> Vec<Finding> {
    flows(connection).into_iter().filter_map(|(_, flow)| in_flow(flow)).collect()
}

fn in_flow(flow: &Flow) -> Option<Finding> {
    let pairs = pairs(flow);
    let (first, _) = *pairs.first()?;
    let by = |test: &dyn Fn(&Segment) -> bool| pairs.iter().filter(|(s, _)| test(s)).count() as u64;
    let probes = by(&|s| s.timer == Some(Timer::Probe));
    let timeouts = by(&|s| s.timer == Some(Timer::Retransmission));
    let causes: Vec<String> = [
        (probes, "tail loss probe"),
        (timeouts, "timeout"),
        (pairs.len() as u64 - probes - timeouts, "retransmission on acknowledgements"),
    ]
    .into_iter()
    .filter(|&(count, _)| count > 0)
    .map(|(count, what)| counted(count, what))
    .collect();
    let was = if pairs.len() == 1 { "was" } else { "were" };
    let statement = format!(
        "{} of {} {was} needless: the receiver reported the data as received twice ({}). The \
         first was {first}.{}",
        pairs.len(),
        counted(flow.totals.retransmissions, "retransmission"),
        causes.join(", "),
        advice(probes, pairs.len() as u64),
    );
    let frames = pairs.iter().take(NAMED).flat_map(|(s, a)| [s.frame, a.frame]).collect();
    Some(Finding { rule: NAME, statement, frames, at: first.at })
}

fn advice(probes: u64, all: u64) -> &'static str {
    if probes == all {
        " Probes cost one segment each and do not slow the sender down."
    } else {
        " Look for reordering, jumps of the delay, or lost acknowledgements on the path."
    }
}

/// Each retransmission with the acknowledgement that reports it: the latest before it that was
/// not reported yet.
fn pairs(flow: &Flow) -> Vec<(&Segment, &Ack)> {
    let repeats: Vec<&Segment> =
        flow.segments.iter().filter(|s| s.kind.is_retransmission()).collect();
    let mut reported = vec![false; repeats.len()];
    let mut pairs = Vec::new();
    for ack in &flow.acks {
        let Some(again) = ack.dsack else { continue };
        let sent_before = repeats.partition_point(|s| s.frame < ack.frame);
        let latest = (0..sent_before)
            .rev()
            .find(|&index| !reported[index] && repeats[index].range.overlaps(again));
        if let Some(index) = latest {
            reported[index] = true;
            pairs.push((repeats[index], ack));
        }
    }
    pairs.sort_by_key(|(segment, _)| segment.frame);
    pairs
}
