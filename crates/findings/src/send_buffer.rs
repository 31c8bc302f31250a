//! # Send buffer too small
//!
//! **What it says.** The sender kept about the same amount in flight, less than either window
//! allowed: its send buffer was full of unacknowledged data.
//!
//! **Why it matters.** Data stay in the send buffer until acknowledged, so it bounds the data in
//! flight as the receive window does.
//!
//! **Evidence.** The share of time in which only ACKs let the sender continue, below its windows.
//!
//! **False positives.** An application that keeps a fixed number of requests open looks the same;
//! so does a small limit on unsent data (TCP_NOTSENT_LOWAT, TSQ) on a very short path.
//!
//! **Reference.** Y. Zhang et al., "On the Characteristics and Origins of Internet Flow Rates",
//! section 4 (sender window limited); tcp(7) on tcp_wmem.

use tcplab_trace::Limit;
use tcplab_units::Span;

use crate::words::{amount, part_of_time, rounded, speed};
use crate::{Cost, Direction, Finding, Rule, Severity};

/// The rule.
pub const RULE: Rule = Rule::of_directions("send-buffer", in_direction);

/// The least share of the time, per cent.
const SHARE: u64 = 20;

fn in_direction(direction: &Direction<'_>) -> Option<Finding> {
    let time = time_full(direction)?;
    let (sender, most) = (direction.sender, direction.flow.totals.max_in_flight);
    let window = direction.flow.windows.max;
    // So much did not fit the window, which then was what limited it.
    if window.is_some_and(|window| most + direction.flow.marks.largest > window) {
        return None;
    }
    let mut statement = format!(
        "The {sender}'s send buffer limited it for {}: at most {} were in flight, although both \
         windows allowed more.",
        part_of_time(time, direction.time()),
        amount(most),
    );
    if let Some((rate, round_trip)) = direction.rate_of_window(most).zip(direction.round_trip()) {
        statement += &format!(
            " At an RTT of {}{} that is at most {}.",
            rounded(round_trip),
            direction.round_trip_basis(),
            speed(rate)
        );
    }
    // More than the receiver's window is of no use.
    let needed = direction.bandwidth_delay_product();
    let needed = needed.map(|needed| window.map_or(needed, |window| needed.min(window)));
    let size = match needed.filter(|&needed| needed > most) {
        Some(needed) => format!(" to {} or more", amount(needed)),
        None => String::new(),
    };
    let remedy = format!(
        "Remove a fixed SO_SNDBUF from the {sender}'s program so that the buffer can grow (on \
         Linux up to the third value of net.ipv4.tcp_wmem), or raise it{size}.",
    );
    let shown = direction.shown_under(Limit::SendBuffer);
    Some(shown.proves(RULE.name, Severity::Harm, Cost::time(time)).saying(statement, remedy))
}

/// For how long the send buffer was full, if that matters. Without the scale, a full receive window
/// looks the same: the rule on late captures says so.
pub(crate) fn time_full(direction: &Direction<'_>) -> Option<Span> {
    let is_known = direction.is_transfer() && direction.flow.windows.scale_negotiated;
    direction.limited(Limit::SendBuffer, SHARE).filter(|_| is_known)
}
