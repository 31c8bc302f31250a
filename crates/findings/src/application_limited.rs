//! # Application too slow
//!
//! **What it says.** The sending application had no data to send for most of the transfer.
//!
//! **Why it matters.** Neither the network nor TCP is the cause, so no setting of theirs helps.
//!
//! **Evidence.** The share of time with an empty send queue. Pauses before an answer belong to
//! another rule, as do waits by Nagle's algorithm; while the other end asks or answers, its data
//! are what the application waits for. All are left out. Away from the sender a lost tail that it
//! repairs late, and ACKs lost behind the capture point, look like a pause: a single such stall is
//! left out, and of many the rule names both causes. Without handshake and timestamps it is unknown
//! how far the sender is, and the rule is silent. So it is of Multipath TCP, whose data may have
//! gone on another subflow.
//!
//! **False positives.** Some applications send slowly on purpose: video, voice, a rate limit.
//!
//! **Reference.** M. Siekkinen et al., "A root cause analysis toolkit for TCP", section 4.1.

use tcplab_trace::{Limit, StallCause, StallSum};
use tcplab_units::Span;

use crate::send_buffer;
use crate::words::{counted, part_of_time};
use crate::{Cost, Direction, Finding, Rule, Severity, Shown, is_share};

/// The rule.
pub const RULE: Rule = Rule::of_directions("application-limited", in_direction);

/// The least share of the time, per cent.
const SHARE: u64 = 50;
/// Fewer pauses may be lost tails all.
const MANY: u64 = 5;

fn in_direction(direction: &Direction<'_>) -> Option<Finding> {
    let is_subflow = direction.connection.handshake.multipath;
    if is_subflow || direction.is_lost_in_midstream() || !direction.is_transfer() {
        return None;
    }
    let marks = &direction.flow.marks;
    let there_and_back = direction.round_trip().filter(|_| direction.is_away());
    let on_the_way = there_and_back.unwrap_or_default() * marks.answers_with_ack;
    let listened = direction.stalled(StallCause::NoRequest).max(marks.listened) + on_the_way;
    // The time before the first data is no part of the transfer's.
    let idle = direction.stalled(StallCause::SenderIdle);
    let idle = idle.saturating_sub(marks.greeting.unwrap_or_default());
    let others = idle + listened + marks.nagle_wait_time;
    let slow = direction.flow.shares.of(Limit::Application).saturating_sub(others);
    let undecided = direction.stalls(StallCause::Undetermined).filter(|_| direction.is_away());
    let is_much = |time| is_share(time, direction.time(), SHARE);
    match undecided {
        Some(sum) if !is_much(slow.saturating_sub(sum.time)) => {
            (sum.count >= MANY && is_much(slow)).then(|| in_pauses(direction, sum, slow))
        }
        _ => {
            let slow = slow.saturating_sub(undecided.map_or(Span::ZERO, |sum| sum.time));
            is_much(slow).then(|| without_data(direction, slow))
        }
    }
}

/// The application had no data.
fn without_data(direction: &Direction<'_>, slow: Span) -> Finding {
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
    shown.proves(RULE.name, Severity::Note, Cost::time(slow)).saying(statement, remedy)
}

/// Or the ends of what it sent before its pauses were lost.
fn in_pauses(direction: &Direction<'_>, pauses: &StallSum, slow: Span) -> Finding {
    let (sender, receiver) = (direction.sender, direction.receiver);
    let statement = format!(
        "The {sender} sent nothing for {}, most of it in {}: its application had no data to send, \
         or each time the last segments before the pause, or ACKs, were lost. Both look the same \
         here, away from the {sender}.",
        part_of_time(slow, direction.time()),
        counted(pauses.count, "pause"),
    );
    let remedy = format!(
        "Capture at the {sender}: retransmissions there show losses between it and this capture. \
         Without them, find out what its application waits for between writes: disk, CPU, a rate \
         limit, its own input; then no setting of TCP or the {receiver} makes this faster.",
    );
    let shown = Shown::by_stall(&pauses.longest);
    shown.proves(RULE.name, Severity::Note, Cost::time(slow)).saying(statement, remedy)
}
