//! # The path is full
//!
//! **What it says.** The transfer used the capacity of the path: nothing is left to tune.
//!
//! **Why it matters.** The link is the bottleneck; no other reason needs to be looked for.
//!
//! **Evidence.** The share of time with ACKs at the path's rate; goodput against that rate.
//!
//! **False positives.** A rate limit at the sender (a shaper, pacing at a fixed rate) looks like a
//! path's. Cross traffic takes its share: the path is what was left.
//!
//! **Reference.** RFC 6349 section 4.1 (transfer time ratio); C. Dovrolis et al.,
//! "Packet-Dispersion Techniques and a Capacity-Estimation Methodology".

use tcplab_trace::Limit;

use crate::words::{part_of_time, percent, speed};
use crate::{Cost, Direction, Finding, Rule, Severity};

/// The rule.
pub const RULE: Rule = Rule::of_directions("path-full", in_direction);

/// The least share of the time, per cent.
const SHARE: u64 = 70;
/// The least goodput, per cent of the path's rate.
const REACHED: u64 = 80;

fn in_direction(direction: &Direction<'_>) -> Option<Finding> {
    let full = direction.limited(Limit::Path, SHARE).filter(|_| direction.is_transfer())?;
    let transfer = &direction.flow.transfer;
    let (goodput, capacity) = (transfer.goodput?, transfer.capacity?);
    let (reached, whole) = (goodput.bits_per_second(), capacity.bits_per_second());
    if u128::from(reached) * 100 < u128::from(whole) * u128::from(REACHED) {
        return None;
    }
    let statement = format!(
        "The {} filled the path for {}: {} of {} ({}). No setting at the ends makes this faster, \
         only a faster link or less data.",
        direction.sender,
        part_of_time(full, direction.time()),
        speed(goodput),
        speed(capacity),
        percent(reached, whole),
    );
    let shown = direction.shown_under(Limit::Path);
    Some(shown.proves(RULE.name, Severity::Good, Cost::NONE).stating(statement))
}
