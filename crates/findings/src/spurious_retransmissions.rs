//! # Spurious retransmissions
//!
//! **What it says.** Segments were retransmitted although the originals arrived.
//!
//! **Why it matters.** They cost capacity, and the sender reduced its window without loss: the
//! path reorders, its delay jumps, or ACKs are lost.
//!
//! **Evidence.** Each retransmission and the ACK whose D-SACK block reports it as a duplicate, or
//! whose echoed timestamp answers the original. Without stored packets: the sums of these.
//!
//! **False positives.** A packet duplicated by the network is reported the same way; it counts
//! only if the capture shows a retransmission of the same data before the report.
//!
//! **Reference.** RFC 2883; RFC 3708 on what senders can conclude; RFC 3522 on timestamps.

use tcplab_trace::{Flow, Segment, Spurious, Timer};
use tcplab_units::Bytes;

use crate::words::counted;
use crate::{Cost, Direction, Finding, Rule, Severity, Shown};

/// The rule.
pub const RULE: Rule = Rule::of_directions("spurious-retransmissions", in_direction);

/// The most pairs of frames named as evidence.
const NAMED: usize = 10;
const LOOK: &str = "Look for reordering, delay spikes or lost ACKs on the path.";

fn in_direction(direction: &Direction<'_>) -> Option<Finding> {
    if direction.flow.segments.is_empty() { in_sums(direction) } else { in_packets(direction.flow) }
}

fn in_packets(flow: &Flow) -> Option<Finding> {
    let spurious: Vec<(&Segment, Spurious)> =
        flow.segments.iter().filter_map(|s| Some((s, s.proof.spurious?))).collect();
    let (first, _) = *spurious.first()?;
    let count = |test: &dyn Fn(&Segment, Spurious) -> bool| {
        spurious.iter().filter(|(s, why)| test(s, *why)).count() as u64
    };
    let found = spurious.len() as u64;
    let probes = count(&|s, _| s.timer == Some(Timer::Probe));
    let timeouts = count(&|s, _| s.timer == Some(Timer::Retransmission));
    let causes = [
        (probes, "tail loss probe"),
        (timeouts, "timeout"),
        (found - probes - timeouts, "fast retransmission"),
    ];
    let proofs = [
        (count(&|_, why| matches!(why, Spurious::DSack { .. })), "D-SACK"),
        (count(&|_, why| matches!(why, Spurious::Echo { .. })), "echoed timestamp"),
        (count(&|_, why| why == Spurious::Acknowledged), "earlier acknowledgement"),
    ];
    let all = flow.totals.retransmissions;
    let statement = if found == 1 {
        let which = match all {
            1 => "The one retransmission".to_owned(),
            _ => format!("1 of {}", counted(all, "retransmission")),
        };
        let (cause, proof) = (only(causes), only(proofs));
        format!(
            "{which} ({cause}) was spurious: {} {proof} shows that the original of {first} arrived.",
            article(proof)
        )
    } else {
        format!(
            "{found} of {} were spurious ({}): {} show that the originals arrived. The first was \
             {first}.",
            counted(all, "retransmission"),
            listed(causes),
            listed(proofs),
        )
    };
    let frames = spurious.iter().take(NAMED).flat_map(|(s, why)| [Some(s.frame), frame(*why)]);
    let shown = Shown::in_frames(frames.flatten(), first.at);
    let cost = Cost::bytes(spurious.iter().map(|(s, _)| s.payload).sum());
    // A probe costs one segment and does not slow the sender down.
    Some(if probes == found {
        shown.proves(RULE.name, Severity::Note, cost).stating(statement)
    } else {
        shown.proves(RULE.name, Severity::Harm, cost).saying(statement, LOOK)
    })
}

/// Those that occur: `1 timeout, 2 tail loss probes`.
fn listed<const N: usize>(counts: [(u64, &str); N]) -> String {
    let some = counts.into_iter().filter(|&(count, _)| count > 0);
    some.map(|(count, what)| counted(count, what)).collect::<Vec<_>>().join(", ")
}

fn only<const N: usize>(counts: [(u64, &'static str); N]) -> &'static str {
    counts.into_iter().find(|&(count, _)| count > 0).map_or("", |(_, what)| what)
}

fn article(noun: &str) -> &'static str {
    if noun.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" }
}

fn frame(why: Spurious) -> Option<u64> {
    match why {
        Spurious::DSack { frame } | Spurious::Echo { frame } => Some(frame),
        Spurious::Acknowledged => None,
    }
}

fn in_sums(direction: &Direction<'_>) -> Option<Finding> {
    let causes = &direction.flow.causes;
    let spurious = direction.spurious();
    if spurious == 0 {
        return None;
    }
    let (dsack, echo) = (&causes.spurious_by_dsack, &causes.spurious_by_timestamp);
    let statement = format!(
        "{spurious} of {} {} spurious: {} show that the originals arrived.",
        counted(causes.retransmissions().max(spurious), "retransmission"),
        if spurious == 1 { "was" } else { "were" },
        listed([(dsack.count, "D-SACK"), (echo.count, "echoed timestamp")]),
    );
    let cost = Cost::bytes(Bytes::new(spurious * direction.flow.marks.largest.as_u64()));
    let shown = Shown::by(dsack).and(Shown::by(echo));
    Some(shown.proves(RULE.name, Severity::Harm, cost).saying(statement, LOOK))
}
