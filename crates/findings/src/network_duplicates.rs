//! # Network duplicates packets
//!
//! **What it says.** Packets sent once arrived twice.
//!
//! **Why it matters.** Copies cost capacity and trigger duplicate ACKs. They point to a loop, a
//! flooding switch, or redundancy that does not remove its copies.
//!
//! **Evidence.** Copies with the same sequence number and the same IP identification.
//!
//! **False positives.** A capture that records packets twice, and a radio that repeats them, which
//! other rules report.
//!
//! **Reference.** RFC 5560; RFC 2883 section 4.1.

use tcplab_units::Bytes;

use crate::words::{counted, percent};
use crate::{Cost, Direction, Finding, Rule, Severity, Shown};

/// The rule.
pub const RULE: Rule = Rule::of_directions("network-duplicates", in_direction);

/// At least so many, and one in so many segments.
const LEAST: u64 = 3;
const ONE_IN: u64 = 1_000;

fn in_direction(direction: &Direction<'_>) -> Option<Finding> {
    let copies = &direction.flow.causes.network_duplicates;
    let segments = direction.wire_segments();
    let few = copies.count < LEAST || copies.count * ONE_IN < segments;
    if few || direction.capture_makes_copies() {
        return None;
    }
    let statement = format!(
        "The network duplicated {} from the {} ({}): sent once, received twice.",
        counted(copies.count, "packet"),
        direction.sender,
        percent(copies.count, segments),
    );
    let cost = Cost::bytes(Bytes::new(copies.count * direction.flow.marks.largest.as_u64()));
    let shown = Shown::by(copies);
    Some(shown.proves(RULE.name, Severity::Harm, cost).saying(
        statement,
        "Look for a loop or a flooding switch (`bridge fdb`, spanning tree), links bonded in \
         broadcast mode, redundancy (PRP, HSR) that does not remove copies, and radio links that \
         repeat frames already received.",
    ))
}
