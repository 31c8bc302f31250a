//! # Over before it was fast
//!
//! **What it says.** Slow start ended, or restarted, below the path's capacity.
//!
//! **Why it matters.** Short transfers depend on round trips: each doubles the data in flight.
//!
//! **Evidence.** The share of time in slow start, and how many round trips it took.
//!
//! **False positives.** A transfer cut off by the end of the capture looks short.
//!
//! **Reference.** RFC 5681 sections 3.1 and 4.1 (restart after idle time); RFC 6928 (initial
//! window of ten); N. Dukkipati et al., "An Argument for Increasing TCP's Initial Congestion
//! Window".

use tcplab_trace::{Limit, StallCause};

use crate::words::{part_of_time, rounded, speed, times};
use crate::{Cost, Direction, Finding, Rule, Severity};

/// The rule.
pub const RULE: Rule = Rule::of_directions("slow-start", in_direction);

/// The least share of the time, per cent.
const SHARE: u64 = 50;
/// Fewer round trips would hardly be saved.
const ROUNDS: u64 = 3;

fn in_direction(direction: &Direction<'_>) -> Option<Finding> {
    let time = direction.limited(Limit::SlowStart, SHARE).filter(|_| direction.is_transfer())?;
    let round_trip = direction.round_trip()?;
    let rounds = time.as_nanos() / round_trip.as_nanos();
    if rounds < ROUNDS {
        return None;
    }
    let sender = direction.sender;
    let mut statement = format!(
        "The {sender} was in slow start for {}, about {rounds} round trips of {}.",
        part_of_time(time, direction.time()),
        rounded(round_trip),
    );
    let transfer = &direction.flow.transfer;
    if let Some((goodput, capacity)) = transfer.goodput.zip(transfer.capacity)
        && capacity > goodput
    {
        statement +=
            &format!(" Mean rate {}; the path showed {}.", speed(goodput), speed(capacity));
    }
    let pauses: u64 = [StallCause::NoRequest, StallCause::SenderIdle, StallCause::SenderSlow]
        .into_iter()
        .filter_map(|cause| direction.stalls(cause))
        .map(|sum| sum.count)
        .sum();
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
