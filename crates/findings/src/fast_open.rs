//! # TCP Fast Open without benefit
//!
//! **What it says.** Fast Open gained nothing: the server ignored the SYN's data or sent no cookie.
//!
//! **Why it matters.** The data cross the path twice, and the extra round trip remains.
//!
//! **Evidence.** The SYN and its answer.
//!
//! **False positives.** The first connection to a server only requests a cookie: silent if the
//! server sends one. A server under attack may refuse temporarily. Where the client left Fast Open
//! out of the SYN that was answered, the server ignored nothing: `syn-retransmitted` says so.
//!
//! **Reference.** RFC 7413 sections 3 and 4.

use tcplab_trace::{Connection, HandshakeKind};
use tcplab_units::Bytes;

use crate::words::amount;
use crate::{Cost, Finding, Rule, Severity, Shown};

/// The rule.
pub const RULE: Rule = Rule::of_connection("fast-open", in_handshake);

fn in_handshake(connection: &Connection) -> Option<Finding> {
    let handshake = &connection.handshake;
    let asked = handshake.fast_open?;
    let answered = handshake.kind == HandshakeKind::ThreeWay && handshake.server.seen;
    if !answered || asked.accepted || asked.given_up {
        return None;
    }
    let shown = Shown::by_offers(connection);
    if asked.data > Bytes::ZERO {
        let statement = format!(
            "The server ignored {} of data in the client's SYN (TCP Fast Open); the client sent \
             them again one round trip later.",
            amount(asked.data)
        );
        let cost = Cost { time: handshake.round_trip.unwrap_or_default(), bytes: asked.data };
        return Some(shown.proves(RULE.name, Severity::Harm, cost).saying(
            statement,
            "Give all servers behind one address the same key (net.ipv4.tcp_fastopen_key), enable \
             TCP_FASTOPEN on the listening socket, and look for devices that strip data or \
             options from SYNs.",
        ));
    }
    if asked.cookie_sent || asked.cookie_given {
        return None;
    }
    let statement = "The client requested a Fast Open cookie and the server sent none: later \
                     connections gain nothing.";
    Some(shown.proves(RULE.name, Severity::Note, Cost::NONE).saying(
        statement.to_owned(),
        "Enable it at the server (net.ipv4.tcp_fastopen = 3 and TCP_FASTOPEN on the listening \
         socket), or disable it at the client.",
    ))
}
