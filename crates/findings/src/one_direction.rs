//! # One direction captured
//!
//! **What it says.** All packets are of one end, and they show that the other end answered.
//!
//! **Why it matters.** Round trips, data in flight, windows, limits and the causes of
//! retransmissions need both directions: nothing is said of them, and no other rule is asked.
//!
//! **Evidence.** The acknowledgement numbers or echoed timestamps of the end that was captured
//! changed, or it acknowledged a SYN-ACK: the other end's packets arrived there.
//!
//! **False positives.** A capture of few packets that missed those of the other end.
//!
//! Of a socket connected to itself (RFC 9293 section 3.5: a simultaneous open) that is said.
//!
//! **Reference.** RFC 9293 section 3.4; RFC 7323 section 3.2.

use tcplab_trace::Connection;

use crate::{Cost, Finding, Rule, Severity, Shown};

/// The rule.
pub const RULE: Rule = Rule::of_connection("one-direction", in_connection);

fn in_connection(connection: &Connection) -> Option<Finding> {
    let end = connection.one_way?;
    let shown = Shown::by_all(connection).proves(RULE.name, Severity::Doubt, Cost::NONE);
    if connection.client == connection.server {
        let statement = "A socket is connected to itself: both directions have the same address \
                         and port, and cannot be told apart. RTT, data in flight, windows, limits \
                         and the causes of retransmissions cannot be known.";
        return Some(shown.saying(
            statement.to_owned(),
            "The program connects to a port of its own host from the range of ephemeral ports, \
             where nothing listens: bind to another port, or start the server first.",
        ));
    }
    let (seen, other) = (end.name(), end.other().name());
    let statement = format!(
        "Only one direction was captured: the {seen}'s packets, whose acknowledgements show that \
         the {other} answered. RTT, data in flight, windows, limits and the causes of \
         retransmissions cannot be known."
    );
    Some(shown.saying(
        statement,
        "Capture where both directions pass: a mirror port must mirror both, a route may be \
         asymmetric, a filter may name one end as the source only.",
    ))
}
