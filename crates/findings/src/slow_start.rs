//! # Over before it was fast
//!
//! **What it says.** Slow start ended, or restarted, below the path's capacity.
//!
//! **Why it matters.** Short transfers depend on round trips: each doubles the data in flight.
//!
//! **Evidence.** The share of time in slow start, and how many round trips it took.
//!
//! **False positives.** A transfer cut off by the end of the capture looks short. Messages of at
//! most two segments in flight need no window, and Nagle's algorithm has a rule of its own: silent.
//! So is it where growth for so many round trips would have sent more: the rate was constant.
//!
//! **Reference.** RFC 5681 sections 3.1 and 4.1 (restart after idle time); RFC 6928 (initial
//! window of ten); N. Dukkipati et al., "An Argument for Increasing TCP's Initial Congestion
//! Window".

use tcplab_trace::{Limit, StallCause};

use crate::words::{part_of_time, rounded, speed, times};
use crate::{Cost, Direction, Finding, Rule, Severity, is_share};

/// The rule.
pub const RULE: Rule = Rule::of_directions("slow-start", in_direction);

/// The least share of the time, per cent.
const SHARE: u64 = 50;
/// Fewer round trips would hardly be saved.
const ROUNDS: u64 = 3;

fn in_direction(direction: &Direction<'_>) -> Option<Finding> {
    let (flow, round_trip) = (direction.flow, direction.round_trip()?);
    let (total, time) = (flow.shares.total(), flow.shares.of(Limit::SlowStart));
    // Nagle's waits for delayed ACKs, as far as they can only be in it.
    let nagle = flow.marks.nagle_wait_time.saturating_sub(total.saturating_sub(time));
    let time = time.saturating_sub(nagle);
    let rounds = time.as_nanos().checked_div(round_trip.as_nanos())?;
    if !is_share(time, total, SHARE) || rounds < ROUNDS || !direction.is_transfer() {
        return None;
    }
    // Messages, which need no window. Away from the sender its flight is not seen.
    let two = 2 * flow.marks.largest.as_u64();
    let in_flight = flow.totals.max_in_flight.as_u64();
    if flow.totals.unique.as_u64() / rounds <= two || (in_flight <= two && !direction.is_away()) {
        return None;
    }
    let pauses: u64 = [StallCause::NoRequest, StallCause::SenderIdle, StallCause::SenderSlow]
        .into_iter()
        .filter_map(|cause| direction.stalls(cause))
        .map(|sum| sum.count)
        .sum::<u64>()
        .saturating_sub(flow.marks.greeting.is_some().into());
    let beginnings = 1 + pauses + flow.causes.timeouts.count + flow.causes.tail_loss_probes.count;
    if !can_grow_for(rounds, beginnings, flow.totals.wire_data_segments()) {
        return None;
    }
    let sender = direction.sender;
    let mut statement = format!(
        "The {sender} was in slow start for {}, about {rounds} round trips of {}.",
        part_of_time(time, direction.time()),
        rounded(round_trip),
    );
    let transfer = &flow.transfer;
    if let Some((goodput, capacity)) = transfer.goodput.zip(transfer.capacity)
        && capacity > goodput
    {
        statement +=
            &format!(" Mean rate {}; the path showed {}.", speed(goodput), speed(capacity));
    }
    let remedy = if pauses > 0 {
        statement +=
            &format!(" It paused {}; each pause may have restarted slow start.", times(pauses));
        format!(
            "Keep the window across pauses (on Linux net.ipv4.tcp_slow_start_after_idle = 0 at \
             the {sender}), or use a larger initial window (ip route … initcwnd).",
        )
    } else {
        format!(
            "Reuse connections, raise the {sender}'s initial window (ip route … initcwnd; the \
             default is ten segments), or shorten the RTT.",
        )
    };
    let shown = direction.shown_under(Limit::SlowStart);
    Some(shown.proves(RULE.name, Severity::Harm, Cost::time(time)).saying(statement, remedy))
}

/// Whether so many segments are enough for so many round trips of slow start, begun so many times:
/// from one segment, each round trip sends a quarter more than the one before.
fn can_grow_for(rounds: u64, beginnings: u64, segments: u64) -> bool {
    const GROWTH: f64 = 1.25;
    let each = rounds as f64 / beginnings as f64;
    let least = beginnings as f64 * (GROWTH.powf(each) - 1.0) / (GROWTH - 1.0);
    least <= segments as f64
}
