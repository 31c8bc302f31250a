//! # TCP Fast Open without use
//!
//! **What it says.** The client asked for Fast Open and gained nothing: the server did not take the
//! data in the SYN, or gave no cookie.
//!
//! **Why it matters.** The data go over the path twice, and the round trip that was to be saved is
//! spent.
//!
//! **Evidence.** The SYN and what answered it.
//!
//! **False positives.** The first connection to a server only asks for a cookie: that is silent if
//! the server gives one. A server under attack may refuse for a while.
//!
//! **Reference.** RFC 7413 sections 3 and 4.

use tcplab_trace::{Connection, HandshakeKind};
use tcplab_units::Bytes;

use crate::finding::{Cost, Finding, Severity, Shown};
use crate::words::amount;

/// The rule's name.
pub const NAME: &str = "fast-open";

/// At most one finding.
pub fn examine(connection: &Connection) -> Vec<Finding> {
    in_handshake(connection).into_iter().collect()
}

fn in_handshake(connection: &Connection) -> Option<Finding> {
    let handshake = &connection.handshake;
    let asked = handshake.fast_open?;
    let answered = handshake.kind == HandshakeKind::ThreeWay && handshake.server.seen;
    if !answered || asked.accepted {
        return None;
    }
    let shown = Shown::by_offers(connection);
    if asked.data > Bytes::ZERO {
        let statement = format!(
            "The client sent {} of data with its SYN (TCP Fast Open), and the server did not take \
             them: they had to be sent again a round trip later.",
            amount(asked.data)
        );
        let cost = Cost { time: handshake.round_trip.unwrap_or_default(), bytes: asked.data };
        return Some(shown.proves(NAME, Severity::Harm, cost).saying(
            statement,
            "Let all servers behind one address share their key (net.ipv4.tcp_fastopen_key), give \
             the listening socket a queue (TCP_FASTOPEN), and look for devices that strip data or \
             options from SYNs.",
        ));
    }
    if asked.cookie_sent || asked.cookie_given {
        return None;
    }
    let statement = "The client asked for a Fast Open cookie and the server gave none: later \
                     connections will not be quicker.";
    Some(shown.proves(NAME, Severity::Note, Cost::NONE).saying(
        statement.to_owned(),
        "Turn it on at the server (net.ipv4.tcp_fastopen = 3 and TCP_FASTOPEN on the listening \
         socket), or drop it at the client.",
    ))
}
