//! Which frame carried which part of the stream last.

use std::collections::VecDeque;

use tcplab_units::Offset;

use crate::Range;

/// The acknowledged segments remembered: spurious retransmissions follow soon.
const BEHIND: usize = 256;
/// As many are remembered at all.
const MOST: usize = 1 << 16;

/// The latest segments, in the order of the stream.
#[derive(Debug, Default)]
pub(super) struct Sent {
    segments: VecDeque<(Range, u64)>,
    /// Of these, acknowledged.
    acknowledged: usize,
}

impl Sent {
    /// The frame that carried the beginning of this range before, if one did.
    pub(super) fn sent(&mut self, range: Range, frame: u64) -> Option<u64> {
        if self.segments.back().is_none_or(|(last, _)| last.end <= range.start) {
            if self.segments.len() >= MOST {
                self.segments.pop_front();
                self.acknowledged = self.acknowledged.saturating_sub(1);
            }
            self.segments.push_back((range, frame));
            return None;
        }
        let first = self.segments.partition_point(|(known, _)| known.end <= range.start);
        let mut before = None;
        for (known, latest) in self.segments.range_mut(first..) {
            if known.start >= range.end {
                break;
            }
            before.get_or_insert(*latest);
            // A partial retransmission does not count as one of the whole.
            if range.start <= known.start && known.end <= range.end {
                *latest = frame;
            }
        }
        before
    }

    /// Everything before `ack` was received.
    pub(super) fn answered(&mut self, ack: Offset) {
        while self.segments.get(self.acknowledged).is_some_and(|(range, _)| range.end <= ack) {
            self.acknowledged += 1;
        }
        while self.acknowledged > BEHIND {
            self.segments.pop_front();
            self.acknowledged -= 1;
        }
    }
}
