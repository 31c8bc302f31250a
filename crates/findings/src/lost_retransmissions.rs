//! # Lost retransmissions
//!
//! **What it says.** A large share of the retransmissions was lost again.
//!
//! **Why it matters.** Independent loss of one per cent hits one retransmission in a hundred; many
//! more mean an outage, a policer, or a queue that stays full during recovery.
//!
//! **Evidence.** Retransmissions of data that had been retransmitted before.
//!
//! **False positives.** Premature timeouts; those known to be spurious do not count. The rule is
//! silent where the path MTU may be the reason.
//!
//! **Reference.** RFC 8985 section 3.1; T. Flach et al., "An Internet-Wide Analysis of Traffic
//! Policing", section 3.

use tcplab_units::Bytes;

use crate::path_mtu;
use crate::words::{counted, percent};
use crate::{Cost, Direction, Finding, Rule, Severity, Shown};

/// The rule.
pub const RULE: Rule = Rule::of_directions("lost-retransmissions", in_direction);

/// At least `LEAST`, and one in `ONE_IN` retransmissions.
const LEAST: u64 = 3;
const ONE_IN: u64 = 10;
/// From this ratio to the loss rate of all segments, chance does not explain the losses.
const ODD: u64 = 2;

fn in_direction(direction: &Direction<'_>) -> Option<Finding> {
    let causes = &direction.flow.causes;
    let again = causes.lost_retransmissions.count.saturating_sub(direction.spurious());
    let (lost, segments) = (direction.lost(), direction.wire_segments());
    let by_chance = again * segments <= lost * lost * ODD;
    if again < LEAST || again * ONE_IN < lost || by_chance || direction.begins_in_recovery() {
        return None;
    }
    if path_mtu::BlackHole::of(direction).is_some() || path_mtu::suspicion(direction).is_some() {
        return None;
    }
    let statement = format!(
        "{} of the {}'s {} were lost again ({}), against {} of all segments: losses cluster.",
        again,
        direction.sender,
        counted(lost, "retransmission"),
        percent(again, lost),
        percent(lost, segments),
    );
    let shown = Shown::by(&causes.lost_retransmissions);
    let cost = Cost::bytes(Bytes::new(again * direction.flow.marks.largest.as_u64()));
    Some(shown.proves(RULE.name, Severity::Harm, cost).saying(
        statement,
        "Look for outages (handover, radio, a route that flaps) and for policers, which drop \
         above a rate where a shaper would queue; pacing at the sender (`tc qdisc … fq`, BBR) \
         helps against policers.",
    ))
}
