//! # Few segments in flight
//!
//! **What it says.** The sender kept far less in flight than both the path and the receive window
//! allow, without a loss or a mark that would have told it to.
//!
//! **Why it matters.** One flight per RTT at most: something at the sender set the rate.
//!
//! **Evidence.** The largest flight against the bandwidth-delay product and the receive window; no
//! retransmission, no ECN, and the time in which the sender waited for an ACK with data to send.
//!
//! **False positives.** An overestimated path rate. What bounds the flight is not on the wire: the
//! rule names what can, and claims none of it.
//!
//! **Reference.** RFC 9293 section 3.8.6; RFC 5681 section 3.1: a congestion window grows until a
//! loss.

use tcplab_trace::{CapturePoint, EcnAgreement, Limit};

use crate::words::{amount, counted, part_of_time, rounded, speed};
use crate::{Cost, Direction, Finding, Rule, Severity};

/// The rule.
pub const RULE: Rule = Rule::of_directions("flight-limited", in_direction);

/// The least share of the time, per cent.
const SHARE: u64 = 50;

fn in_direction(direction: &Direction<'_>) -> Option<Finding> {
    let flow = direction.flow;
    let time = direction.limited(Limit::Congestion, SHARE).filter(|_| direction.is_transfer())?;
    // Marks pass behind the sender's capture point, and ECN-Echoes are not counted.
    let ecn = direction.connection.handshake.ecn;
    let may_be_marked =
        !matches!(ecn, EcnAgreement::NotAsked | EcnAgreement::GivenUp | EcnAgreement::Refused);
    let is_prompted = flow.totals.retransmissions > 0 || may_be_marked;
    if is_prompted || flow.capture_point != CapturePoint::Sender {
        return None;
    }
    let window = flow.windows.max.filter(|_| flow.windows.scale_negotiated)?;
    let (needed, capacity) = direction.bandwidth_delay_product().zip(flow.transfer.capacity)?;
    let most = flow.totals.max_in_flight;
    let twice = most.as_u64() * 2;
    if twice >= needed.as_u64() || twice > window.as_u64() {
        return None;
    }
    let (rate, round_trip) = direction.rate_of_window(most).zip(direction.round_trip())?;
    let segments = most.as_u64().div_ceil(flow.marks.largest.as_u64().max(1));
    let statement = format!(
        "The {} kept at most {} in flight ({}) and waited for ACKs for {}, although nothing was lost \
         and the receive window held {}. At an RTT of {} that is at most {}; the path showed {}, \
         which needs {}.",
        direction.sender,
        counted(segments, "segment"),
        amount(most),
        part_of_time(time, direction.time()),
        amount(window),
        rounded(round_trip),
        speed(rate),
        speed(capacity),
        amount(needed),
    );
    let shown = direction.shown_under(Limit::Congestion);
    Some(shown.proves(RULE.name, Severity::Harm, Cost::time(time)).saying(
        statement,
        "What bounds it is at the sender, and no packet shows it: a small send buffer, a fixed \
         number of buffers or unacknowledged segments (embedded stacks), or a congestion window \
         that starts from a stored threshold (on Linux `ip tcp_metrics show`).",
    ))
}
