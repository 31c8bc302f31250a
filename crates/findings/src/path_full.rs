//! # The path is full
//!
//! **What it says.** The transfer used the capacity of the path: nothing is left to tune.
//!
//! **Why it matters.** The link is the bottleneck; no other reason needs to be looked for.
//!
//! **Evidence.** The share of time with ACKs at the path's rate; goodput against that rate.
//!
//! **False positives.** A rate limit at the sender (a shaper, pacing at a fixed rate) looks like a
//! path's. Cross traffic takes its share: the path is what was left. A return path full of ACKs
//! looks the same. Without the window scale a full receive window may, too: a note then. Away from
//! the sender, even writes do: the rule is silent on small segments there.
//!
//! **Reference.** RFC 6349 section 4.1 (transfer time ratio); C. Dovrolis et al.,
//! "Packet-Dispersion Techniques and a Capacity-Estimation Methodology".

use tcplab_trace::Limit;

use crate::words::{part_of_time, percent, speed};
use crate::{Cost, Direction, Finding, Rule, Severity};

/// The rule.
pub const RULE: Rule = Rule::of_directions("path-full", in_direction);

/// The least share of the time, per cent.
const SHARE: u64 = 70;
/// The least goodput, per cent of the path's rate.
const REACHED: u64 = 80;
/// Away from the sender smaller segments, per cent of full ones, are an application's writes.
const SMALL: u64 = 80;

fn in_direction(direction: &Direction<'_>) -> Option<Finding> {
    let full = direction.limited(Limit::Path, SHARE).filter(|_| direction.is_transfer())?;
    let transfer = &direction.flow.transfer;
    let (goodput, capacity) = (transfer.goodput?, transfer.capacity?);
    let (reached, whole) = (goodput.bits_per_second(), capacity.bits_per_second());
    if u128::from(reached) * 100 < u128::from(whole) * u128::from(REACHED) {
        return None;
    }
    if direction.is_away() && has_small_segments(direction) {
        return None;
    }
    let mut statement = format!(
        "The {} filled the path for {}: {} of {} ({}). No setting at the ends makes this faster, \
         only a faster link, for the data or for their ACKs, or less data.",
        direction.sender,
        part_of_time(full, direction.time()),
        speed(goodput),
        speed(capacity),
        percent(reached, whole),
    );
    let mut severity = Severity::Good;
    if !direction.flow.windows.scale_negotiated && !shows_queue(direction) {
        severity = Severity::Note;
        statement += " Or a full receive window set this rate: its scale is unknown, and the RTT \
                      shows no queue.";
    }
    let shown = direction.shown_under(Limit::Path);
    Some(shown.proves(RULE.name, severity, Cost::NONE).stating(statement))
}

/// Whether the mean segment is clearly below a full one: a sender with data waiting fills them.
fn has_small_segments(direction: &Direction<'_>) -> bool {
    let marks = &direction.flow.marks;
    let offers = [direction.sender_offers, direction.receiver_offers];
    let agreed = offers.iter().filter_map(|offer| offer.mss).map(u64::from).min();
    let full = match marks.mss_changes.last() {
        Some(change) => Some(change.to.as_u64()),
        None => agreed.filter(|_| offers.iter().all(|offer| offer.seen && !offer.cut)),
    };
    let (data, segments) = (direction.flow.totals.data.as_u64(), direction.wire_segments());
    full.is_some_and(|full| data * 100 < full * segments * SMALL)
}

/// Whether the data waited before the path for a quarter of the RTT or more.
fn shows_queue(direction: &Direction<'_>) -> bool {
    let trips = &direction.flow.round_trips;
    let times = trips.min.zip(trips.median);
    times.is_some_and(|(min, median)| median.saturating_sub(min) * 4 >= min)
}
