//! # Tail loss
//!
//! **What it says.** The last segments before a pause were lost, and the sender needed a timer.
//!
//! **Why it matters.** No later data reveals the gap, so the sender waits for its probe (two round
//! trips) or its retransmission timer (200 ms and more). Short transfers are all tail.
//!
//! **Evidence.** The stalls of that cause; tail loss probes that retransmit data.
//!
//! Where ICMP shows that a device merged segments and dropped the result, the remedy is there
//! (`path-mtu`).
//!
//! **False positives.** A receiver that delays its last ACK longer than the sender expects causes
//! a probe too; such probes turn out to be spurious.
//!
//! **Reference.** RFC 8985 section 7; T. Flach et al., "Reducing Web Latency: the Virtue of Gentle
//! Aggression".

use tcplab_trace::StallCause;
use tcplab_units::Span;

use crate::words::{part_of_time, rounded, seconds, times};
use crate::{Cost, Direction, Finding, Rule, Severity, Shown, is_share};

/// The rule.
pub const RULE: Rule = Rule::of_directions("tail-loss", in_direction);

/// The least share of the transfer, per cent, or the least time.
const SHARE: u64 = 10;
const LONG: Span = Span::from_millis(200);

fn in_direction(direction: &Direction<'_>) -> Option<Finding> {
    let tails = direction.stalls(StallCause::TailLoss)?;
    if tails.time < LONG && !is_share(tails.time, direction.time(), SHARE) {
        return None;
    }
    let longest = &tails.longest;
    let mut statement = format!(
        "The {} lost the last segments before a pause {} and waited for a timer: {}.",
        direction.sender,
        times(tails.count),
        part_of_time(tails.time, direction.time().max(tails.time)),
    );
    if tails.count > 1 {
        statement += &format!(
            " The longest wait was {}, from {} on.",
            rounded(longest.until.since(longest.from)),
            seconds(longest.from)
        );
    }
    let no_probes = direction.flow.causes.tail_loss_probes.is_empty();
    let remedy = if direction.flow.marks.merged.is_some() {
        "A device on the path merged segments and dropped the result: neither probes nor shorter \
         timers change that."
    } else if direction.refusal(|syn| syn.sack_permitted).is_some() {
        "Enable SACK at both ends: without it the sender may not send tail loss probes."
    } else if no_probes {
        "No tail loss probe was sent: enable them at the sender (on Linux \
         net.ipv4.tcp_early_retrans = 3, the default), or allow a shorter timeout on short paths \
         (ip route … rto_min)."
    } else {
        "Find out where the path drops the end of bursts (a short queue, a policer); on short \
         paths allow a shorter timeout (ip route … rto_min), or keep the connection busy."
    };
    let shown = Shown::by_stall(longest).and(Shown::by(&direction.flow.causes.tail_loss_probes));
    Some(shown.proves(RULE.name, Severity::Harm, Cost::time(tails.time)).saying(statement, remedy))
}
