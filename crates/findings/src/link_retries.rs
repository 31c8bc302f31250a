//! # Link-layer retries
//!
//! **What it says.** A radio sent frames again that the capture had heard before.
//!
//! **Why it matters.** Retries take the channel's time and delay what waits behind them. They are a
//! sign of a bad radio link; TCP sees none of them.
//!
//! **Evidence.** Frames with the bit Retry of IEEE 802.11 that equal an earlier one: the same
//! sequence number and IP identification. Retries of frames that the capture did not hear before
//! are not counted.
//!
//! **False positives.** The capture's antenna hears other frames than the receiver's: what it heard
//! twice may have arrived once.
//!
//! **Reference.** IEEE 802.11 sections 9.2.4.1.6 (Retry) and 10.3.2.11 (a receiver drops what it
//! has).

use tcplab_units::Bytes;

use crate::words::{percent, times};
use crate::{Cost, Direction, Finding, Rule, Severity, Shown};

/// The rule.
pub const RULE: Rule = Rule::of_directions("link-retries", in_direction);

/// At least so many, and one in so many segments.
const LEAST: u64 = 3;
const ONE_IN: u64 = 100;

fn in_direction(direction: &Direction<'_>) -> Option<Finding> {
    let retries = &direction.flow.causes.link_retries;
    let segments = direction.all_segments();
    if retries.count < LEAST || retries.count * ONE_IN < segments {
        return None;
    }
    let statement = format!(
        "The radio link sent packets of the {} again {} ({} of its segments), as it had heard no \
         acknowledgement of the link. The counts leave these copies out.",
        direction.sender,
        times(retries.count),
        percent(retries.count, segments),
    );
    let cost = Cost::bytes(Bytes::new(retries.count * direction.flow.marks.largest.as_u64()));
    Some(Shown::by(retries).proves(RULE.name, Severity::Note, cost).saying(
        statement,
        "Look at the radio: signal, interference, a busy channel (`iw dev wlan0 station dump` counts \
         retries and failures). TCP has no part in it: a receiver drops what it has.",
    ))
}
