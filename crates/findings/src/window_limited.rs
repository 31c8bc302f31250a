//! # Receive window too small
//!
//! **What it says.** For much of the transfer the data in flight filled the receiver's window.
//!
//! **Why it matters.** One window per RTT at most: the receiver's buffer set the rate.
//!
//! **Evidence.** The share of time with a full window, zero windows left out (those mean a slow
//! reader, not a small buffer); segments that reached the window's edge; the mean window while it
//! limited, where it was less than half of the largest. Its size was not the limit
//! where it carried far less than one window per path RTT, where it fell below a segment and
//! carried clearly less, and where it is twice what the path's rate needs: then the receiver read
//! slowly, or something delayed ACKs.
//!
//! **False positives.** A window exactly as large as the path needs also limits. Away from the
//! sender the window looks less full: the rule errs on the silent side.
//!
//! **Reference.** RFC 9293 section 3.8.6; RFC 7323 section 2 on window times delay; J. Semke et
//! al., "Automatic TCP Buffer Tuning".

use tcplab_trace::Limit;
use tcplab_units::{Bytes, Span};

use crate::window_scaling;
use crate::words::{amount, part_of_time, rounded, speed};
use crate::{Cost, Direction, Finding, Rule, Severity, Shown, is_share};

/// The rule.
pub const RULE: Rule = Rule::of_directions("window-limited", in_direction);

/// The least share of the time, per cent.
const SHARE: u64 = 20;
/// If windows, one per path RTT, would have carried this many times what was transferred, their
/// size was not the limit. Below, the RTT may have grown by a queue.
const UNUSED: u64 = 10;
/// Where it fell below a segment, full of unread data, half this many times is enough.
const UNREAD: u64 = 3;
/// Nor was it where it holds so many bandwidth-delay products of the path's rate. That rate, if
/// measured from one window per RTT alone, needs one.
const AMPLE: u64 = 2;

fn in_direction(direction: &Direction<'_>) -> Option<Finding> {
    let windows = &direction.flow.windows;
    let offered = windows.max.filter(|_| windows.scale_known)?;
    // What it grew to later, or was never filled, limited nobody. A slow reader's window falls.
    let is_later = |mean: Bytes| {
        let twice = mean + mean;
        offered >= twice && windows.first.is_some_and(|first| first < twice)
    };
    let mean = windows.limiting.filter(|&mean| is_later(mean));
    let largest = mean.unwrap_or(offered);
    let full =
        direction.flow.shares.of(Limit::ReceiveWindow).saturating_sub(windows.zero_window_time);
    let enough = is_share(full, direction.time(), SHARE) && direction.is_transfer();
    if !enough || window_scaling::is_to_blame(direction) {
        return None;
    }
    let receiver = direction.receiver;
    let mut statement = format!(
        "The {receiver}'s receive window ({}{}) limited the {} for {}.",
        if mean.is_some() { "mean " } else { "at most " },
        amount(largest),
        direction.sender,
        part_of_time(full, direction.time()),
    );
    let shown = Shown::by(&windows.window_full).or(direction.shown_under(Limit::ReceiveWindow));
    let found = shown.proves(RULE.name, Severity::Harm, Cost::time(full));
    if is_unused(direction, largest, full) {
        let (why, remedy) = not_by_size(direction, largest)?;
        return Some(found.saying(statement + &why, remedy));
    }
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
    if mean.is_some() {
        statement += &format!(" It grew to {} too late.", amount(offered));
        return Some(found.saying(statement, remedy_for_late_growth(direction)));
    }
    Some(found.saying(statement, remedy(direction, largest, needed)))
}

/// Whether windows of this size, full for that time, were not what limited the transfer.
fn is_unused(direction: &Direction<'_>, largest: Bytes, full: Span) -> bool {
    let needed = direction.bandwidth_delay_product();
    if needed.is_some_and(|needed| largest.as_u64() >= needed.as_u64().saturating_mul(AMPLE)) {
        return true;
    }
    let rates = direction.rate_of_window(largest).zip(direction.flow.transfer.goodput);
    rates.is_some_and(|(rate, reached)| {
        let moved = reached.bytes_in(direction.time()).as_u64();
        let carried = rate.bytes_in(full).as_u64();
        let is_unread = least_below_a_segment(direction).is_some();
        carried > moved.saturating_mul(UNUSED)
            || (is_unread && carried.saturating_mul(2) >= moved.saturating_mul(UNREAD))
    })
}

/// The smallest window, if no segment fits into it.
fn least_below_a_segment(direction: &Direction<'_>) -> Option<Bytes> {
    direction.flow.windows.min.filter(|&least| least < direction.flow.marks.largest)
}

/// Why, and what helps; away from the sender only a window below a segment shows that.
fn not_by_size(direction: &Direction<'_>, largest: Bytes) -> Option<(String, String)> {
    let (flow, receiver) = (direction.flow, direction.receiver);
    let least = least_below_a_segment(direction);
    let is_away = direction.connection.is_away(flow);
    if is_away && least.is_none() {
        return None;
    }
    let (rate, round_trip) = direction.rate_of_window(largest).zip(direction.round_trip())?;
    let reached = flow.transfer.goodput?;
    let mut why = format!(
        " Its size was not the cause: at the path's RTT of {}{} it carries {}, and the transfer \
         achieved {}.",
        rounded(round_trip),
        direction.round_trip_basis(),
        speed(rate),
        speed(reached),
    );
    if let Some(median) = flow.round_trips.median.filter(|_| !is_away) {
        why += &format!(" The median RTT was {}.", rounded(median));
    }
    let Some(least) = least else {
        let remedy = "A larger window does not help: find out what delays the ACKs, a queue on the \
                      path or the receiver.";
        return Some((why, remedy.to_owned()));
    };
    why += &format!(
        " The window fell to {}, less than a segment: the {receiver}'s application reads slowly.",
        amount(least)
    );
    let remedy = format!(
        "Find out what the {receiver}'s application does instead of reading. A larger buffer \
         bridges only pauses shorter than it takes to fill.",
    );
    Some((why, remedy))
}

fn remedy_for_late_growth(direction: &Direction<'_>) -> String {
    format!(
        "Let the {} offer more from the start (on Linux the second value of net.ipv4.tcp_rmem), or \
         use a connection for more than one transfer: its window has grown by then.",
        direction.receiver
    )
}

fn remedy(direction: &Direction<'_>, largest: Bytes, needed: Option<Bytes>) -> String {
    let receiver = direction.receiver;
    let first = direction.flow.windows.first.unwrap_or(largest);
    let size = needed.map_or(String::new(), |needed| format!(" to {} or more", amount(needed)));
    if largest.as_u64() >= first.as_u64() * 2 {
        // `tcp_win_from_space`: half of the buffer until Linux 6.5, later what segments leave.
        format!(
            "The window grew from {} and stopped. Remove SO_RCVBUF from the {receiver}'s program \
             if it sets it, and raise the limit of autotuning so that the window can grow{size} \
             (on Linux the third value of net.ipv4.tcp_rmem, about half of which is advertised).",
            amount(first)
        )
    } else {
        format!(
            "The window hardly grew: remove a fixed SO_RCVBUF from the {receiver}'s program so \
             that autotuning works, or raise it{size}."
        )
    }
}
