//! # Connection not established
//!
//! **What it says.** The handshake failed: no answer, an ACK of an older connection, a refusal, or
//! no final ACK.
//!
//! **Why it matters.** Each points elsewhere: the path there, the server, the return path.
//!
//! **Evidence.** The SYNs and their answers, an RST among them.
//!
//! **False positives.** A capture of one direction shows answered SYNs as unanswered. A port scan
//! leaves half-open connections on purpose.
//!
//! **Reference.** RFC 9293 sections 3.5 and 3.10.7.1; RFC 5961 section 4.2.

use tcplab_trace::{Connection, HandshakeKind};
use tcplab_units::{Endpoint, Span};

use crate::syn_retransmitted::{FORGOTTEN, TOO_SOON};
use crate::words::{rounded, times};
use crate::{Cost, Finding, Rule, Severity, Shown};

/// The rule.
pub const RULE: Rule = Rule::of_connection("not-opened", in_handshake);

/// Whether the handshake failed. Then an RST is part of that, and no finding of its own.
pub(crate) fn is_failed(connection: &Connection) -> bool {
    use HandshakeKind::{HalfOpen, Refused, Unanswered};
    matches!(connection.handshake.kind, Unanswered | Refused | HalfOpen)
}

fn in_handshake(connection: &Connection) -> Option<Finding> {
    let handshake = &connection.handshake;
    let lasted = connection.last.since(connection.first);
    let server = connection.server;
    let syns = sent("SYN", 1 + handshake.client_repeats, lasted);
    let reset_by = connection.life.close.and_then(|close| close.reset_by);
    let (statement, remedy) = match handshake.kind {
        HandshakeKind::Unanswered if handshake.old_answers.is_empty() => {
            let by_client = reset_by == Some(Endpoint::Client);
            let given_up = if by_client { " and gave up with RST" } else { "" };
            unanswered(connection, &format!("{syns}{given_up}"))
        }
        // An RST answers that ACK, and does not give up.
        HandshakeKind::Unanswered => answered_by_old(connection, &syns),
        HandshakeKind::Refused => (
            format!("{server} refused the connection: the client {syns} and got RST."),
            "Nothing listens on this address and port, or a firewall rejects: check the server \
             with `ss -ltn`.",
        ),
        HandshakeKind::HalfOpen if reset_by == Some(Endpoint::Client) => (
            format!("The client answered the SYN-ACK of {server} with RST: it {syns}."),
            "The client had given up waiting, or it never meant to connect (a load balancer's \
             health check, a scan), or its SYN came from elsewhere (a forged address, address \
             translation).",
        ),
        HandshakeKind::HalfOpen => (
            format!(
                "The connection stayed half open: the server {}, and the client never \
                 acknowledged it{}.",
                sent("SYN-ACK", 1 + handshake.server_repeats, lasted),
                if reset_by.is_some() { "; the server gave up with RST" } else { "" },
            ),
            "The SYN-ACK is lost on its way (asymmetric routes, address translation, a firewall \
             at the client), or the client was gone or never meant to connect (a scan).",
        ),
        _ => return None,
    };
    let shown = Shown::by(&connection.forward.causes.syn_retransmissions)
        .and(Shown::by(&connection.reverse.causes.syn_retransmissions))
        .and(Shown::by(&handshake.old_answers))
        .and(Shown::by_all(connection));
    Some(shown.proves(RULE.name, Severity::Failure, Cost::time(lasted)).saying(statement, remedy))
}

/// Nothing came from the server; `syns`: what the client sent.
fn unanswered(connection: &Connection, syns: &str) -> (String, &'static str) {
    let server = connection.server;
    match connection.reuses.filter(|_| connection.reuses_open) {
        Some(open) => (
            format!(
                "{server} sent no SYN-ACK: the client {syns}, on the ports of connection {open}."
            ),
            "That connection was still open, and a SYN gets a challenge ACK only (an old or forged \
             SYN, or a client that restarted); or a firewall drops the SYN, the host is down, or \
             its backlog is full.",
        ),
        None => (
            format!("{server} never answered: the client {syns}."),
            "A firewall drops the SYN, the host is down, or its backlog is full. Capture at the \
             server too, to see whether the SYN arrives.",
        ),
    }
}

/// The server answered the SYN from an older connection of the same ports.
fn answered_by_old(connection: &Connection, syns: &str) -> (String, &'static str) {
    let (whose, remedy) = match connection.reuses {
        // RFC 5961 section 4.2.
        Some(open) if connection.reuses_open => (
            format!("connection {open} of the same ports, which was still open"),
            "A SYN within an open connection gets a challenge ACK only: it is an old or forged \
             one, or the client has forgotten that connection (a crash, a restart, a NAT that \
             reuses ports).",
        ),
        Some(closed) => {
            (format!("connection {closed}, which had closed, from TIME-WAIT"), TOO_SOON)
        }
        None => ("an older connection of the same ports".to_owned(), FORGOTTEN),
    };
    let server = connection.server;
    (format!("{server} answered the SYN with an ACK of {whose}: the client {syns}."), remedy)
}

fn sent(what: &str, count: u64, lasted: Span) -> String {
    match count {
        1 => format!("sent its {what} once"),
        _ => format!("sent its {what} {} in {}", times(count), rounded(lasted)),
    }
}
