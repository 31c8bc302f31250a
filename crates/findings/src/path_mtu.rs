//! # Full segments became smaller
//!
//! **What it says.** In the middle of the connection the largest segments became smaller: the path
//! carries less than its ends agreed on; and whether the sender had to find that out by itself.
//!
//! **Why it matters.** If routers do not tell (their ICMP messages are filtered), full segments
//! vanish while small ones pass: the connection hangs for seconds or for ever.
//!
//! **Evidence.** The first smaller segment; the timeouts just before it.
//!
//! **False positives.** An application that writes pieces of one size below a full segment; four in
//! a row, each followed at once by more, are taken for full ones.
//!
//! **Reference.** RFC 1191; RFC 2923 section 2.1 (black holes); RFC 4821; RFC 8899.

use tcplab_trace::{Connection, MssChange, Stall, StallCause};
use tcplab_units::Span;

use crate::direction::{Direction, in_each};
use crate::finding::{Cost, Finding, Severity, Shown};
use crate::words::{rounded, seconds};

/// The rule's name.
pub const NAME: &str = "path-mtu";

/// A silence that ends so shortly before smaller segments is what they answer.
const SOON: Span = Span::from_millis(500);

/// At most one finding for each direction.
pub fn examine(connection: &Connection) -> Vec<Finding> {
    in_each(connection, in_direction)
}

fn in_direction(direction: &Direction<'_>) -> Option<Finding> {
    let changes = &direction.flow.marks.mss_changes;
    let (first, last) = (changes.first()?, changes.last()?);
    let mut statement = format!(
        "From {} on the {}'s full segments carried {} B instead of {} B: the path's MTU is smaller \
         than what the ends agreed on.",
        seconds(first.at),
        direction.sender,
        last.to.as_u64(),
        first.from.as_u64(),
    );
    let shown = Shown::in_frames(changes.iter().map(|change| change.frame), first.at);
    let Some(silence) = silence_before(direction, first) else {
        let remedy = "No timeout was waited for. To spare the first packets the detour, set the MTU \
                      of the interface or route to what the path carries, or let the router reduce \
                      the MSS of passing SYNs (TCPMSS, clamp to PMTU).";
        return Some(shown.proves(NAME, Severity::Note, Cost::NONE).saying(statement, remedy));
    };
    let waited = silence.until.since(silence.from);
    statement += &format!(
        " Nobody told the sender: full segments vanished, and it stood still for {} before it \
         tried smaller ones (a black hole).",
        rounded(waited)
    );
    let shown = shown.and(Shown::by_stall(silence));
    Some(shown.proves(NAME, Severity::Harm, Cost::time(waited)).saying(
        statement,
        "Let ICMP through (\"fragmentation needed\", \"packet too big\") everywhere on the way, or \
         set the tunnel's or route's MTU to what it carries, or reduce the MSS of passing SYNs \
         (TCPMSS, clamp to PMTU). Senders find out sooner by themselves with \
         net.ipv4.tcp_mtu_probing = 1.",
    ))
}

/// The longest timeout that ended when the smaller segments began.
fn silence_before<'a>(direction: &Direction<'a>, change: &MssChange) -> Option<&'a Stall> {
    let timeouts = [
        StallCause::DoubleLoss,
        StallCause::TailLoss,
        StallCause::SmallWindow,
        StallCause::ContinuousLoss,
        StallCause::Timeout,
    ];
    let longest = timeouts.into_iter().filter_map(|cause| Some(&direction.stalls(cause)?.longest));
    let near = |stall: &&Stall| stall.from < change.at && change.at <= stall.until + SOON;
    longest.filter(near).max_by_key(|stall| stall.until.since(stall.from))
}
