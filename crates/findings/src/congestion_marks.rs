//! # Congestion marks
//!
//! **What it says.** Packets carry "congestion experienced" (ECN CE): set by an AQM, or by a
//! device that does not understand the field. Or the sender reduced its window on such marks. Or
//! somebody does not play its part: the receiver that echoes a mark, the sender that answers it.
//!
//! **Why it matters.** Marks slow the sender down without loss. Without ECN agreed on, the sender
//! ignores them, and the device that sets them violates the standard.
//!
//! **Evidence.** The marked packets; the segments with CWR after an echo (ECE), by which a sender
//! answers marks that were set behind the capture point; what the SYNs agreed on. The cost is the
//! time under the congestion window since the first mark. A receiver echoes a mark in each ACK
//! until CWR (RFC 3168 section 6.1.3): one that acknowledges marked data without ever echoing does
//! not. New data without CWR, more than two round trips after an echo, do not answer it.
//!
//! **False positives.** None where the SYNs were captured; otherwise the rule is silent.
//!
//! **Reference.** RFC 3168 sections 5 and 6.1; RFC 9768; RFC 8087 on the benefits of ECN.

use tcplab_trace::{EcnAgreement, Limit};
use tcplab_units::Span;

use crate::words::{counted, part_of_time, percent, times};
use crate::{Cost, Direction, Finding, Rule, Severity, Shown};

/// The rule.
pub const RULE: Rule = Rule::of_directions("congestion-marks", in_direction);

/// The least share of the time under the congestion window that is worth a sentence, per cent.
const SHARE: u64 = 20;

/// The least number of marks, and of segments after an echo, that nobody answered by chance.
const UNANSWERED: u64 = 3;

fn in_direction(direction: &Direction<'_>) -> Option<Finding> {
    let marks = &direction.flow.marks;
    if marks.reductions.is_empty() && marks.not_reduced.count >= UNANSWERED {
        return Some(not_reduced(direction));
    }
    if marks.ce_marks.is_empty() {
        return (!marks.reductions.is_empty()).then(|| reduced(direction));
    }
    let marked = format!(
        "{} of the {} ({}) arrived with a congestion mark (ECN CE)",
        counted(marks.ce_marks.count, "segment"),
        direction.sender,
        percent(marks.ce_marks.count, direction.all_segments()),
    );
    let shown = Shown::by(&marks.ce_marks);
    let ecn = direction.connection.handshake.ecn;
    let is_echo_missing =
        marks.ce_marks.count >= UNANSWERED && marks.marked_data_acked && marks.echoes.is_empty();
    match ecn {
        EcnAgreement::Unknown => None,
        EcnAgreement::Classic if is_echo_missing => {
            let statement = format!(
                "{marked}, and no ACK echoes one (ECE): the {} does not learn of them, and \
                 does not slow down.",
                direction.sender
            );
            Some(shown.proves(RULE.name, Severity::Failure, Cost::NONE).saying(
                statement,
                format!(
                    "The {receiver}'s TCP ignores the marks, or a device clears them behind this \
                     capture point or clears the flag in the ACKs: capture at the {receiver}.",
                    receiver = direction.receiver
                ),
            ))
        }
        EcnAgreement::Classic | EcnAgreement::Accurate if marks.marked_data => {
            let statement = format!(
                "{marked}: an AQM on the path slows the sender down without dropping packets."
            );
            Some(shown.proves(RULE.name, Severity::Note, cost(direction)).stating(statement))
        }
        EcnAgreement::Classic | EcnAgreement::Accurate => {
            let statement =
                format!("{marked}, none with data: the path has a queue in that direction.");
            Some(shown.proves(RULE.name, Severity::Note, Cost::NONE).stating(statement))
        }
        EcnAgreement::NotAsked | EcnAgreement::GivenUp | EcnAgreement::Refused => {
            let statement = format!(
                "{marked}, but the ends did not agree on ECN: a device on the path sets the ECN \
                 bits, and the ends ignore them."
            );
            Some(shown.proves(RULE.name, Severity::Failure, Cost::NONE).saying(
                statement,
                "Look for a device or rule that overwrites the whole type-of-service byte (DSCP \
                 marking must leave its two lowest bits alone).",
            ))
        }
    }
}

/// The sender went on without CWR, though echoes had reached it.
fn not_reduced(direction: &Direction<'_>) -> Finding {
    let (sender, marks) = (direction.sender, &direction.flow.marks);
    let statement = format!(
        "The {} echoed congestion marks (ECE) in {}, and none of the {sender}'s {} that came \
         later has the answer (CWR).",
        direction.receiver,
        counted(marks.echoes.count, "segment"),
        counted(marks.not_reduced.count, "new segment"),
    );
    Shown::by(&marks.echoes)
        .and(Shown::by(&marks.not_reduced))
        .proves(RULE.name, Severity::Failure, Cost::NONE)
        .saying(
            statement,
            format!(
                "The {sender}'s TCP ignores the marks, which is unfair to others; or a device \
                 clears CWR, so that the {} goes on to echo and the {sender} to slow down. Compare \
                 captures of both ends.",
                direction.receiver
            ),
        )
}

/// The marks passed behind the capture point; the sender's answers show them.
fn reduced(direction: &Direction<'_>) -> Finding {
    let reductions = &direction.flow.marks.reductions;
    let mut statement = format!(
        "The {} reduced its window {} on congestion marks (ECN CWR): an AQM on the path slows it \
         down without dropping packets.",
        direction.sender,
        times(reductions.count),
    );
    let cost = cost(direction);
    if let Some(time) = direction.limited(Limit::Congestion, SHARE) {
        let part = part_of_time(time, direction.time());
        statement += &format!(" Its congestion window limited it for {part}.");
    }
    Shown::by(reductions).proves(RULE.name, Severity::Note, cost).stating(statement)
}

/// The time under the congestion window, which marks made smaller: at most all since the first.
fn cost(direction: &Direction<'_>) -> Cost {
    let marks = &direction.flow.marks;
    if marks.reductions.is_empty() {
        return Cost::NONE;
    }
    let first = marks.reductions.first.into_iter().chain(marks.ce_marks.first).min();
    let since = first.map_or(Span::ZERO, |first| direction.connection.last.since(first));
    Cost::time(direction.flow.shares.of(Limit::Congestion).min(since))
}
