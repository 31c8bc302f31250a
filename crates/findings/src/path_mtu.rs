//! # Segment size reduced
//!
//! **What it says.** The largest segments became smaller: the path MTU is below the agreed one, or
//! below that of the first segments; and whether ICMP reported it.
//!
//! **Why it matters.** If routers do not report it (ICMP is filtered), full segments vanish while
//! small ones pass: the connection hangs for seconds or for ever.
//!
//! **Evidence.** The first smaller segment; the timeouts just before it, which are part of this
//! finding. Where the sender never tries smaller ones, other rules say that none of its full
//! segments arrived.
//!
//! Away from the sender, ICMP does not pass, and full segments that vanished show in the gap that
//! smaller ones fill.
//!
//! ICMP may also quote a packet that is larger than the one sent at that place, which fits: a
//! device on the path merged segments (LRO, GRO), and dropped what it could not forward.
//!
//! **False positives.** An application that writes pieces of one size below a full segment; four
//! in a row, each followed at once by more, count as full.
//!
//! **Reference.** RFC 1191; RFC 2923 section 2.1 (black holes); RFC 4821; RFC 8899.

use tcplab_trace::{MergedReport, MssChange, StallCause, TooBigReport};
use tcplab_units::{Bytes, Instant, Span};

use crate::words::{amount, number, rounded, seconds};
use crate::{Cost, Direction, Finding, Rule, Severity, Shown};

/// The rule.
pub const RULE: Rule = Rule::of_directions("path-mtu", in_direction);

/// A silence that ends so shortly before smaller segments is what they answer.
const SOON: Span = Span::from_millis(500);
/// Smaller segments pass everywhere: no router of IPv6 may refuse them (RFC 8200 section 5), and
/// few of IPv4 do.
const LEAST: Bytes = Bytes::new(1_200);

fn in_direction(direction: &Direction<'_>) -> Option<Finding> {
    let changes = &direction.flow.marks.mss_changes;
    let Some((first, last)) = changes.first().zip(changes.last()) else {
        return direction.flow.marks.merged.map(|it| merged(direction, it));
    };
    let handshake = &direction.connection.handshake;
    let is_agreed = handshake.client.seen || handshake.server.seen;
    let mut statement = format!(
        "The path MTU {}: from {} on the {}'s full segments carry {} B instead of {} B.",
        if is_agreed { "is smaller than the ends agreed on" } else { "became smaller" },
        seconds(first.at),
        direction.sender,
        last.to.as_u64(),
        first.from.as_u64(),
    );
    let shown = Shown::in_frames(changes.iter().map(|change| change.frame), first.at);
    let report = direction.flow.marks.too_big;
    let shown = match report {
        Some(report) => shown.and(Shown::in_frames([report.frame], report.at)),
        None => shown,
    };
    statement += &report.map_or(String::new(), |TooBigReport { frame, mtu, .. }| match mtu {
        0 => format!(" ICMP reported it (frame {}).", number(frame)),
        _ => format!(" ICMP reported MTU {mtu} (frame {}).", number(frame)),
    });
    let Some(hole) = BlackHole::of(direction) else {
        let remedy = "No timeout was needed. To avoid the first drop, set the MTU of the \
                      interface or route to that of the path, or let the router clamp the MSS of \
                      SYNs (TCPMSS, clamp to PMTU).";
        return Some(shown.proves(RULE.name, Severity::Note, Cost::NONE).saying(statement, remedy));
    };
    let stalled = rounded(hole.time());
    statement += &match report {
        Some(_) => format!(" The sender stalled for {stalled} before it tried smaller ones."),
        None if direction.is_away() => format!(
            " A PMTU black hole: full segments vanished, and the sender stalled for {stalled} \
             before it tried smaller ones. ICMP to it does not pass this capture point."
        ),
        None => format!(
            " A PMTU black hole: full segments vanished without ICMP, and the sender stalled for \
             {stalled} before it tried smaller ones."
        ),
    };
    let shown = shown.and(Shown::in_frames(hole.frames.iter().copied(), hole.since));
    Some(shown.proves(RULE.name, Severity::Harm, Cost::time(hole.time())).saying(
        statement,
        "Let ICMP through (\"fragmentation needed\", \"packet too big\") on the whole path, or \
         set the MTU of the tunnel or route to what it carries, or clamp the MSS of SYNs (TCPMSS, \
         clamp to PMTU). net.ipv4.tcp_mtu_probing = 1 lets senders find out sooner by themselves.",
    ))
}

