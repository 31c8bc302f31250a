//! What the ground truth of a recording adds to a capture.

use std::collections::BTreeSet;

use super::{Connection, Flow};

impl Connection {
    /// Marks the segments and ACKs in `frames`, the frames of this capture that the path dropped.
    pub fn mark_dropped(&mut self, frames: &BTreeSet<u64>) {
        let Connection { forward, reverse, .. } = self;
        for Flow { segments, acks, .. } in [forward, reverse] {
            for segment in segments {
                segment.dropped = frames.contains(&segment.frame);
            }
            for ack in acks {
                ack.dropped = frames.contains(&ack.frame);
            }
        }
    }
}
