//! # Flood of small segments
//!
//! **What it says.** The sender sent many small segments with other data in flight.
//!
//! **Why it matters.** Each has 40 bytes of headers and costs as much work as a full one.
//!
//! **Evidence.** The number of segments, their mean size against a full one, and how many were
//! sent with unacknowledged data before them, which Nagle's algorithm prevents.
//!
//! **False positives.** Keystrokes and game moves have to leave at once; they are too rare for a
//! flood (a hundred small segments in flight, each less than a third of a full one).
//!
//! **Reference.** RFC 896; RFC 9293 section 3.7.4.

use tcplab_units::Bytes;

use crate::words::{amount, counted, percent};
use crate::{Cost, Direction, Finding, Rule, Severity, Shown};

/// The rule.
pub const RULE: Rule = Rule::of_directions("small-segments", in_direction);

/// At least so many small ones with others in flight, and half of all.
const LEAST: u64 = 100;
/// Small means less than a full segment's third on the average.
const PART: u64 = 3;
/// The least headers of a packet: IPv4 and TCP without options, bytes.
const HEADERS: u64 = 40;

fn in_direction(direction: &Direction<'_>) -> Option<Finding> {
    let (totals, marks) = (&direction.flow.totals, &direction.flow.marks);
    let segments = direction.wire_segments();
    let full = full_segment(direction)?;
    let mean = totals.data.as_u64().checked_div(segments)?;
    let flood = marks.small_in_flight >= LEAST && marks.small_in_flight * 2 >= segments;
    if !flood || mean * PART >= full {
        return None;
    }
    let headers = segments * HEADERS;
    let enough = totals.data.as_u64().div_ceil(full);
    let statement = format!(
        "The {} sent {} of {mean} B on average ({full} B fit), {} of them with data in flight. \
         {enough} would do; at least {} of the bytes are headers.",
        direction.sender,
        counted(segments, "segment"),
        marks.small_in_flight,
        percent(headers, headers + totals.data.as_u64()),
    );
    let wasted = Bytes::new((segments - enough.min(segments)) * HEADERS);
    let remedy = format!(
        "Write larger pieces (a buffer, writev, MSG_MORE or TCP_CORK); remove TCP_NODELAY where \
         it is not needed. That saves {} of headers.",
        amount(wasted),
    );
    let shown = Shown::by_all(direction.connection);
    Some(shown.proves(RULE.name, Severity::Harm, Cost::bytes(wasted)).saying(statement, remedy))
}

/// What fits: as both ends agreed, or the largest captured.
fn full_segment(direction: &Direction<'_>) -> Option<u64> {
    let agreed = direction.sender_offers.mss.into_iter().chain(direction.receiver_offers.mss).min();
    let both = direction.sender_offers.mss.is_some() && direction.receiver_offers.mss.is_some();
    let largest = direction.flow.marks.largest.as_u64();
    match agreed.filter(|_| both) {
        // Timestamps take twelve bytes of it (RFC 7323 appendix A).
        Some(mss) => Some(u64::from(mss).saturating_sub(12).max(largest)),
        None => Some(largest).filter(|&largest| largest > 0),
    }
}
