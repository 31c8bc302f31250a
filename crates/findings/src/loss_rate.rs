//! # Loss limits the congestion window
//!
//! **What it says.** At this loss rate and RTT, loss-based congestion control carries no more.
//!
//! **Why it matters.** Loss and RTT bound the rate of Reno and CUBIC, however fast the links are:
//! no buffer and no window makes the transfer faster.
//!
//! **Evidence.** Retransmissions that were not spurious, over all segments; the response functions
//! of both algorithms; the share of time with a full congestion window.
//!
//! **False positives.** The functions assume single losses; with bursts a sender achieves more. A
//! transfer twice as fast as they allow uses another congestion control (BBR): the rule is silent.
//! A full queue loses packets too, as it should: silent where the path was the limit, and where the
//! capture begins in a recovery, which repairs losses before it.
//!
//! **Reference.** M. Mathis et al., "The Macroscopic Behavior of the TCP Congestion Avoidance
//! Algorithm"; RFC 9438 section 5 and table 1; RFC 3649 on Reno's 1.2 / sqrt(p).

use tcplab_trace::Limit;
use tcplab_units::{Bytes, Rate, Span};

use crate::words::{number, percent, rounded, speed};
use crate::{Cost, Direction, Finding, Rule, Severity, is_share};

/// The rule.
pub const RULE: Rule = Rule::of_directions("loss-rate", in_direction);

/// At least so many losses: fewer are no rate.
const LEAST: u64 = 10;
/// The congestion window must have been full for this share of the time, per cent.
const SHARE: u64 = 30;
/// What the functions allow, times this, is the most that they explain.
const EXPLAINED: f64 = 2.0;

fn in_direction(direction: &Direction<'_>) -> Option<Finding> {
    let flow = direction.flow;
    let (lost, segments) = (direction.lost(), direction.wire_segments());
    let bound = direction.limited(Limit::Congestion, SHARE)?;
    let full = is_share(flow.shares.of(Limit::Path), flow.shares.total(), SHARE);
    if lost < LEAST || full || !direction.is_transfer() || direction.begins_in_recovery() {
        return None;
    }
    let round_trip = direction.round_trip()?;
    let allowed = allowed_in(direction)?;
    let reached = flow.transfer.goodput?;
    let bits = |rate: Rate| rate.bits_per_second() as f64;
    if bits(reached) > bits(allowed) * EXPLAINED {
        return None;
    }
    let mut statement = format!(
        "Loss limits the {}: {} of its segments were lost ({} of {}). At an RTT of {}, Reno and \
         CUBIC then carry about {}; the transfer achieved {}",
        direction.sender,
        percent(lost, segments),
        number(lost),
        number(segments),
        rounded(round_trip),
        speed(allowed),
        speed(reached),
    );
    let capacity = flow.transfer.capacity.filter(|&capacity| bits(capacity) > 1.25 * bits(reached));
    statement += &match capacity {
        Some(capacity) => format!(", and the path showed {}.", speed(capacity)),
        None => ".".to_owned(),
    };
    let shown = direction.shown_by_retransmissions();
    let cost = Cost { time: bound, bytes: flow.totals.retransmitted };
    Some(shown.proves(RULE.name, Severity::Harm, cost).saying(
        statement,
        "Find out where packets are lost: interface errors (`ethtool -S`, `ip -s link`), radio, a \
         policer, queues too short for bursts (`tc -s qdisc`). If the loss cannot be avoided, use \
         BBR, or shorten the RTT by ending connections nearer to the user (a proxy).",
    ))
}

/// What Reno and CUBIC carry at the loss rate and RTT of this direction, the better of both.
pub(crate) fn allowed_in(direction: &Direction<'_>) -> Option<Rate> {
    let loss = direction.lost() as f64 / direction.wire_segments() as f64;
    allowed(loss, direction.flow.marks.largest, direction.round_trip()?)
}

/// The rate that the larger of both algorithms' mean windows carries; none without data.
fn allowed(loss: f64, segment: Bytes, round_trip: Span) -> Option<Rate> {
    let seconds = round_trip.as_secs_f64();
    let window = mean_window(loss, seconds) * segment.bits() as f64;
    let bits = window / seconds;
    (bits.is_finite() && bits >= 1.0).then(|| Rate::from_bits_per_second(bits as u64))
}

/// The mean congestion window, segments, at this loss probability and RTT in seconds: the larger of
/// Reno's, 1.2 / √p, and CUBIC's, 1.054 (RTT / p)^¾ (RFC 9438 section 5).
fn mean_window(loss: f64, round_trip: f64) -> f64 {
    let reno = 1.2 / loss.sqrt();
    let cubic = 1.054 * (round_trip / loss).powf(0.75);
    reno.max(cubic)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 9438, table 1: mean windows at a round trip of 0.1 s, CUBIC with C = 0.4.
    #[test]
    fn windows_are_those_of_the_standards_table() {
        for (loss, segments) in [
            (1e-2, 12.0),
            (1e-3, 38.0),
            (1e-4, 187.0),
            (1e-5, 1_054.0),
            (1e-6, 5_926.0),
            (1e-7, 33_325.0),
        ] {
            let window = mean_window(loss, 0.1);
            assert!((window / segments - 1.0).abs() < 0.01, "{loss}: {window} not {segments}");
        }
    }
}
