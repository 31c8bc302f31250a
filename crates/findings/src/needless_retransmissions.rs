//! # Spurious retransmissions
//!
//! **What it says.** Segments were sent again although the receiver had them.
//!
//! **Why it matters.** They cost capacity, and the sender slowed down for losses that were none:
//! the path reorders, its delay jumps, or acknowledgements are lost.
//!
//! **Evidence.** Each retransmission and the acknowledgement whose D-SACK block reports it as
//! received twice, or whose timestamp answers the original. Where packets were not kept: the sums
//! of these.
//!
//! **False positives.** A packet that the network duplicated is reported in the same way; it
//! counts only where the capture shows a retransmission of the same data before the report.
//!
//! **Reference.** RFC 2883; RFC 3708 on what senders can conclude; RFC 3522 on timestamps.

use tcplab_trace::{Connection, Flow, Segment, Spurious, Timer};
use tcplab_units::Bytes;

use crate::direction::{Direction, in_each};
use crate::finding::{Cost, Finding, Severity, Shown};
use crate::words::counted;

/// The rule's name.
pub const NAME: &str = "needless-retransmissions";

/// As many pairs of frames are named as evidence.
const NAMED: usize = 10;
const LOOK: &str = "Look for reordering, jumps of the delay, or lost acknowledgements on the path.";

/// At most one finding for each direction.
pub fn examine(connection: &Connection) -> Vec<Finding> {
    in_each(connection, |direction| {
        if direction.flow.segments.is_empty() {
            in_sums(direction)
        } else {
            in_packets(direction.flow)
        }
    })
}

fn in_packets(flow: &Flow) -> Option<Finding> {
    let told: Vec<(&Segment, Spurious)> =
        flow.segments.iter().filter_map(|s| Some((s, s.proof.spurious?))).collect();
    let (first, _) = *told.first()?;
    let all = told.len() as u64;
    let by = |test: &dyn Fn(&Segment) -> bool| told.iter().filter(|(s, _)| test(s)).count() as u64;
    let probes = by(&|s| s.timer == Some(Timer::Probe));
    let timeouts = by(&|s| s.timer == Some(Timer::Retransmission));
    let causes = listed([
        (probes, "tail loss probe"),
        (timeouts, "timeout"),
        (all - probes - timeouts, "retransmission on acknowledgements"),
    ]);
    let by = |test: fn(&Spurious) -> bool| told.iter().filter(|(_, why)| test(why)).count() as u64;
    let proofs = listed([
        (by(|why| matches!(why, Spurious::DSack { .. })), "D-SACK"),
        (by(|why| matches!(why, Spurious::Echo { .. })), "echoed timestamp"),
        (by(|why| matches!(why, Spurious::Acknowledged)), "earlier acknowledgement"),
    ]);
    let statement = format!(
        "{all} of {} {} needless ({causes}): the receiver had the data, as {proofs} told. The \
         first was {first}.",
        counted(flow.totals.retransmissions, "retransmission"),
        was(all),
    );
    let frames = told.iter().take(NAMED).flat_map(|(s, why)| [Some(s.frame), frame(*why)]);
    let shown = Shown::in_frames(frames.flatten(), first.at);
    let cost = Cost::bytes(told.iter().map(|(s, _)| s.payload).sum());
    // A probe costs one segment and does not slow the sender down.
    Some(if probes == all {
        shown.proves(NAME, Severity::Note, cost).stating(statement)
    } else {
        shown.proves(NAME, Severity::Harm, cost).saying(statement, LOOK)
    })
}

/// Those of which there are any: `1 timeout, 2 tail loss probes`.
fn listed<const N: usize>(counts: [(u64, &str); N]) -> String {
    let some = counts.into_iter().filter(|&(count, _)| count > 0);
    some.map(|(count, what)| counted(count, what)).collect::<Vec<_>>().join(", ")
}

/// The frame that told so.
fn frame(why: Spurious) -> Option<u64> {
    match why {
        Spurious::DSack { frame } | Spurious::Echo { frame } => Some(frame),
        Spurious::Acknowledged => None,
    }
}

fn in_sums(direction: &Direction<'_>) -> Option<Finding> {
    let causes = &direction.flow.causes;
    let needless = direction.spurious();
    if needless == 0 {
        return None;
    }
    let (dsack, echo) = (&causes.spurious_by_dsack, &causes.spurious_by_timestamp);
    let told: Vec<String> = [(dsack, "D-SACK told of"), (echo, "echoed timestamps of")]
        .into_iter()
        .filter(|(seen, _)| !seen.is_empty())
        .map(|(seen, what)| format!("{what} {}", seen.count))
        .collect();
    let statement = format!(
        "{needless} of {} {} needless: the receiver had the data ({}).",
        counted(causes.retransmissions().max(needless), "retransmission"),
        was(needless),
        told.join(", "),
    );
    let cost = Cost::bytes(Bytes::new(needless * direction.flow.marks.largest.as_u64()));
    let shown = Shown::by(dsack).and(Shown::by(echo));
    Some(shown.proves(NAME, Severity::Harm, cost).saying(statement, LOOK))
}

fn was(count: u64) -> &'static str {
    if count == 1 { "was" } else { "were" }
}
