//! # SYN retransmitted
//!
//! **What it says.** The handshake was late because a SYN or SYN-ACK had to be retransmitted.
//!
//! **Why it matters.** The initial timeout is one second and doubles.
//!
//! **Evidence.** The retransmitted SYNs and SYN-ACKs; the time of the handshake against its RTT.
//!
//! Where the server answered a SYN with an ACK of other data, it still held an older connection of
//! the same ports: the client's RST ends that, and only the next SYN opens another. If that one had
//! closed in the capture, the server was in TIME-WAIT; if not, the ACK is a challenge ACK.
//!
//! Where the client left ECN or TCP Fast Open out of the SYN that was answered, a device may drop
//! SYNs with them. A lost SYN looks the same, as clients leave them out of retransmissions.
//!
//! **False positives.** A capture that begins after the first SYN misses it.
//!
//! **Reference.** RFC 6298 section 2.1; RFC 9293 sections 3.5.1 (figure 10) and 3.6.1; tcp(7) on
//! tcp_syn_retries; listen(2) on the backlog; RFC 3168 section 6.1.1.1 and RFC 7413 section 4.1.3.1
//! (SYNs without ECN or Fast Open after a timeout).

use tcplab_trace::{Connection, EcnAgreement, Handshake};
use tcplab_units::Span;

use crate::words::{rounded, times};
use crate::{Cost, Finding, Rule, Severity, Shown};

/// No timer expires sooner: a SYN that is repeated before answers a copy of the other end's.
const LEAST: Span = Span::from_millis(100);

/// What to do where the server still holds a connection that the client has forgotten.
pub(crate) const FORGOTTEN: &str = "The client forgot that connection without closing it (a \
    crash, a restart, a NAT that reuses ports): let it close or reset connections, or use more \
    ports; keep-alives let the server forget sooner.";

/// What to do where the server holds it in TIME-WAIT.
pub(crate) const TOO_SOON: &str = "The client used its port again too soon: let it choose ports at \
    random, send timestamps (the server accepts the SYN with a later one at once, RFC 6191), or \
    keep the connection for more requests.";

/// The rule.
pub const RULE: Rule = Rule::of_connection("syn-retransmitted", in_handshake);

fn in_handshake(connection: &Connection) -> Option<Finding> {
    let handshake = &connection.handshake;
    let took = handshake.opened?.since(handshake.syn?);
    let causes = [&connection.forward.causes, &connection.reverse.causes];
    let [syns, syn_acks] = causes.map(|causes| &causes.syn_retransmissions);
    // What came again too soon for a timer answered the other end's.
    let syns_again = handshake.client_repeats.min(syns.count);
    let syn_acks_again = handshake.server_repeats.min(syn_acks.count);
    let sent = [(syns_again, "the client's SYN"), (syn_acks_again, "the server's SYN-ACK")];
    let again: Vec<String> = sent
        .iter()
        .filter(|(repeats, _)| *repeats > 0)
        .map(|(repeats, what)| format!("{what} was retransmitted {}", times(*repeats)))
        .collect();
    let round_trip = handshake.round_trip.unwrap_or(Span::ZERO);
    let late = took.saturating_sub(round_trip);
    if again.is_empty() || late < LEAST {
        return None;
    }
    let instead = handshake.round_trip.map(|usual| format!(" instead of {}", rounded(usual)));
    let old = &handshake.old_answers;
    let is_held = !old.is_empty();
    let held = match connection.reuses {
        Some(open) if connection.reuses_open => format!(
            " Connection {open} of the same ports was still open{}.",
            if is_held {
                ": the server answered with an ACK of that (a challenge ACK)"
            } else {
                ""
            }
        ),
        _ if !is_held => String::new(),
        Some(closed) => format!(
            " The server answered with an ACK of connection {closed}, which had closed and which \
             it still held in TIME-WAIT (RFC 9293 section 3.6.1)."
        ),
        None => " The server answered with an ACK of an older connection of the same ports, which \
                 it still held."
            .to_owned(),
    };
    let left_out = left_out(handshake);
    let answered = left_out
        .map_or(String::new(), |(what, _)| format!(" Only a SYN without {what} was answered."));
    let statement = format!(
        "The handshake took {}{}: {}.{held}{answered}",
        rounded(took),
        instead.unwrap_or_default(),
        again.join(", and ")
    );
    let remedy = if connection.reuses_open {
        FORGOTTEN
    } else if is_held && connection.reuses.is_some() {
        TOO_SOON
    } else if is_held {
        FORGOTTEN
    } else if let Some((_, remedy)) = left_out {
        remedy
    } else if syns_again > 0 && !was_answered(connection) {
        "Check whether the server's backlog overflowed (on Linux `nstat -az \
         TcpExtListenOverflows`; raise listen()'s backlog and net.core.somaxconn, accept faster); \
         otherwise the path lost the SYN or a firewall dropped it."
    } else {
        "The SYN-ACK or the client's ACK was lost: look for loss near the client and for an \
         asymmetric return path."
    };
    let cost = Cost::time(late);
    let shown = Shown::by(syns).and(Shown::by(syn_acks)).and(Shown::by(old));
    Some(shown.proves(RULE.name, Severity::Harm, cost).saying(statement, remedy))
}

/// Whether a SYN before the last had arrived: the SYN-ACK came before that, or echoes an earlier
/// timestamp because the first SYN-ACKs were lost.
fn was_answered(connection: &Connection) -> bool {
    let causes = &connection.forward.causes;
    let syns = &causes.syn_retransmissions;
    let seen = connection.handshake.syn_ack.zip(syns.first).is_some_and(|(ack, syn)| ack < syn);
    seen || syns.frames.iter().any(|syn| causes.spurious.sent.frames.contains(syn))
}

/// What the client left out of the SYN that was answered, and what to do about it.
fn left_out(handshake: &Handshake) -> Option<(&'static str, &'static str)> {
    if handshake.fast_open.is_some_and(|asked| asked.given_up) {
        Some((
            "TCP Fast Open",
            "If other connections show that, too, a device on the path or the server's firewall \
             drops SYNs with Fast Open: let it pass option 34 and SYNs with data, or do without \
             at the client (net.ipv4.tcp_fastopen). Else the SYN was lost, or the server's backlog \
             overflowed.",
        ))
    } else if handshake.ecn == EcnAgreement::GivenUp {
        Some((
            "ECN",
            "If other connections show that, too, a device on the path or the server's firewall \
             drops SYNs that ask for ECN (flags ECE and CWR): let it pass them, or do without at \
             the client (net.ipv4.tcp_ecn). Else the SYNs were lost, or the server's backlog \
             overflowed.",
        ))
    } else {
        None
    }
}
