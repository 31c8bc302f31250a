//! The traffic of a path in real time, from the counters of its bridge.

use tcplab_path::Direction;
use tcplab_recording::{DirectionTraffic, Traffic};
use tcplab_units::Instant;

use crate::bridge::Counters;

/// What has gone through a path until `at`.
pub(crate) fn traffic_of(counters: &Counters, at: Instant) -> Traffic {
    let way = |direction| {
        let way = counters.direction(direction);
        DirectionTraffic {
            packets_in: way.packets_in.value(),
            bytes_in: way.bytes_in.value(),
            packets_out: way.packets_out.value(),
            bytes_out: way.bytes_out.value(),
            made_out: way.made_out.value(),
            dropped: way.dropped.value(),
            made_dropped: way.made_dropped.value(),
            dropped_for: way.dropped_for().collect(),
        }
    };
    Traffic { at, forward: way(Direction::Forward), reverse: way(Direction::Reverse) }
}