/// A device on the path makes packets that are too big for it, of segments that are not.
fn merged(direction: &Direction<'_>, merged: MergedReport) -> Finding {
    let MergedReport { report: TooBigReport { at, frame, mtu }, len, sent } = merged;
    let statement = format!(
        "ICMP called a packet of {len} B too big for MTU {mtu} (frame {}), but the {} sent {sent} B \
         there: a device on the path merged segments (receive offload) and dropped the result.",
        number(frame),
        direction.sender,
    );
    let remedy = "Turn off LRO, and GRO if that does not help, at the device that sent the ICMP \
                  message or forwards to it (`ethtool -K … lro off gro off`). The sender cannot \
                  avoid it.";
    let shown = Shown::in_frames([frame], at);
    shown.proves(RULE.name, Severity::Harm, Cost::NONE).saying(statement, remedy)
}

/// The silence before the first smaller segments.
#[derive(Debug)]
pub(crate) struct BlackHole {
    pub(crate) since: Instant,
    until: Instant,
    pub(crate) frames: Vec<u64>,
}

impl BlackHole {
    pub(crate) fn of(direction: &Direction<'_>) -> Option<BlackHole> {
        let change = direction.flow.marks.mss_changes.first()?;
        let backoff = direction.flow.causes.backoffs.longest.as_ref().map(|backoff| BlackHole {
            since: backoff.since,
            until: backoff.until,
            frames: backoff.frames.clone(),
        });
        let timeouts = [
            StallCause::DoubleLoss,
            StallCause::TailLoss,
            StallCause::SmallWindow,
            StallCause::ContinuousLoss,
            StallCause::Timeout,
            StallCause::Undetermined,
        ];
        let stalls = timeouts.into_iter().filter_map(|cause| {
            let stall = direction.stalls(cause)?.longest;
            let frames = vec![stall.frames.0, stall.frames.1];
            Some(BlackHole { since: stall.from, until: stall.until, frames })
        });
        let silences = stalls.chain(backoff).filter(|silence| silence.ends_with(change));
        silences.max_by_key(BlackHole::time)
    }

    pub(crate) fn time(&self) -> Span {
        self.until.since(self.since)
    }
    fn ends_with(&self, change: &MssChange) -> bool {
        self.since < change.at && change.at <= self.until + SOON
    }
}

/// That a path MTU below a full segment explains the timeouts, if only small segments arrived; and
/// what to do.
pub(crate) fn suspicion(direction: &Direction<'_>) -> Option<(String, String)> {
    let (marks, backoffs) = (&direction.flow.marks, &direction.flow.causes.backoffs);
    let repeated = backoffs.longest.as_ref()?.range.len();
    let full = marks.largest;
    let is_heard = direction.flow.unanswered.heard.is_some();
    if !is_heard || !marks.only_small_arrived || full < LEAST || repeated < full.as_u64() {
        return None;
    }
    let statement = format!(
        " Small packets were answered, but no full segment of {} ever was: perhaps a PMTU black \
         hole.",
        amount(full)
    );
    let sender = direction.sender;
    let remedy = format!(
        "Find out whether the path takes packets of that size (from the {sender}: `ping -M do -s \
         {} {}`). If not, let ICMP through (\"fragmentation needed\", \"packet too big\"), set the \
         MTU of the route, or clamp the MSS of SYNs (TCPMSS); net.ipv4.tcp_mtu_probing = 1 lets \
         the {sender} try smaller segments.",
        echo_as_large(full, direction).as_u64(),
        direction.receiver_address,
    );
    Some((statement, remedy))
}

/// The data of an ICMP echo request whose packet is as large as that of a segment.
fn echo_as_large(segment: Bytes, direction: &Direction<'_>) -> Bytes {
    /// The header of TCP without options, and the timestamps (RFC 7323 appendix A).
    const TCP: Bytes = Bytes::new(20);
    const TIMESTAMPS: Bytes = Bytes::new(12);
    /// That of an echo request (RFC 792, RFC 4443 section 4.1).
    const ECHO: Bytes = Bytes::new(8);
    let options = if direction.is_stamped() { TIMESTAMPS } else { Bytes::ZERO };
    segment + options + TCP - ECHO
}
