//! # Capture with gaps
//!
//! **What it says.** Data were acknowledged but not captured: the capture missed packets that the
//! network delivered (Wireshark: "ACKed segment that wasn't captured").
//!
//! **Why it matters.** Counts of this direction are too low, and causes may be wrong.
//!
//! **Evidence.** The acknowledgements that cover data never captured.
//!
//! **False positives.** Two routes, of which only one passes the capture point.
//!
//! **Reference.** pcap(3) on `ps_drop`; V. Paxson, "Automated Packet Trace Analysis of TCP
//! Implementations", section 3.

use crate::words::{amount, percent, times};
use crate::{Cost, Direction, Finding, Rule, Severity, Shown};

/// The rule.
pub const RULE: Rule = Rule::of_directions("capture-gaps", in_direction);

fn in_direction(direction: &Direction<'_>) -> Option<Finding> {
    let causes = &direction.flow.causes;
    if causes.acked_not_captured.is_empty() {
        return None;
    }
    let missed = causes.acked_not_captured_bytes;
    let all = direction.flow.totals.unique.as_u64() + missed.as_u64();
    let statement = format!(
        "The capture missed packets from the {}: {} the {} acknowledged data that was not \
         captured, {} in all ({}). Counts of this direction are too low; causes may be wrong.",
        direction.sender,
        times(causes.acked_not_captured.count),
        direction.receiver,
        amount(missed),
        percent(missed.as_u64(), all),
    );
    let shown = Shown::by(&causes.acked_not_captured);
    Some(shown.proves(RULE.name, Severity::Doubt, Cost::NONE).saying(
        statement,
        "Capture again with a larger buffer and a shorter snapshot length (`tcpdump -B 65536 -s \
         128`), on an idle host, at a point that all packets pass.",
    ))
}
