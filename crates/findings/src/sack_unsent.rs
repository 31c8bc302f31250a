//! # SACK blocks of data never sent
//!
//! **What it says.** The receiver's ACKs have SACK blocks for data that the sender never sent.
//!
//! **Why it matters.** The sender ignores such blocks, and the ACKs that bear them: no loss is
//! repaired before a timer expires, although both ends agreed on SACK. Neither TCP is at fault.
//!
//! **Evidence.** Blocks beyond both the highest byte sent and the receive window, or below the SYN,
//! at least three times. So data that the capture misses are not taken for such.
//!
//! **False positives.** A receiver whose TCP writes wrong blocks.
//!
//! **Reference.** RFC 2018 section 3; Linux `tcp_is_sackblock_valid`; Cisco ASA, "TCP sequence
//! number randomization".

use tcplab_trace::Limit;

use crate::words::times;
use crate::{Cost, Direction, Finding, Rule, Severity, Shown};

/// The rule.
pub const RULE: Rule = Rule::of_directions("sack-unsent", in_direction);

/// Fewer may be damaged packets.
const LEAST: u64 = 3;

fn in_direction(direction: &Direction<'_>) -> Option<Finding> {
    let seen = &direction.flow.acking.sack_unsent;
    if seen.count < LEAST {
        return None;
    }
    let (sender, receiver) = (direction.sender, direction.receiver);
    let statement = format!(
        "ACKs from the {receiver} reported data that the {sender} never sent, {}: their SACK blocks \
         lie outside the sequence numbers sent, so the {sender} ignores them and waits for timers \
         after losses.",
        times(seen.count),
    );
    let cost = Cost::time(direction.flow.shares.of(Limit::Timeout));
    Some(Shown::by(seen).proves(RULE.name, Severity::Harm, cost).saying(
        statement,
        format!(
            "Look for a firewall or load balancer that changes sequence numbers (randomises the \
             initial ones) and does not translate SACK blocks: switch that off, or update it. Until \
             then turn SACK off at one end (on Linux net.ipv4.tcp_sack = 0). A capture at the \
             {receiver} shows whether its blocks are right there.",
        ),
    ))
}
