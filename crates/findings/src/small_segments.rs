//! # Flood of small segments
//!
//! **What it says.** Data were sent in many small segments while others were on their way.
//!
//! **Why it matters.** Each carries 40 bytes of headers and more, and costs both ends, and every
//! device between them, as much work as a full one.
//!
//! **Evidence.** How many segments, their mean size against a full one, and how many were sent
//! while data before them were not acknowledged, which Nagle's algorithm would not have done.
//!
//! **False positives.** Keystrokes and game moves want to be sent at once; they come too rarely to
//! make a flood (a hundred small segments in flight, and less than a full one's third each).
//!
//! **Reference.** RFC 896; RFC 9293 section 3.7.4.

use tcplab_trace::Connection;
use tcplab_units::Bytes;

use crate::direction::{Direction, in_each};
use crate::finding::Shown;
use crate::finding::{Cost, Finding, Severity};
use crate::words::{amount, counted, percent};

/// The rule's name.
pub const NAME: &str = "small-segments";

/// At least so many small ones with others in flight, and half of all.
const LEAST: u64 = 100;
/// Small means less than a full segment's third on the average.
const PART: u64 = 3;
/// The least headers of a packet: IPv4 and TCP without options, bytes.
const HEADERS: u64 = 40;

/// At most one finding for each direction.
pub fn examine(connection: &Connection) -> Vec<Finding> {
    in_each(connection, in_direction)
}

fn in_direction(direction: &Direction<'_>) -> Option<Finding> {
    let (totals, marks) = (&direction.flow.totals, &direction.flow.marks);
    let segments = direction.segments();
    let full = full_segment(direction)?;
    let mean = totals.data.as_u64().checked_div(segments)?;
    let flood = marks.small_in_flight >= LEAST && marks.small_in_flight * 2 >= segments;
    if !flood || mean * PART >= full {
        return None;
    }
    let headers = segments * HEADERS;
    let enough = totals.data.as_u64().div_ceil(full);
    let statement = format!(
        "The {} sent {} of {mean} B on the average, though {full} B fit into one, and {} of them \
         while data before were still on their way. {enough} would have done; headers made up at \
         least {} of what was sent.",
        direction.sender,
        counted(segments, "segment"),
        marks.small_in_flight,
        percent(headers, headers + totals.data.as_u64()),
    );
    let wasted = Bytes::new((segments - enough.min(segments)) * HEADERS);
    let remedy = format!(
        "Gather data into larger writes (a buffer, writev, MSG_MORE or TCP_CORK); where \
         TCP_NODELAY is set without need, drop it. That would save {} of headers.",
        amount(wasted),
    );
    let shown = Shown::by_all(direction.connection);
    Some(shown.proves(NAME, Severity::Harm, Cost::bytes(wasted)).saying(statement, remedy))
}

/// What fits: as both ends agreed, or the largest that was seen.
fn full_segment(direction: &Direction<'_>) -> Option<u64> {
    let agreed = direction.sender_offers.mss.into_iter().chain(direction.receiver_offers.mss).min();
    let both = direction.sender_offers.mss.is_some() && direction.receiver_offers.mss.is_some();
    let seen = direction.flow.marks.largest.as_u64();
    match agreed.filter(|_| both) {
        // Timestamps take twelve bytes of it (RFC 7323 appendix A).
        Some(mss) => Some(u64::from(mss).saturating_sub(12).max(seen)),
        None => Some(seen).filter(|&seen| seen > 0),
    }
}
