//! # No window scaling
//!
//! **What it says.** Without window scaling, 65,535 bytes in flight are too few for the path.
//!
//! **Why it matters.** The 16 bits of the window field bound the data in flight.
//!
//! **Evidence.** The options of both SYNs; a full window, or a larger bandwidth-delay product.
//!
//! **False positives.** An overestimated path rate. Silent with truncated options, and where the
//! path needs more but the window was never nearly full. Time with a zero window does not count.
//!
//! **Reference.** RFC 7323 sections 1.1 and 2.2.

use tcplab_trace::Limit;
use tcplab_units::Bytes;

use crate::direction::is_share;
use crate::words::{amount, part_of_time, rounded, speed};
use crate::{Cost, Direction, Finding, Rule, Severity, Shown};

/// The rule.
pub const RULE: Rule = Rule::of_directions("window-scaling", in_direction);

/// The largest window without scaling: 16 bits.
const UNSCALED: Bytes = Bytes::new(65_535);
/// From this on a window is as good as the largest: what is left is less than a few segments.
const NEARLY: Bytes = Bytes::new(56_000);
/// The least share of the time that the window must be full, per cent.
const SHARE: u64 = 20;

/// Whether the window could not become larger for want of scaling.
pub(crate) fn is_to_blame(direction: &Direction<'_>) -> bool {
    refusal(direction).is_some() && direction.flow.windows.max.is_some_and(|max| max >= NEARLY)
}

fn refusal(direction: &Direction<'_>) -> Option<String> {
    direction.refusal(|syn| syn.window_scale.is_some())
}

fn in_direction(direction: &Direction<'_>) -> Option<Finding> {
    let refusal = refusal(direction).filter(|_| direction.is_transfer())?;
    // Nor would scaling open a zero window: the receiver's application does not read.
    let closed = direction.flow.windows.zero_window_time;
    let full = direction.limited(Limit::ReceiveWindow, SHARE).filter(|_| is_to_blame(direction));
    let full = full.map(|full| full.saturating_sub(closed));
    let full = full.filter(|&full| is_share(full, direction.flow.shares.total(), SHARE));
    // What never had as much in flight as the window holds needs no larger one.
    let enough = direction.flow.totals.unique > UNSCALED && flight(direction) >= NEARLY;
    let needed = direction.bandwidth_delay_product();
    let needed = needed.filter(|&needed| enough && needed > UNSCALED);
    if full.is_none() && needed.is_none() {
        return None;
    }
    let mut statement = format!(
        "Without window scaling ({refusal}) at most {} can be in flight.",
        amount(UNSCALED)
    );
    if let Some((rate, round_trip)) = direction.rate_of_window(UNSCALED).zip(direction.round_trip())
    {
        statement += &format!(
            " At an RTT of {}{} that is at most {}.",
            rounded(round_trip),
            direction.round_trip_basis(),
            speed(rate)
        );
    }
    if let Some((needed, capacity)) = needed.zip(direction.flow.transfer.capacity) {
        statement +=
            &format!(" The path showed {}, which needs {}.", speed(capacity), amount(needed));
    }
    if let Some(full) = full {
        statement += &format!(" The window was full for {}.", part_of_time(full, direction.time()));
    }
    let shown = Shown::by_offers(direction.connection);
    let shown = match full {
        Some(_) => shown.and(Shown::by(&direction.flow.windows.window_full)),
        None => shown,
    };
    let cost = Cost::time(full.unwrap_or_default());
    Some(shown.proves(RULE.name, Severity::Harm, cost).saying(
        statement,
        "Enable it at the end that lacks it (on Linux net.ipv4.tcp_window_scaling = 1, the \
         default; some systems need a buffer above 64 kB set before connect or listen). If both \
         ends have it enabled, a firewall on the path strips the option.",
    ))
}

/// What the sender had in flight at most; away from it, no less than it sent per RTT.
fn flight(direction: &Direction<'_>) -> Bytes {
    let reached = direction.flow.transfer.goodput.zip(direction.round_trip());
    let per_round_trip = reached.map_or(Bytes::ZERO, |(rate, trip)| rate.bytes_in(trip));
    direction.flow.totals.max_in_flight.max(per_round_trip)
}
