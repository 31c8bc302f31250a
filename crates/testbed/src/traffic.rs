//! What goes through a path that is used by itself, and how well it was moved.

use std::collections::BTreeMap;

use serde::Serialize;
use tcplab_path::Direction;
use tcplab_recording::WorldRecord;
use tcplab_units::{Instant, Span};

use crate::bridge::Counters;

/// What has gone through a path until now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Traffic {
    /// Since it was set up.
    pub at: Instant,
    /// From near to far, or from the first interface to the second.
    pub forward: WayTraffic,
    /// The other way.
    pub reverse: WayTraffic,
}

/// What has gone through one direction. Packets are those of a wire: a large piece that the kernel
/// hands over counts as the segments it is cut into.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct WayTraffic {
    /// Packets that came to it.
    pub packets_in: u64,
    /// Their bytes of IP.
    pub bytes_in: u64,
    /// Packets that came out, copies among them.
    pub packets_out: u64,
    /// Their bytes of IP.
    pub bytes_out: u64,
    /// Packets that the path dropped.
    pub dropped: u64,
    /// These by cause; those for which there are any.
    pub dropped_for: BTreeMap<&'static str, u64>,
}

/// A path that was used by itself, at its end.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// What went through.
    pub traffic: Traffic,
    /// How well it was moved.
    pub world: WorldRecord,
    /// Why what was seen may not be what the path asked for; none if it is.
    pub warnings: Vec<String>,
}

impl Traffic {
    pub(crate) fn of(counters: &Counters, at: Instant) -> Traffic {
        let way = |direction| {
            let way = counters.way(direction);
            WayTraffic {
                packets_in: way.packets_in.value(),
                bytes_in: way.bytes_in.value(),
                packets_out: way.packets_out.value(),
                bytes_out: way.bytes_out.value(),
                dropped: way.dropped.value(),
                dropped_for: way.dropped_for().collect(),
            }
        };
        Traffic { at, forward: way(Direction::Forward), reverse: way(Direction::Reverse) }
    }
}

/// Of a packet handed over later than this, a path of milliseconds is no longer what was asked for:
/// it is what a kernel that ticks at 250 Hz adds when it is busy.
const LATE: Span = Span::from_millis(4);
/// Above this share of its time at work, the thread that moves frames sets the pace.
const BUSY: f64 = 0.95;

/// What makes figures seen through the path doubtful.
pub(crate) fn warnings(world: &WorldRecord) -> Vec<String> {
    let mut warnings = Vec::new();
    let mut warn = |is_bad: bool, text: String| {
        if is_bad {
            warnings.push(text);
        }
    };
    let WorldRecord { lateness, ring_wait, mover, .. } = world;
    warn(
        lateness.p99 > LATE,
        format!("one packet in a hundred came more than {} late", lateness.p99),
    );
    warn(
        ring_wait.p99 > LATE,
        format!("one packet in a hundred may have waited {} before the path", ring_wait.p99),
    );
    warn(
        mover.busy > BUSY,
        format!(
            "moving packets took {:.0} % of a processor: this machine, not the path, set the pace",
            mover.busy * 100.0
        ),
    );
    let lost = [
        (world.device_drops, "packets were lost outside the path, by the devices at its ends"),
        (world.capture_drops, "packets are missing in the captures"),
        (world.verdict_drops, "packets are missing in path.jsonl"),
    ];
    for (count, what) in lost {
        warn(count > 0, format!("{count} {what}"));
    }
    warn(mover.clock_steps > 0, format!("the machine's clock was set {} times", mover.clock_steps));
    warnings
}

#[cfg(test)]
mod tests {
    use tcplab_recording::{Lateness, MoverRecord};

    use super::*;

    #[test]
    fn only_what_went_wrong_is_warned_of() {
        assert_eq!(warnings(&WorldRecord::default()), Vec::<String>::new());
        let bad = WorldRecord {
            lateness: Lateness { p99: Span::from_millis(5), ..Lateness::default() },
            device_drops: 3,
            mover: MoverRecord { busy: 0.99, clock_steps: 1, ..MoverRecord::default() },
            ..WorldRecord::default()
        };
        assert_eq!(
            warnings(&bad),
            [
                "one packet in a hundred came more than 5 ms late",
                "moving packets took 99 % of a processor: this machine, not the path, set the pace",
                "3 packets were lost outside the path, by the devices at its ends",
                "the machine's clock was set 1 times",
            ]
        );
    }
}
