//! Segments that no ACK has answered yet, for round-trip times.

use std::collections::VecDeque;

use tcplab_trace::Segment;
use tcplab_units::{Instant, Offset, Span};

/// Segments of a direction that are remembered; beyond, there is no RTT for a while.
const MOST: usize = 16_384;

/// Segments in the order of the stream.
#[derive(Debug, Clone, Default)]
pub(crate) struct Unanswered(VecDeque<Sent>);

#[derive(Debug, Clone, Copy)]
struct Sent {
    end: Offset,
    at: Instant,
    /// An ACK of one that was sent twice answers either (Karn and Partridge, SIGCOMM 1987).
    is_once: bool,
}

impl Unanswered {
    /// A segment was sent.
    pub(crate) fn sent(&mut self, segment: &Segment, at: Instant) {
        let end = segment.range.end;
        if self.0.back().is_none_or(|last| last.end < end) {
            if self.0.len() < MOST {
                self.0.push_back(Sent { end, at, is_once: !segment.kind.is_retransmission() });
            }
            return;
        }
        let first = self.0.partition_point(|sent| sent.end <= segment.range.start);
        for sent in self.0.range_mut(first..).take_while(|sent| sent.end <= end) {
            sent.is_once = false;
        }
    }

    /// All before `ack` was acknowledged: the RTT of the latest segment of that.
    pub(crate) fn answered(&mut self, ack: Offset, at: Instant) -> Option<Span> {
        let count = self.0.partition_point(|sent| sent.end <= ack);
        let latest = self.0.drain(..count).next_back()?;
        latest.is_once.then(|| at.since(latest.at))
    }
}
