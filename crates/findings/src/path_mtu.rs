//! # Segment size reduced
//!
//! **What it says.** The largest segments became smaller: the path MTU is below the agreed one; and
//! whether ICMP reported it.
//!
//! **Why it matters.** If routers do not report it (ICMP is filtered), full segments vanish while
//! small ones pass: the connection hangs for seconds or for ever.
//!
//! **Evidence.** The first smaller segment; the timeouts just before it.
//!
//! **False positives.** An application that writes pieces of one size below a full segment; four
//! in a row, each followed at once by more, count as full.
//!
//! **Reference.** RFC 1191; RFC 2923 section 2.1 (black holes); RFC 4821; RFC 8899.

use tcplab_trace::{MssChange, Stall, StallCause};
use tcplab_units::Span;

use crate::words::{rounded, seconds};
use crate::{Cost, Direction, Finding, Rule, Severity, Shown};

/// The rule.
pub const RULE: Rule = Rule::of_directions("path-mtu", in_direction);

/// A silence that ends so shortly before smaller segments is what they answer.
const SOON: Span = Span::from_millis(500);

fn in_direction(direction: &Direction<'_>) -> Option<Finding> {
    let changes = &direction.flow.marks.mss_changes;
    let (first, last) = (changes.first()?, changes.last()?);
    let mut statement = format!(
        "The path MTU is smaller than the ends agreed on: from {} on the {}'s full segments carry \
         {} B instead of {} B.",
        seconds(first.at),
        direction.sender,
        last.to.as_u64(),
        first.from.as_u64(),
    );
    let shown = Shown::in_frames(changes.iter().map(|change| change.frame), first.at);
    let Some(silence) = silence_before(direction, first) else {
        let remedy = "No timeout was needed. To avoid the first drop, set the MTU of the \
                      interface or route to that of the path, or let the router clamp the MSS of \
                      SYNs (TCPMSS, clamp to PMTU).";
        return Some(shown.proves(RULE.name, Severity::Note, Cost::NONE).saying(statement, remedy));
    };
    let waited = silence.until.since(silence.from);
    statement += &format!(
        " A PMTU black hole: full segments vanished without ICMP, and the sender stalled for {} \
         before it tried smaller ones.",
        rounded(waited)
    );
    let shown = shown.and(Shown::by_stall(silence));
    Some(shown.proves(RULE.name, Severity::Harm, Cost::time(waited)).saying(
        statement,
        "Let ICMP through (\"fragmentation needed\", \"packet too big\") on the whole path, or \
         set the MTU of the tunnel or route to what it carries, or clamp the MSS of SYNs (TCPMSS, \
         clamp to PMTU). net.ipv4.tcp_mtu_probing = 1 lets senders find out sooner by themselves.",
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
