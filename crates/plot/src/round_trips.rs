//! Round trips: from a segment to the ACK that answers it, and what each sample is worth.

use std::collections::VecDeque;
use tcplab_trace::{Ack, Flow, Range};
use tcplab_units::{Instant, Span};

/// Segments in flight beyond this number are not measured.
const MOST: usize = 1 << 16;

/// Why a sample may be longer than the path's RTT. Each sample is of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RttKind {
    /// To the ACK of exactly its end, of a segment sent once; nothing before it was retransmitted
    /// or filled in meanwhile. These are tcptrace's samples.
    Once,
    /// Likewise, but earlier data were repaired meanwhile. Karn's algorithm allows it (RFC 6298
    /// section 3), yet it contains the time of the repair: so the receiver echoes the timestamp of
    /// the segment that filled the hole, not this one's (RFC 7323 section 4.3, case C).
    Repaired,
    /// To the first ACK of exactly its end, of a segment of which some was sent more than once,
    /// from its first transmission. Karn's algorithm excludes it (RFC 6298 section 3: it is
    /// ambiguous which one the ACK answers). Timestamps would say (RFC 7323 section 4.1), and are
    /// not used here.
    Retransmitted,
    /// To the SACK block that first covers a segment sent once (RFC 2018). If an ACK newly covers
    /// several, the one sent last is measured, as RACK does (RFC 8985 section 6.2, step 1).
    Sack,
}

impl RttKind {
    /// All of them.
    pub const ALL: [RttKind; 4] =
        [RttKind::Once, RttKind::Repaired, RttKind::Retransmitted, RttKind::Sack];

    /// Its name on the command line: `once`, `repaired`, `retransmitted`, `sack`.
    pub fn name(self) -> &'static str {
        match self {
            RttKind::Once => "once",
            RttKind::Repaired => "repaired",
            RttKind::Retransmitted => "retransmitted",
            RttKind::Sack => "sack",
        }
    }
    /// The CSS class of its layer.
    pub(crate) fn class(self) -> &'static str {
        match self {
            RttKind::Once => "rtt",
            RttKind::Repaired => "rtt-repaired",
            RttKind::Retransmitted => "rtt-again",
            RttKind::Sack => "rtt-sack",
        }
    }
    pub(crate) fn label(self) -> &'static str {
        match self {
            RttKind::Once => "RTT",
            RttKind::Repaired => "after a repair",
            RttKind::Retransmitted => "of retransmitted data",
            RttKind::Sack => "by SACK",
        }
    }
}

/// One sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RoundTrip {
    /// When the ACK came.
    pub at: Instant,
    /// The frame of the ACK, from 1; 0 until the caller says.
    pub frame: u64,
    /// The first sequence number of the segment.
    pub sequence: u64,
    /// The time from the segment to the ACK.
    pub span: Span,
    /// What it is worth.
    pub kind: RttKind,
}

/// All samples of a flow, in the order of their ACKs.
pub fn round_trips(flow: &Flow) -> Vec<RoundTrip> {
    let mut in_flight = RoundTrips::default();
    let sent = flow.segments.iter().filter(|segment| !segment.kind.is_copy());
    let mut sent = sent.filter(|segment| !segment.range.is_empty()).peekable();
    let mut samples = Vec::new();
    for ack in &flow.acks {
        while let Some(segment) = sent.next_if(|segment| segment.order() < ack.order()) {
            in_flight.sent(segment.at, segment.range);
        }
        samples.extend(in_flight.measured(ack));
    }
    samples
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
    first_sent: Instant,
    last_sent: Instant,
    again: bool,
    sacked: bool,
}

impl RoundTrips {
    pub(crate) fn sent(&mut self, at: Instant, range: Range) {
        let (start, end) = (range.start.as_u64(), range.end.as_u64());
        if self.waiting.back().is_none_or(|last| last.end <= start) {
            if self.waiting.len() < MOST {
                self.waiting.push_back(Waiting {
                    start,
                    end,
                    first_sent: at,
                    last_sent: at,
                    again: false,
                    sacked: false,
                });
            }
            return;
        }
        let first = self.waiting.partition_point(|waiting| waiting.end <= start);
        let mut is_known = false;
        for waiting in self.waiting.range_mut(first..).take_while(|waiting| waiting.start < end) {
            (waiting.last_sent, waiting.again) = (at, true);
            is_known = true;
        }
        if !is_known {
            self.filled = at;
        }
    }

    /// The RTTs that an ACK measures: at most one by its number, and one by its SACK blocks.
    pub(crate) fn measured(&mut self, ack: &Ack) -> impl Iterator<Item = RoundTrip> + use<> {
        let answered = self.answered(ack.at, ack.ack.as_u64());
        let sacked = self.sacked(ack.at, &ack.sack);
        let frame = ack.frame;
        answered.into_iter().chain(sacked).map(move |trip| RoundTrip { frame, ..trip })
    }

    fn answered(&mut self, at: Instant, ack: u64) -> Option<RoundTrip> {
        let mut last: Option<Waiting> = None;
        let mut latest = self.filled;
        while let Some(first) = self.waiting.front().filter(|first| first.end <= ack) {
            latest = latest.max(first.last_sent);
            last = Some(*first);
            self.waiting.pop_front();
        }
        let last = last.filter(|last| last.end == ack)?;
        let kind = match () {
            () if last.again => RttKind::Retransmitted,
            () if last.last_sent < latest => RttKind::Repaired,
            () => RttKind::Once,
        };
        let span = at.since(last.first_sent);
        Some(RoundTrip { at, frame: 0, sequence: last.start, span, kind })
    }

    fn sacked(&mut self, at: Instant, blocks: &[Range]) -> Option<RoundTrip> {
        let mut newest: Option<Waiting> = None;
        for block in blocks {
            let (start, end) = (block.start.as_u64(), block.end.as_u64());
            let first = self.waiting.partition_point(|waiting| waiting.start < start);
            for waiting in self.waiting.range_mut(first..).take_while(|it| it.end <= end) {
                if waiting.sacked {
                    continue;
                }
                waiting.sacked = true;
                let is_newer = newest.is_none_or(|it| waiting.last_sent >= it.last_sent);
                newest = if is_newer { Some(*waiting) } else { newest };
            }
        }
        let newest = newest.filter(|it| !it.again)?;
        let span = at.since(newest.first_sent);
        Some(RoundTrip { at, frame: 0, sequence: newest.start, span, kind: RttKind::Sack })
    }
}

#[cfg(test)]
mod tests;
