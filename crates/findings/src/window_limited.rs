//! # Receive window too small
//!
//! **What it says.** For a good part of the transfer the sender had as much in flight as the
//! receiver's window allowed.
//!
//! **Why it matters.** A window is sent once in a round trip at most: the receiver's buffer set the
//! rate, not the path.
//!
//! **Evidence.** The share of the transfer's time with the window full, closed windows left out
//! (they say that the reader is slow, not that the buffer is small); segments that reached the
//! window's edge.
//!
//! **False positives.** A window that is exactly what the path needs also limits, though nothing
//! is gained by a larger one. Far from the sender the window looks less full than it is: the rule
//! stays silent too often there, not too rarely.
//!
//! **Reference.** RFC 9293 section 3.8.6; RFC 7323 section 2 on window times delay; J. Semke et
//! al., "Automatic TCP Buffer Tuning".

use tcplab_trace::{Connection, Limit};
use tcplab_units::Bytes;

use crate::direction::{Direction, in_each, is_share};
use crate::finding::{Cost, Finding, Severity, Shown};
use crate::window_scaling;
use crate::words::{amount, part_of_time, rounded, speed};

/// The rule's name.
pub const NAME: &str = "window-limited";

/// The least share of the time, per cent.
const SHARE: u64 = 20;

/// At most one finding for each direction.
pub fn examine(connection: &Connection) -> Vec<Finding> {
    in_each(connection, in_direction)
}

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
        "The {receiver}'s receive window, at most {}, held the {} back for {}.",
        amount(largest),
        direction.sender,
        part_of_time(full, direction.time()),
    );
    if let Some((rate, round_trip)) = direction.rate_of_window(largest).zip(direction.round_trip())
    {
        statement += &format!(
            " At a round trip of {} such a window carries no more than {}.",
            rounded(round_trip),
            speed(rate)
        );
    }
    let needed = direction.room_on_path().filter(|&needed| needed > largest);
    if let Some((needed, capacity)) = needed.zip(direction.flow.transfer.capacity) {
        statement +=
            &format!(" The path showed {}, which takes {}.", speed(capacity), amount(needed));
    }
    let shown = Shown::by(&windows.window_full).or(direction.shown_under(Limit::ReceiveWindow));
    let remedy = remedy(direction, largest, needed);
    Some(shown.proves(NAME, Severity::Harm, Cost::time(full)).saying(statement, remedy))
}

fn remedy(direction: &Direction<'_>, largest: Bytes, needed: Option<Bytes>) -> String {
    let receiver = direction.receiver;
    let first = direction.flow.windows.first.unwrap_or(largest);
    let size = needed.map_or(String::new(), |needed| format!(" to {} or more", amount(needed)));
    if largest.as_u64() >= first.as_u64() * 2 {
        format!(
            "The window grew from {} and stopped there. Remove SO_RCVBUF from the {receiver}'s \
             program if it sets it, and raise what the window may grow to{size} (on Linux the third \
             value of net.ipv4.tcp_rmem).",
            amount(first)
        )
    } else {
        format!(
            "The window hardly ever grew: remove a fixed SO_RCVBUF from the {receiver}'s program \
             so that autotuning works, or raise it{size}."
        )
    }
}
