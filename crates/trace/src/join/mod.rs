//! Two captures of the same connections, taken at two places, joined packet by packet.
//!
//! Shows what one capture point can only infer: packets lost between the capture points, duplicated
//! or reordered, and their delays. Both captures must show the same addresses, ports and sequence
//! numbers: translated connections (NAT) are not joined.
//!
//! A [`Survey`] of both captures finds the clock offset, roughly, and the hosts' sides. Then the
//! [`Joiner`] takes the frames of both in the order of corrected time; it stores only what may be
//! in flight: at most [`WINDOW`], and a bounded number of packets.
//!
//! Packets are compared as segments of the wire: where the kernel handed large pieces to a capture
//! point, these are cut where it cut them or put them together (the segment size of the handshake,
//! or of the capture point that saw them apart). What a capture holds more than once is left out.
//! What the survey finds changed by devices on the way does not distinguish packets; each matched
//! pair is compared, and its [changes](Change) are counted.

mod audit;
mod changes;
mod clock;
mod clock_steps;
mod copies;
mod delays;
mod direction;
mod headers;
mod hull;
mod joiner;
mod model;
mod order;
mod packets;
mod piece;
mod reading;
mod survey;

pub use audit::{Claims, audit};
pub use joiner::Joiner;
pub use model::*;
pub use reading::{Clocks, join};
pub use survey::{Rough, Survey};

use tcplab_units::Span;

/// The longest delay of a packet; one that has not arrived by then is lost.
pub const WINDOW: Span = Span::from_secs(20);

/// The largest time difference, 36 years in nanoseconds, so that sums fit 64 bits.
const FARTHEST: i64 = 1 << 60;

/// How long after `earlier` a time is; negative when it is before.
fn difference(time_ns: u64, earlier: u64) -> i64 {
    let far = FARTHEST.unsigned_abs();
    let nanos = time_ns.abs_diff(earlier).min(far).cast_signed();
    if time_ns < earlier { -nanos } else { nanos }
}

#[cfg(test)]
mod tests;
