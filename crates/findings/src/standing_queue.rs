//! # Standing queue (bufferbloat)
//!
//! **What it says.** The RTT was far above the path's base RTT: packets waited in a queue.
//!
//! **Why it matters.** Everything else in the same queue waits as long: calls, games, DNS.
//!
//! **Evidence.** RTT min, median and p95, and that the path was full meanwhile.
//!
//! **False positives.** Radio links and receivers that wake up late add delay. The rule looks only
//! at transfers limited by the path, at capture points that see whole round trips.
//!
//! **Reference.** J. Gettys and K. Nichols, "Bufferbloat: Dark Buffers in the Internet"; RFC 8290
//! (FQ-CoDel); RFC 6349 section 4.3 (buffer delay).

use tcplab_trace::{CapturePoint, Limit};
use tcplab_units::Span;

use crate::words::{amount, rounded};
use crate::{Cost, Direction, Finding, Rule, Severity};

/// The rule.
pub const RULE: Rule = Rule::of_directions("standing-queue", in_direction);

/// A shorter queue does no harm: CoDel's target is 5 ms, a call tolerates about 100.
const LEAST: Span = Span::from_millis(50);
/// The path must have been full for this share of the time, per cent.
const SHARE: u64 = 20;
/// Fewer samples say little about a 95th percentile.
const SAMPLES: u64 = 40;

fn in_direction(direction: &Direction<'_>) -> Option<Finding> {
    let flow = direction.flow;
    let trips = &flow.round_trips;
    let (min, median, p95) = (trips.min?, trips.median?, trips.p95?);
    let whole = matches!(flow.capture_point, CapturePoint::Sender | CapturePoint::Unknown);
    direction.limited(Limit::Path, SHARE).filter(|_| whole && trips.samples() >= SAMPLES)?;
    let (queue, mean) = (p95.saturating_sub(min), trips.mean.unwrap_or(median));
    // At least as long as the path itself, and half of the time half of that.
    if queue < LEAST || queue < min || median.saturating_sub(min) < queue / 4 {
        return None;
    }
    let mut statement = format!(
        "A standing queue of {} built up while the {} sent: RTT min {}, median {}, p95 {}",
        rounded(queue),
        direction.sender,
        rounded(min),
        rounded(median),
        rounded(p95),
    );
    if let Some(capacity) = flow.transfer.capacity {
        statement +=
            &format!("; about {} of data, or their ACKs, queued", amount(capacity.bytes_in(queue)));
    }
    statement += ". Everything else on this path waits as long.";
    let shown = direction.shown_under(Limit::Path);
    let cost = Cost::time(mean.saturating_sub(min));
    Some(shown.proves(RULE.name, Severity::Harm, cost).saying(
        statement,
        "Keep the bottleneck queue short (FQ-CoDel or CAKE at a rate just below the link's), or \
         pace the sender at the path's rate (BBR). A larger buffer makes it worse.",
    ))
}
