//! # SYN sent again
//!
//! **What it says.** The connection opened late because a SYN or its answer had to be sent again.
//!
//! **Why it matters.** Before anything is known of the path the timer is one second long, and
//! doubles: one lost packet costs a second or three.
//!
//! **Evidence.** The repeated SYNs and SYN-ACKs; how long opening took against its round trip.
//!
//! **False positives.** A capture that begins between the first SYN and its repetition hides the
//! first.
//!
//! **Reference.** RFC 6298 section 2.1 (one second); tcp(7) on tcp_syn_retries; listen(2) on the
//! backlog.

use tcplab_trace::Connection;
use tcplab_units::Span;

use crate::finding::{Cost, Finding, Severity, Shown};
use crate::words::{rounded, times};

/// The rule's name.
pub const NAME: &str = "syn-repeated";

/// At most one finding.
pub fn examine(connection: &Connection) -> Vec<Finding> {
    in_handshake(connection).into_iter().collect()
}

fn in_handshake(connection: &Connection) -> Option<Finding> {
    let handshake = &connection.handshake;
    let took = handshake.opened?.since(handshake.syn?);
    let sent = [
        (handshake.client_repeats, "the client's SYN"),
        (handshake.server_repeats, "the server's SYN-ACK"),
    ];
    let again: Vec<String> = sent
        .iter()
        .filter(|(repeats, _)| *repeats > 0)
        .map(|(repeats, what)| format!("{what} was sent again {}", times(*repeats)))
        .collect();
    if again.is_empty() {
        return None;
    }
    let round_trip = handshake.round_trip.unwrap_or(Span::ZERO);
    let instead = handshake.round_trip.map(|usual| format!(" instead of {}", rounded(usual)));
    let statement = format!(
        "Opening took {}{}: {}.",
        rounded(took),
        instead.unwrap_or_default(),
        again.join(", and ")
    );
    let remedy = if handshake.client_repeats > 0 {
        "Look whether the server's backlog overflowed (on Linux `nstat -az TcpExtListenOverflows`; \
         raise listen()'s backlog and net.core.somaxconn, accept faster); otherwise the path \
         lost the SYN or a firewall dropped it."
    } else {
        "The SYN-ACK or the client's answer to it was lost: look for loss at the client's side, \
         or for packets that take another way back."
    };
    let repeats = Shown::by(&connection.forward.causes.syn_retransmissions)
        .and(Shown::by(&connection.reverse.causes.syn_retransmissions));
    let cost = Cost::time(took.saturating_sub(round_trip));
    let shown = repeats.or(Shown::by_all(connection));
    Some(shown.proves(NAME, Severity::Harm, cost).saying(statement, remedy))
}
