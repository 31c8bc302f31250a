//! # Silly window syndrome
//!
//! **What it says.** The receiver advertised less than a segment and less than half its buffer.
//!
//! **Why it matters.** A sender that uses such windows sends tiny segments with full headers; a
//! receiver must wait until a full segment fits.
//!
//! **Evidence.** The ACKs that opened the window by so little.
//!
//! **False positives.** A receiver whose whole buffer holds about one segment can do no better;
//! the rule reports three cases or more.
//!
//! **Reference.** RFC 9293 section 3.8.6.2.2; RFC 813.

use crate::words::{amount, times};
use crate::{Cost, Direction, Finding, Rule, Severity, Shown};

/// The rule.
pub const RULE: Rule = Rule::of_directions("silly-window", in_direction);

/// Fewer do no harm.
const LEAST: u64 = 3;
/// A buffer of so many segments does not cause it.
const SEVERAL: u64 = 8;

fn in_direction(direction: &Direction<'_>) -> Option<Finding> {
    let windows = &direction.flow.windows;
    if windows.silly_windows.count < LEAST {
        return None;
    }
    let receiver = direction.receiver;
    let largest = windows
        .max
        .map_or(String::new(), |max| format!("; its largest window was {}", amount(max)));
    let statement = format!(
        "The {receiver} advertised less than one segment {} (silly window syndrome){largest}.",
        times(windows.silly_windows.count),
    );
    let mut remedy =
        format!("Let the {receiver}'s application read in larger pieces and more often");
    let several = direction.flow.marks.largest.as_u64() * SEVERAL;
    remedy += match windows.max {
        Some(max) if max.as_u64() >= several => ".",
        _ => ", and give it a buffer of several segments (SO_RCVBUF).",
    };
    let shown = Shown::by(&windows.silly_windows);
    Some(shown.proves(RULE.name, Severity::Harm, Cost::NONE).saying(statement, remedy))
}
