//! # Reordering
//!
//! **What it says.** Packets arrived out of order, and whether the sender took that for loss.
//!
//! **Why it matters.** Reordering by three segments causes spurious retransmissions.
//!
//! **Evidence.** The out-of-order packets, distinguished from retransmissions by IP
//! identification, timestamp or time; spurious fast retransmissions.
//!
//! **False positives.** A capture from several queues of a network card can swap packets that the
//! network kept in order. At the sender no reordering is visible, and none is reported.
//!
//! **Reference.** RFC 4737; RFC 8985 section 3.3; J. Bennett et al., "Packet Reordering is Not
//! Pathological Network Behavior".

use crate::words::{amount, counted, percent};
use crate::{Cost, Direction, Finding, Rule, Severity, Shown};

/// The rule.
pub const RULE: Rule = Rule::of_directions("reordering", in_direction);

/// At least so many, and one in so many segments.
const LEAST: u64 = 3;
const ONE_IN: u64 = 1_000;

fn in_direction(direction: &Direction<'_>) -> Option<Finding> {
    let causes = &direction.flow.causes;
    let (reordered, segments) = (causes.out_of_order.count, direction.wire_segments());
    if reordered < LEAST || reordered * ONE_IN < segments {
        return None;
    }
    let mut statement = format!(
        "{} from the {} ({}) arrived out of order, displaced by up to {}.",
        counted(reordered, "packet"),
        direction.sender,
        percent(reordered, segments),
        amount(causes.out_of_order_max),
    );
    let spurious = direction.spurious();
    let severity = if spurious > 0 { Severity::Harm } else { Severity::Note };
    statement += &match spurious {
        0 => " No spurious retransmission followed.".to_owned(),
        1 => " 1 retransmission was spurious.".to_owned(),
        _ => format!(" {spurious} retransmissions were spurious."),
    };
    let shown = Shown::by(&causes.out_of_order);
    let each = direction.flow.marks.largest.as_u64();
    let cost = Cost::bytes(tcplab_units::Bytes::new(spurious * each));
    Some(shown.proves(RULE.name, severity, cost).saying(
        statement,
        "Look for multipath that splits one connection: link aggregation or routes balanced per \
         packet instead of per connection, parallel queues, radio with retransmission. RACK (on \
         Linux net.ipv4.tcp_recovery = 1, the default) and a larger net.ipv4.tcp_reordering \
         tolerate it.",
    ))
}
