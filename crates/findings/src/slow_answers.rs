//! # Slow answers
//!
//! **What it says.** The server took long before it answered, or before it spoke first.
//!
//! **Why it matters.** The "slow network" is a slow server: the request was acknowledged.
//!
//! **Evidence.** The stalls between requests and the first data of their answers, the first one
//! among them; and between the handshake and the first data of a server that speaks first. Away
//! from the server they begin when it acknowledged the whole request; where the answer brings the
//! ACK, the least round trip to it is taken off.
//!
//! **False positives.** Servers that hold a request until there is news (long polling), or send
//! news without a request. Of Multipath TCP the rule is silent: the answer may have come on another
//! subflow (RFC 8684). Away from the server, queues on the path where no ACK came before the
//! answers. If the capture begins in the middle, the client may be taken for the server, and
//! without timestamps the way to it is not known.
//!
//! **Reference.** J. Zhou et al., "Demystifying and Mitigating TCP Stalls at the Server Side",
//! section 3 (server idle).

use tcplab_trace::StallCause;
use tcplab_units::Span;

use crate::words::{percent, rounded, seconds, times};
use crate::{Cost, Direction, Finding, Rule, Severity, Shown, is_share};

/// The rule.
pub const RULE: Rule = Rule::of_directions("slow-answers", in_direction);

/// The least share of the connection's time, per cent.
const SHARE: u64 = 20;
/// And the least time.
const LEAST: Span = Span::from_millis(100);
/// So long a wait for a greeting is noticed, whatever follows.
const LONG: Span = Span::from_secs(1);

const ANSWERS: &str = "The requests had arrived: look at the server's application and its back \
                       ends (database, other services), not at the network.";
const PERHAPS_QUEUES: &str = "Look at the server's application and its back ends (database, other \
                              services). The ACKs came with the answers, so waits in queues on \
                              the path count as well: a capture at the server tells them apart.";
const PERHAPS_PATH: &str = "The capture does not show how far the server is, so the path's round \
                            trips count as well: capture at the server, or from the handshake on.";
const GREETING: &str = "Find out what the server does before its greeting: looking up the client's \
                        name (reverse DNS; UseDNS in sshd), an ident query (port 113) that a \
                        firewall drops, a delay against spam (greet pause), too few workers.";

/// Only for the server: what the client delays is its next request, not an answer.
fn in_direction(direction: &Direction<'_>) -> Option<Finding> {
    if direction.sender != "server" || direction.connection.handshake.multipath {
        return None;
    }
    let thinking = direction.stalls(StallCause::SenderIdle)?;
    let life = direction.connection.last.since(direction.connection.first);
    let greeting = direction.flow.marks.greeting.unwrap_or_default();
    let is_noticed = thinking.time >= LEAST && is_share(thinking.time, life, SHARE);
    if !is_noticed && greeting < LONG {
        return None;
    }
    let longest = &thinking.longest;
    let (statement, remedy) = if greeting * 2 > thinking.time {
        let statement = format!(
            "The server, which speaks first, sent its first data {} after the handshake ({} of \
             the connection).",
            rounded(greeting),
            percent(greeting.as_nanos(), life.as_nanos()),
        );
        (statement, GREETING)
    } else {
        let statement = format!(
            "The server was slow to answer {}, {} in all ({} of the connection). The longest wait \
             was {}, from {} on.",
            times(thinking.count),
            rounded(thinking.time),
            percent(thinking.time.as_nanos(), life.as_nanos()),
            rounded(longest.until.since(longest.from)),
            seconds(longest.from),
        );
        (statement, remedy(direction, thinking.count))
    };
    let found =
        Shown::by_stall(longest).proves(RULE.name, Severity::Harm, Cost::time(thinking.time));
    Some(found.saying(statement, remedy))
}

/// What the capture point leaves open is said first.
fn remedy(direction: &Direction<'_>, answers: u64) -> &'static str {
    if direction.is_lost_in_midstream() {
        PERHAPS_PATH
    } else if direction.is_away() && direction.flow.marks.answers_with_ack * 2 > answers {
        PERHAPS_QUEUES
    } else {
        ANSWERS
    }
}
