//! # The path is full
//!
//! **What it says.** The transfer went as fast as the path carries: nothing is left to tune.
//!
//! **Why it matters.** Whoever looks for a reason why a transfer is slow has found it: the link is.
//!
//! **Evidence.** The share of time in which acknowledgements came at the path's own pace; goodput
//! against the rate that this pace shows.
//!
//! **False positives.** A rate limit of the sender's host (a shaper, pacing at a fixed rate) looks
//! like a path's. Others on the same link take their share of it: the path is what was left.
//!
//! **Reference.** RFC 6349 section 4.1 (transfer time ratio); C. Dovrolis et al.,
//! "Packet-Dispersion Techniques and a Capacity-Estimation Methodology".

use tcplab_trace::{Connection, Limit};

use crate::direction::{Direction, in_each};
use crate::finding::{Cost, Finding, Severity};
use crate::words::{part_of_time, percent, speed};

/// The rule's name.
pub const NAME: &str = "path-full";

/// The least share of the time, per cent.
const SHARE: u64 = 70;
/// The least goodput, per cent of the path's rate.
const REACHED: u64 = 80;

/// At most one finding for each direction.
pub fn examine(connection: &Connection) -> Vec<Finding> {
    in_each(connection, in_direction)
}

fn in_direction(direction: &Direction<'_>) -> Option<Finding> {
    let full = direction.limited(Limit::Path, SHARE).filter(|_| direction.is_transfer())?;
    let transfer = &direction.flow.transfer;
    let (goodput, capacity) = (transfer.goodput?, transfer.capacity?);
    let (reached, whole) = (goodput.bits_per_second(), capacity.bits_per_second());
    if u128::from(reached) * 100 < u128::from(whole) * u128::from(REACHED) {
        return None;
    }
    let statement = format!(
        "The {} filled the path for {}: {} of the {} that it carries ({}). No setting at the ends \
         makes this faster; a faster link would, or sending less.",
        direction.sender,
        part_of_time(full, direction.time()),
        speed(goodput),
        speed(capacity),
        percent(reached, whole),
    );
    let shown = direction.shown_under(Limit::Path);
    Some(shown.proves(NAME, Severity::Good, Cost::NONE).stating(statement))
}
