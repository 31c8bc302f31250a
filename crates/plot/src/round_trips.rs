//! Round trips as tcptrace measures them: from a segment to the acknowledgement of exactly its
//! end, where it was sent once and nothing before it was retransmitted meanwhile.

use std::collections::VecDeque;
use tcplab_trace::{Ack, Flow, Range};
use tcplab_units::{Instant, Span};

/// Segments in flight beyond this number are not measured.
const MOST: usize = 1 << 16;

/// One sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RoundTrip {
    /// When the ACK came.
    pub(crate) at: Instant,
    /// The first sequence number of the segment.
    pub(crate) sequence: u64,
    pub(crate) span: Span,
}

/// All samples of a flow.
pub(crate) fn samples(flow: &Flow) -> Vec<RoundTrip> {
    let mut in_flight = RoundTrips::default();
    let mut sent = flow.segments.iter().filter(|s| !s.range.is_empty()).peekable();
    let sample = |ack: &Ack| {
        while let Some(segment) = sent.next_if(|segment| segment.frame < ack.frame) {
            in_flight.sent(segment.at, segment.range);
        }
        in_flight.answered(ack.at, ack.ack.as_u64())
    };
    flow.acks.iter().filter_map(sample).collect()
}

/// Segments in flight, in the order of their data.
#[derive(Debug, Default)]
pub(crate) struct RoundTrips {
    waiting: VecDeque<Waiting>,
    /// When a hole was last filled by data not seen here: ACKs of earlier data above it are late.
    filled: Instant,
}

#[derive(Debug, Clone, Copy)]
struct Waiting {
    start: u64,
    end: u64,
    /// When it was last sent.
    at: Instant,
    again: bool,
}

impl RoundTrips {
    pub(crate) fn sent(&mut self, at: Instant, range: Range) {
        let (start, end) = (range.start.as_u64(), range.end.as_u64());
        if self.waiting.back().is_none_or(|last| last.end <= start) {
            if self.waiting.len() < MOST {
                self.waiting.push_back(Waiting { start, end, at, again: false });
            }
            return;
        }
        let first = self.waiting.partition_point(|waiting| waiting.end <= start);
        let mut is_known = false;
        for waiting in self.waiting.range_mut(first..).take_while(|waiting| waiting.start < end) {
            (waiting.at, waiting.again) = (at, true);
            is_known = true;
        }
        if !is_known {
            self.filled = at;
        }
    }

    /// The RTT that an ACK measures, if any.
    pub(crate) fn answered(&mut self, at: Instant, ack: u64) -> Option<RoundTrip> {
        let mut last: Option<Waiting> = None;
        let mut latest = self.filled;
        while let Some(first) = self.waiting.front().filter(|first| first.end <= ack) {
            latest = latest.max(first.at);
            last = Some(*first);
            self.waiting.pop_front();
        }
        let last = last.filter(|last| last.end == ack && !last.again && last.at >= latest)?;
        Some(RoundTrip { at, sequence: last.start, span: at.since(last.at) })
    }
}
