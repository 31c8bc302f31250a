//! # Spurious retransmissions
//!
//! **What it says.** Segments were retransmitted although the originals arrived.
//!
//! **Why it matters.** They cost capacity, and the sender reduced its window without loss: the
//! path reorders, its delay jumps, or ACKs are lost.
//!
//! **Evidence.** Each retransmission and the ACK whose D-SACK block reports it as a duplicate, or
//! whose echoed timestamp answers the original, or that it came after the ACK of its data.
//!
//! **False positives.** A packet duplicated by the network is reported the same way; it counts
//! only if the capture shows a retransmission of the same data before the report.
//!
//! **Reference.** RFC 2883; RFC 3708 on what senders can conclude; RFC 3522 on timestamps.

use crate::words::counted;
use crate::{Cost, Direction, Finding, Rule, Severity, Shown};

/// The rule.
pub const RULE: Rule = Rule::of_directions("spurious-retransmissions", in_direction);

const LOOK: &str = "Look for reordering, delay spikes or lost ACKs on the path.";

fn in_direction(direction: &Direction<'_>) -> Option<Finding> {
    let causes = &direction.flow.causes;
    let spurious = &causes.spurious;
    let found = spurious.sent.count;
    if found == 0 {
        return None;
    }
    let known = spurious.probes + spurious.timeouts + spurious.fast + spurious.after_timeout;
    let by = [
        (spurious.probes, "tail loss probe"),
        (spurious.timeouts, "timeout"),
        (spurious.fast, "fast retransmission"),
        (spurious.after_timeout, "slow-start retransmission"),
        (found.saturating_sub(known), "unexplained retransmission"),
    ];
    let proofs = [
        (causes.spurious_by_dsack.count, "D-SACK"),
        (causes.spurious_by_timestamp.count, "echoed timestamp"),
        (spurious.acknowledged, "earlier acknowledgement"),
    ];
    let all = counted(direction.flow.totals.retransmissions, "retransmission");
    let statement = if found == 1 {
        let which = match direction.flow.totals.retransmissions {
            1 => "The one retransmission".to_owned(),
            _ => format!("1 of {all}"),
        };
        let (cause, proof) = (only(by), only(proofs));
        format!(
            "{which} ({cause}) was spurious: {} {proof} shows that the original arrived.",
            article(proof)
        )
    } else {
        let (by, proofs) = (listed(by), listed(proofs));
        format!("{found} of {all} were spurious ({by}): {proofs} show that the originals arrived.")
    };
    let shown = Shown::by(&spurious.sent);
    let shown =
        shown.and(Shown::in_frames(spurious.shown_by.iter().copied(), direction.connection.last));
    let cost = Cost::bytes(spurious.bytes);
    // A probe costs one segment and does not slow the sender down.
    Some(if spurious.probes == found {
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
