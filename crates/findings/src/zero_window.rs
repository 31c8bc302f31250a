//! # Zero window
//!
//! **What it says.** The receiver advertised a zero window, and the sender had to wait.
//!
//! **Why it matters.** The receiver's buffer is full because its application does not read: the
//! network is not the cause, and no larger buffer helps for long.
//!
//! **Evidence.** The ACKs with a zero window, and how long it lasted.
//!
//! **False positives.** Some systems close the window briefly while they wake the reader; less
//! than 5 % of the transfer and less than 200 ms is not reported. Nor is the window of a direction
//! without data or probes: nobody waited for it.
//!
//! **Reference.** RFC 9293 section 3.8.6.1.

use tcplab_units::{Bytes, Span};

use crate::words::{counted, part_of_time, rounded, times};
use crate::{Cost, Direction, Finding, Rule, Severity, Shown, is_share};

/// The rule.
pub const RULE: Rule = Rule::of_directions("zero-window", in_direction);

/// The least share of the transfer, per cent, or the least single time.
const SHARE: u64 = 5;
const LONG: Span = Span::from_millis(200);

fn in_direction(direction: &Direction<'_>) -> Option<Finding> {
    let windows = &direction.flow.windows;
    let long = windows.zero_window_max >= LONG;
    // Who has nothing to send waits for no window.
    let had_data = direction.flow.totals.data > Bytes::ZERO || !windows.probes.is_empty();
    if !had_data
        || windows.zero_windows.is_empty()
        || !(long || is_share(windows.zero_window_time, direction.time(), SHARE))
    {
        return None;
    }
    let receiver = direction.receiver;
    let mut statement = format!(
        "The {receiver} advertised a zero window {}, for {}",
        times(windows.zero_windows.count),
        part_of_time(windows.zero_window_time, direction.time().max(windows.zero_window_time)),
    );
    if windows.zero_windows.count > 1 {
        statement += &format!("; the longest lasted {}", rounded(windows.zero_window_max));
    }
    statement += &format!("; its application did not read. The {} ", direction.sender);
    statement += &match windows.probes.count {
        0 => "waited for a window update.".to_owned(),
        probes => format!("sent {}.", counted(probes, "zero-window probe")),
    };
    let remedy = format!(
        "Find out what the {receiver}'s application does instead of reading: writing to disk, \
         computing, waiting for others. A larger buffer bridges only pauses shorter than it takes \
         to fill.",
    );
    let shown = Shown::by(&windows.zero_windows);
    Some(
        shown
            .proves(RULE.name, Severity::Harm, Cost::time(windows.zero_window_time))
            .saying(statement, remedy),
    )
}
