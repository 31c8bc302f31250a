//! # The sender does not react
//!
//! **What it says.** ACKs had revealed a loss to the sender, and it waited for its retransmission
//! timer: how many ACKs came, what it did meanwhile, and which rule it lacks.
//!
//! **Why it matters.** The path did its part. A timeout costs several round trips and slow start;
//! a fast retransmit costs one round trip. Only another TCP at the sender helps.
//!
//! **Evidence.** The timer's retransmissions. They follow three duplicate ACKs, SACK blocks that
//! show the segment lost, or a partial ACK in fast recovery, more than half a round trip later, and
//! the segment was not retransmitted before. A capture at the sender shows that the ACKs arrived.
//! Between the ends the timestamps that the sender echoes prove it, as long as nothing was lost
//! before the capture point. Elsewhere nothing is counted: the ACKs, or the reaction, may be lost.
//!
//! **False positives.** A sender that waits for more duplicate ACKs on a path with much reordering.
//! A host too busy to answer for that long.
//!
//! **Reference.** RFC 5681 section 3.2; RFC 6675 sections 4 and 5; RFC 6582 section 3.2.

use tcplab_trace::{CapturePoint, Occurrences};
use tcplab_units::Bytes;

use crate::words::{amount, counted, rounded};
use crate::{Cost, Direction, Finding, Rule, Severity, Shown};

/// The rule.
pub const RULE: Rule = Rule::of_directions("no-reaction", in_direction);

fn in_direction(direction: &Direction<'_>) -> Option<Finding> {
    let ignored = &direction.flow.causes.ignored_acks;
    let kinds: [(&Occurrences, &str, &str); 3] = [
        (
            &ignored.after_duplicate_acks,
            "three duplicate ACKs",
            "fast retransmit (RFC 5681 section 3.2)",
        ),
        (
            &ignored.after_sack,
            "SACK blocks above the lost segment",
            "loss recovery by SACK (RFC 6675 section 5)",
        ),
        (
            &ignored.after_partial_ack,
            "a partial ACK",
            "retransmission on partial ACKs (RFC 6582 section 3.2, step 3)",
        ),
    ];
    let met: Vec<_> = kinds.into_iter().filter(|(seen, ..)| !seen.is_empty()).collect();
    if met.is_empty() {
        return None;
    }
    let signs: Vec<String> = match met.as_slice() {
        [(_, sign, _)] => vec![(*sign).to_owned()],
        _ => met.iter().map(|(seen, sign, _)| format!("{sign} ({})", seen.count)).collect(),
    };
    let causes = &direction.flow.causes;
    let elsewhere = causes.by_duplicate_acks.count + causes.by_sack.count + causes.by_rack.count;
    let lacks: Vec<&str> = met.iter().map(|(.., rule)| *rule).collect();
    let sender = direction.sender;
    let meanwhile = match ignored.sent {
        Bytes::ZERO => "It sent nothing meanwhile".to_owned(),
        sent => format!("Meanwhile it sent {} of new data", amount(sent)),
    };
    let known = match direction.flow.capture_point {
        CapturePoint::Sender => "",
        _ => " The timestamps that it echoed show that it had received these ACKs.",
    };
    let statement = format!(
        "The {sender} did not react to {}: {} waited for the retransmission timer, {} in all, after \
         {}. {meanwhile}. {}{known}",
        signs.join(" and "),
        counted(ignored.timeouts(), "retransmission"),
        rounded(ignored.waited),
        counted(ignored.duplicate_acks, "duplicate ACK"),
        match elsewhere {
            0 => format!("It lacks {}.", lacks.join(" and ")),
            n => format!("Elsewhere it did: {}.", counted(n, "fast retransmission")),
        },
    );
    let shown = met.iter().map(|(seen, ..)| Shown::by(seen)).reduce(Shown::and)?;
    let cost = Cost::time(ignored.waited);
    Some(shown.proves(RULE.name, Severity::Harm, cost).saying(
        statement,
        if elsewhere == 0 {
            format!(
                "Look at the {sender}'s TCP, not at the path: update it, or replace it by one with \
                 fast retransmit and SACK recovery. Less loss on the path only makes it rarer."
            )
        } else {
            format!(
                "Look at the {sender} at these moments, not at the path: a host without time, a \
                 queue before its network, or a rule of its TCP that waits here."
            )
        },
    ))
}
