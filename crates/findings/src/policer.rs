//! # Policer on the path
//!
//! **What it says.** Something on the path drops what exceeds a rate, and queues nothing.
//!
//! **Why it matters.** A sender that knows only the faster link behind it sends bursts that the
//! policer drops: losses, retransmissions, and no delay that would warn it.
//!
//! **Evidence.** The path was the limit, and the data arrived at an even rate; single bursts passed
//! at twice that rate or more. More was lost than loss-based congestion control survives at this
//! rate, had it been chance; and the RTT shows no queue, not even of a few packets.
//!
//! **False positives.** A queue of two packets. Where the capture point sees no whole round trips,
//! where bursts show no faster link, and where the rate was not even, the rule is silent.
//!
//! **Reference.** T. Flach et al., "An Internet-Wide Analysis of Traffic Policing", sections 2 and
//! 3; RFC 2475 section 2.3.3.3.

use tcplab_trace::{CapturePoint, Limit};
use tcplab_units::{Bytes, Rate, Span};

use crate::loss_rate;
use crate::words::{number, percent, rounded, speed};
use crate::{Cost, Direction, Finding, Rule, Severity};

/// The rule.
pub const RULE: Rule = Rule::of_directions("policer", in_direction);

/// The path must have been the limit for this share of the time, per cent.
const SHARE: u64 = 70;
/// At least so many losses, and one in so many segments.
const LEAST: u64 = 20;
const ONE_IN: u64 = 100;
/// Bursts pass at this many times the even rate, or the link itself may have it.
const FASTER: u64 = 2;
/// Chance would allow less than the rate, divided by this.
const EXPLAINED: u64 = 2;
/// A queue of so many segments would show.
const QUEUED: u64 = 3;
/// Data are counted over so many RTTs, and for at least this time.
const ROUND_TRIPS: u64 = 8;
const LONG: Span = Span::from_millis(200);
/// At least so many times; the first ones hold the start and the policer's burst.
const STRETCHES: usize = 8;
const STARTING: usize = 2;
/// An even rate is off by this much, per cent, in half of them; and never by twice as much above.
const OFF: u64 = 15;

fn in_direction(direction: &Direction<'_>) -> Option<Finding> {
    let flow = direction.flow;
    let (lost, segments) = (direction.lost(), direction.wire_segments());
    let few = lost < LEAST || lost * ONE_IN < segments || !direction.is_transfer();
    let few = few || direction.begins_in_recovery();
    let whole = matches!(flow.capture_point, CapturePoint::Sender | CapturePoint::Unknown);
    direction.limited(Limit::Path, SHARE).filter(|_| whole && !few)?;
    let (goodput, capacity) = (flow.transfer.goodput?, flow.transfer.capacity?);
    let allowed = loss_rate::allowed_in(direction)?;
    let bits = goodput.bits_per_second();
    let is_chance = bits <= allowed.bits_per_second().saturating_mul(EXPLAINED);
    if capacity.bits_per_second() < bits.saturating_mul(FASTER) || is_chance {
        return None;
    }
    let rate = even_rate(direction)?;
    let trips = &flow.round_trips;
    let (min, p95) = (trips.min?, trips.p95?);
    let few_segments = Bytes::new(flow.marks.largest.as_u64() * QUEUED);
    if rate.bytes_in(p95.saturating_sub(min)) >= few_segments {
        return None;
    }
    let statement = format!(
        "A policer limits the {}: its data arrive at an even {}, though bursts pass at {}, and {} \
         of its segments were lost ({} of {}). No queue warned it: RTT min {}, p95 {}.",
        direction.sender,
        speed(rate),
        speed(capacity),
        percent(lost, segments),
        number(lost),
        number(segments),
        rounded(min),
        rounded(p95),
    );
    let remedy = format!(
        "Shape or pace just below {}, where packets are queued instead of dropped (`tc qdisc … \
         tbf`, CAKE, SO_MAX_PACING_RATE, BBR), or have the policer allow larger bursts or a higher \
         rate. No window and no buffer at the ends makes this faster.",
        speed(rate),
    );
    let shown = direction.shown_by_retransmissions();
    let cost = Cost::bytes(flow.totals.retransmitted);
    Some(shown.proves(RULE.name, Severity::Harm, cost).saying(statement, remedy))
}

/// The rate at which data arrived for half of the time, if they hardly ever arrived faster.
fn even_rate(direction: &Direction<'_>) -> Option<Rate> {
    let series = &direction.flow.series;
    let least = (direction.round_trip()? * ROUND_TRIPS).max(LONG).as_nanos();
    let together = least.div_ceil(series.interval.as_nanos().max(1)).max(1) as usize;
    let stretches = series.acked.chunks_exact(together).skip(STARTING);
    let mut acked: Vec<u64> = stretches.map(|bytes| bytes.iter().sum()).collect();
    if acked.len() < STRETCHES {
        return None;
    }
    acked.sort_unstable();
    // Pauses of the sender make single ones smaller, nothing makes them larger.
    let usual = acked[acked.len() * 3 / 4];
    let near = acked.iter().filter(|&&bytes| bytes.abs_diff(usual) * 100 <= usual * OFF).count();
    let most = acked.last().copied().unwrap_or_default();
    let is_even = near * 2 >= acked.len() && most * 100 <= usual * (100 + 2 * OFF);
    Rate::of(Bytes::new(usual), series.interval * together as u64).filter(|_| is_even)
}
