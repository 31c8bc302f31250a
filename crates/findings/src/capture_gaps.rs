//! # Capture with gaps
//!
//! **What it says.** Data were acknowledged that the capture does not hold: it missed packets, the
//! network did not.
//!
//! **Why it matters.** Every count of this direction is too low, and causes may be wrong: what is
//! missing here may be what prompted a packet that is there.
//!
//! **Evidence.** The acknowledgements that cover data never seen.
//!
//! **False positives.** Where packets take two ways and the tap stands on one of them, the capture
//! is right and the tap is wrong.
//!
//! **Reference.** pcap(3) on `ps_drop`; V. Paxson, "Automated Packet Trace Analysis of TCP
//! Implementations", section 3.

use tcplab_trace::Connection;

use crate::direction::{Direction, in_each};
use crate::finding::{Cost, Finding, Severity, Shown};
use crate::words::{amount, percent, times};

/// The rule's name.
pub const NAME: &str = "capture-gaps";

/// At most one finding for each direction.
pub fn examine(connection: &Connection) -> Vec<Finding> {
    in_each(connection, in_direction)
}

fn in_direction(direction: &Direction<'_>) -> Option<Finding> {
    let causes = &direction.flow.causes;
    if causes.acked_not_captured.is_empty() {
        return None;
    }
    let missed = causes.acked_not_captured_bytes;
    let all = direction.flow.totals.unique.as_u64() + missed.as_u64();
    let statement = format!(
        "The capture missed packets from the {}: {} the {} acknowledged data that it does not \
         hold, {} in all ({}). Counts of this direction are too low, and causes may be wrong.",
        direction.sender,
        times(causes.acked_not_captured.count),
        direction.receiver,
        amount(missed),
        percent(missed.as_u64(), all),
    );
    let shown = Shown::by(&causes.acked_not_captured);
    Some(shown.proves(NAME, Severity::Doubt, Cost::NONE).saying(
        statement,
        "Capture again with a larger buffer and less of each packet (`tcpdump -B 65536 -s 128`), \
         on a host with time to spare, and where all packets pass.",
    ))
}
