//! # Sudden delay
//!
//! **What it says.** The transfer stood still because packets or acknowledgements were late, though
//! none was lost.
//!
//! **Why it matters.** The round trip of a moment is many times the usual one: radio that repeats,
//! a host that sleeps, a route that changes. Senders often take it for loss.
//!
//! **Evidence.** The stalls after which data went on with nothing sent again.
//!
//! **False positives.** A capture that was written late shows delays that the packets did not have.
//! Away from the sender a pause of its application looks the same: the rule is silent there.
//!
//! **Reference.** J. Zhou et al., "Demystifying and Mitigating TCP Stalls at the Server Side",
//! section 3 (packet delay); RFC 5682 section 1.

use tcplab_trace::{CapturePoint, Connection, StallCause};
use tcplab_units::Span;

use crate::direction::{Direction, in_each, is_share};
use crate::finding::{Cost, Finding, Severity, Shown};
use crate::words::{part_of_time, rounded, seconds, times};

/// The rule's name.
pub const NAME: &str = "delay-spikes";

/// The least share of the transfer, per cent.
const SHARE: u64 = 10;
/// And the longest stall must last so long.
const LONG: Span = Span::from_millis(100);

/// At most one finding for each direction.
pub fn examine(connection: &Connection) -> Vec<Finding> {
    in_each(connection, in_direction)
}

fn in_direction(direction: &Direction<'_>) -> Option<Finding> {
    let late = direction.stalls(StallCause::PacketDelay)?;
    let beside =
        matches!(direction.flow.capture_point, CapturePoint::Sender | CapturePoint::Unknown);
    let longest = &late.longest;
    let lasted = longest.until.since(longest.from);
    if !beside || lasted < LONG || !is_share(late.time, direction.time(), SHARE) {
        return None;
    }
    let mut statement = format!(
        "Data from the {} stood still {} though nothing was lost, for {}; the longest took {}, \
         from {} on",
        direction.sender,
        times(late.count),
        part_of_time(late.time, direction.time().max(late.time)),
        rounded(lasted),
        seconds(longest.from),
    );
    statement += &match direction.round_trip() {
        Some(usual) => format!(", where {} is the path's round trip.", rounded(usual)),
        None => ".".to_owned(),
    };
    let shown = Shown::by_stall(longest);
    Some(shown.proves(NAME, Severity::Harm, Cost::time(late.time)).saying(
        statement,
        "Look at what held packets back at these times: radio with repetition or power saving, a \
         host or a virtual machine that was not scheduled, a changed route, a burst of others in the \
         same queue.",
    ))
}
