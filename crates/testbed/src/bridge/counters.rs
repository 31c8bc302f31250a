//! What the bridge counts while it runs, for others to look at.

use std::sync::atomic::{AtomicU64, Ordering};

use tcplab_path::Direction;

/// Live counters of a bridge. Only its thread writes, so a plain store does.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    ways: [Way; 2],
    /// Frames lost outside the path, by the devices.
    pub(crate) device_drops: Counter,
    /// Frames that are missing in a capture.
    pub(crate) capture_drops: Counter,
    /// Verdicts that are missing in the ground truth.
    pub(crate) verdict_drops: Counter,
}

/// One direction of the path.
#[derive(Debug, Default)]
pub(crate) struct Way {
    /// Packets that an endpoint sent into it.
    pub(crate) packets_in: Counter,
    /// Their bytes of IP.
    pub(crate) bytes_in: Counter,
    /// Packets handed to an endpoint.
    pub(crate) packets_out: Counter,
    /// Their bytes of IP.
    pub(crate) bytes_out: Counter,
    /// Packets that the path dropped.
    pub(crate) dropped: Counter,
    /// Packets that the path made itself and is done with, whatever became of them.
    pub(crate) made: Counter,
}

impl Counters {
    /// Those of one direction.
    pub(crate) fn way(&self, direction: Direction) -> &Way {
        &self.ways[direction as usize]
    }
}

/// A number that grows.
#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    /// What it is now.
    pub(crate) fn value(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// To be called by one thread only.
    pub(super) fn add(&self, more: u64) {
        self.0.store(self.value() + more, Ordering::Relaxed);
    }

    /// To be called by one thread only.
    pub(super) fn set(&self, value: u64) {
        self.0.store(value, Ordering::Relaxed);
    }
}
