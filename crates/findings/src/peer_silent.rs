//! # No answer any more
//!
//! **What it says.** The other end sent nothing, or nothing after some time, though the sender
//! retransmitted.
//!
//! **Why it matters.** The connection is dead, or as good as dead; no setting of TCP helps.
//!
//! **Evidence.** The other end's last packet, or, without any, waits of the sender that doubled
//! (RFC 6298 section 5.5); retransmissions until the end of the capture. What they cost is part of
//! this finding: those on timeouts and losses since then are left out. If neither end sent data for
//! some time after that packet, the silence begins with the data that were not answered.
//!
//! **False positives.** A capture that ends during an outage.
//! Where only small segments ever arrived, the path MTU is named as well.
//!
//! **Reference.** RFC 9293 section 3.8.3; `net.ipv4.tcp_retries2` and TCP_USER_TIMEOUT in Linux.

use tcplab_trace::Limit;
use tcplab_units::{Instant, Span};

use crate::words::{rounded, seconds, times};
use crate::{
    Cost, Direction, Finding, Rule, Severity, Shown, lost_retransmissions, not_opened, path_mtu,
    recovery_episode, tail_loss, timeout_backoff, timeouts,
};

/// The rule.
pub const RULE: Rule = Rule::of_directions("peer-silent", in_direction);

/// A single loss is repaired after one retransmission, and within the first timeout of RFC 6298.
const LEAST: u64 = 2;
const LONG: Span = Span::from_secs(1);
/// From such a time without packets on, address translation and firewalls forget connections: some
/// from 30 s on, many after 4 to 6 minutes.
const IDLE: Span = Span::from_secs(30);
/// After this time many of them do.
const USUAL: Span = Span::from_secs(240);

/// What else the silence looks like: these rules explain how losses are repaired on a path that
/// still carries something.
const SAME: [Rule; 5] = [
    lost_retransmissions::RULE,
    recovery_episode::RULE,
    tail_loss::RULE,
    timeout_backoff::RULE,
    timeouts::RULE,
];

/// Leaves out the findings whose evidence begins in the silence.
pub(crate) fn leave_out_its_parts(findings: &mut Vec<Finding>) {
    let silent = findings.iter().filter(|finding| finding.rule == RULE.name);
    let Some(since) = silent.map(|finding| finding.at).max() else { return };
    let is_part = |finding: &Finding| SAME.iter().any(|rule| rule.name == finding.rule);
    findings.retain(|finding| finding.at < since || !is_part(finding));
}

fn in_direction(direction: &Direction<'_>) -> Option<Finding> {
    let (connection, unanswered) = (direction.connection, direction.flow.unanswered);
    let (heard, frame) = unanswered.heard.or_else(|| never_heard(direction))?;
    let asked = unanswered.asked.filter(|&(at, _)| at.since(heard) >= LONG);
    let (since, asked_in) = asked.unwrap_or((heard, frame));
    let silence = connection.last.since(since);
    let is_reset = connection.life.close.is_some_and(|close| close.reset_by.is_some());
    let is_short = unanswered.retransmissions < LEAST || silence < LONG;
    if is_short || is_reset || not_opened::is_failed(connection) {
        return None;
    }
    let (sender, receiver) = (direction.sender, direction.receiver);
    let (took, again) = (rounded(silence), times(unanswered.retransmissions));
    let idle = since.since(heard);
    let mut statement = match unanswered.heard {
        Some(_) if idle >= LONG => format!(
            "The {receiver} stopped answering: its last packet passed at {} (frame {frame}). For \
             {} neither end sent data; then the {sender} did, at {}, and in the {took} since it \
             retransmitted {again}. Whether its data or the answers were lost is unknown.",
            seconds(heard),
            rounded(idle),
            seconds(since),
        ),
        Some(_) => format!(
            "The {receiver} stopped answering: its last packet passed at {} (frame {frame}). In \
             the {took} since then the {sender} retransmitted {again}. Whether its data or the \
             answers were lost is unknown.",
            seconds(heard),
        ),
        None => format!(
            "No packet of the {receiver} was captured, and the {sender} got no answer either: it \
             retransmitted {again} in {took}, after waits that doubled. Whether its data or the \
             answers were lost is unknown.",
        ),
    };
    let mut remedy = format!(
        "The {receiver}'s host is down or disconnected, the path is interrupted, or a firewall or \
         address translation has dropped the connection. Capture at the {receiver} too. \
         TCP_USER_TIMEOUT or a timeout of the application lets the {sender} give up sooner.",
    );
    if idle >= IDLE {
        let first = format!(
            "Address translation or a firewall on the path probably forgot the connection while \
             it was idle: let the {sender} send keep-alives more often than that forgets \
             (SO_KEEPALIVE with TCP_KEEPIDLE below {}, or a ping of the application), or open a \
             new connection after a pause.",
            rounded(idle.min(USUAL)),
        );
        remedy = or_else(&first, &remedy);
    }
    if let Some((why, first)) = path_mtu::suspicion(direction) {
        statement += &why;
        remedy = or_else(&first, &remedy);
    }
    let cost = Cost::time(silence.min(direction.flow.shares.of(Limit::Timeout)));
    let shown = Shown::in_frames([frame, asked_in, connection.frames.1], since);
    Some(shown.proves(RULE.name, Severity::Harm, cost).saying(statement, remedy))
}

/// The beginning of a capture without a packet of the other end, whose sender backed off.
fn never_heard(direction: &Direction<'_>) -> Option<(Instant, u64)> {
    direction.flow.causes.backoffs.longest.as_ref()?;
    Some((direction.connection.first, direction.connection.frames.0))
}

/// One remedy, and another one where that does not help.
fn or_else(first: &str, other: &str) -> String {
    format!("{first} Else: {}{}", other[..1].to_lowercase(), &other[1..])
}
