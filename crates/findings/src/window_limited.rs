//! # Receive window too small
//!
//! **What it says.** For much of the transfer the data in flight filled the receiver's window.
//!
//! **Why it matters.** One window per RTT at most: the receiver's buffer set the rate.
//!
//! **Evidence.** The share of time with a full window, zero windows left out (those mean a slow
//! reader, not a small buffer); segments that reached the window's edge.
//!
//! **False positives.** A window exactly as large as the path needs also limits. Away from the
//! sender the window looks less full: the rule errs on the silent side.
//!
//! **Reference.** RFC 9293 section 3.8.6; RFC 7323 section 2 on window times delay; J. Semke et
//! al., "Automatic TCP Buffer Tuning".

use tcplab_trace::Limit;
use tcplab_units::Bytes;

use crate::window_scaling;
use crate::words::{amount, part_of_time, rounded, speed};
use crate::{Cost, Direction, Finding, Rule, Severity, Shown, is_share};

/// The rule.
pub const RULE: Rule = Rule::of_directions("window-limited", in_direction);

/// The least share of the time, per cent.
const SHARE: u64 = 20;

fn in_direction(direction: &Direction<'_>) -> Option<Finding> {
    let windows = &direction.flow.windows;
    let largest = windows.max.filter(|_| windows.scale_known)?;
    let full =
        direction.flow.shares.of(Limit::ReceiveWindow).saturating_sub(windows.zero_window_time);
    let enough = is_share(full, direction.time(), SHARE) && direction.is_transfer();
    if !enough || window_scaling::is_to_blame(direction) {
        return None;
    }
    let receiver = direction.receiver;
    let mut statement = format!(
        "The {receiver}'s receive window (at most {}) limited the {} for {}.",
        amount(largest),
        direction.sender,
        part_of_time(full, direction.time()),
    );
    if let Some((rate, round_trip)) = direction.rate_of_window(largest).zip(direction.round_trip())
    {
        statement += &format!(
            " At an RTT of {}{} it carries at most {}.",
            rounded(round_trip),
            direction.round_trip_basis(),
            speed(rate)
        );
    }
    let needed = direction.bandwidth_delay_product().filter(|&needed| needed > largest);
    if let Some((needed, capacity)) = needed.zip(direction.flow.transfer.capacity) {
        statement +=
            &format!(" The path showed {}, which needs {}.", speed(capacity), amount(needed));
    }
    let shown = Shown::by(&windows.window_full).or(direction.shown_under(Limit::ReceiveWindow));
    let remedy = remedy(direction, largest, needed);
    Some(shown.proves(RULE.name, Severity::Harm, Cost::time(full)).saying(statement, remedy))
}

fn remedy(direction: &Direction<'_>, largest: Bytes, needed: Option<Bytes>) -> String {
    let receiver = direction.receiver;
    let first = direction.flow.windows.first.unwrap_or(largest);
    let size = needed.map_or(String::new(), |needed| format!(" to {} or more", amount(needed)));
    if largest.as_u64() >= first.as_u64() * 2 {
        format!(
            "The window grew from {} and stopped. Remove SO_RCVBUF from the {receiver}'s program \
             if it sets it, and raise the limit of autotuning{size} (on Linux the third value of \
             net.ipv4.tcp_rmem).",
            amount(first)
        )
    } else {
        format!(
            "The window hardly grew: remove a fixed SO_RCVBUF from the {receiver}'s program so \
             that autotuning works, or raise it{size}."
        )
    }
}
