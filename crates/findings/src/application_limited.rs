//! # Application too slow
//!
//! **What it says.** The sending application had no data to send for most of the transfer.
//!
//! **Why it matters.** Neither the network nor TCP is the cause, so no setting of theirs helps.
//!
//! **Evidence.** The share of time with an empty send queue. Pauses before an answer belong to
//! another rule, as do waits by Nagle's algorithm; while the other end asks or answers, its data
//! are what the application waits for. All are left out, and away from the sender stalls of unknown
//! cause: there a lost tail that its sender repairs late looks like a pause. Without handshake and
//! timestamps it is unknown how far the sender is, and the rule is silent.
//!
//! **False positives.** Some applications send slowly on purpose: video, voice, a rate limit.
//!
//! **Reference.** M. Siekkinen et al., "A root cause analysis toolkit for TCP", section 4.1.

use tcplab_trace::{Limit, StallCause};

use crate::send_buffer;
use crate::words::part_of_time;
use crate::{Cost, Direction, Finding, Rule, Severity, Shown, is_share};

/// The rule.
pub const RULE: Rule = Rule::of_directions("application-limited", in_direction);

/// The least share of the time, per cent.
const SHARE: u64 = 50;

fn in_direction(direction: &Direction<'_>) -> Option<Finding> {
    if direction.is_lost_in_midstream() {
        return None;
    }
    let marks = &direction.flow.marks;
    let there_and_back = direction.round_trip().filter(|_| direction.is_away());
    let on_the_way = there_and_back.unwrap_or_default() * marks.answers_with_ack;
    let listened = direction.stalled(StallCause::NoRequest).max(marks.listened) + on_the_way;
    let undecided = direction.is_away().then(|| direction.stalled(StallCause::Undetermined));
    let others = direction.stalled(StallCause::SenderIdle)
        + listened
        + marks.nagle_wait_time
        + undecided.unwrap_or_default();
    let slow = direction.flow.shares.of(Limit::Application).saturating_sub(others);
    if !direction.is_transfer() || !is_share(slow, direction.time(), SHARE) {
        return None;
    }
    let sender = direction.sender;
    let may_wait_for_buffer = send_buffer::time_full(direction).is_some();
    let others =
        if may_wait_for_buffer { "" } else { "; neither a window nor the path limited it" };
    let first = if may_wait_for_buffer {
        "Raise the send buffer first: while it is full, the application cannot write. Else find"
    } else {
        "No TCP setting makes this faster. Find"
    };
    let statement = format!(
        "The {sender}'s application had no data to send for {}{others}.",
        part_of_time(slow, direction.time()),
    );
    let remedy = format!(
        "{first} out what the {sender}'s application waits for between writes: disk, CPU, a rate \
         limit, its own input.",
    );
    let shown = match direction.stalls(StallCause::SenderSlow) {
        Some(sum) => Shown::by_stall(&sum.longest),
        None => direction.shown_under(Limit::Application),
    };
    Some(shown.proves(RULE.name, Severity::Note, Cost::time(slow)).saying(statement, remedy))
}
