//! # Slow answers
//!
//! **What it says.** The server took long before it answered.
//!
//! **Why it matters.** The "slow network" is a slow server: the request was acknowledged.
//!
//! **Evidence.** The stalls between requests and the first data of their answers, the first one
//! among them. Away from the server they begin when it acknowledged the whole request.
//!
//! **False positives.** Servers that hold a request until there is news (long polling). If the
//! capture begins in the middle, the client may be taken for the server.
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

/// Only for the server: what the client delays is its next request, not an answer.
fn in_direction(direction: &Direction<'_>) -> Option<Finding> {
    if direction.sender != "server" {
        return None;
    }
    let thinking = direction.stalls(StallCause::SenderIdle)?;
    let life = direction.connection.last.since(direction.connection.first);
    if thinking.time < LEAST || !is_share(thinking.time, life, SHARE) {
        return None;
    }
    let longest = &thinking.longest;
    let statement = format!(
        "The server was slow to answer {}, {} in all ({} of the connection). The longest wait was \
         {}, from {} on.",
        times(thinking.count),
        rounded(thinking.time),
        percent(thinking.time.as_nanos(), life.as_nanos()),
        rounded(longest.until.since(longest.from)),
        seconds(longest.from),
    );
    let remedy = "The requests had arrived: look at the server's application and its back ends \
                  (database, other services), not at the network.";
    let shown = Shown::by_stall(longest);
    Some(
        shown
            .proves(RULE.name, Severity::Harm, Cost::time(thinking.time))
            .saying(statement, remedy),
    )
}
