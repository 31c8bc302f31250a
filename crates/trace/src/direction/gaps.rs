//! Gaps: ranges below the highest captured byte that are not, or never will be, captured.

use std::collections::VecDeque;

use tcplab_units::{Bytes, Instant, Offset, Span};

use super::passed_packet::SendStamp;
use crate::bounds::GAPS;
use crate::fold::folded;
use crate::{Causes, Occurrences, Range};

/// How long acknowledged data may still be captured: network cards have several queues.
const PATIENCE: Span = Span::from_millis(100);
/// The most such ranges.
const AWAITED: usize = 64;

/// An uncaptured range, and the packet that revealed it: the first from above.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Gap {
    pub(crate) range: Range,
    pub(crate) revealed_by: SendStamp,
}
folded! { Gap { range, revealed_by } }

#[derive(Debug, Default)]
pub(crate) struct SequenceGaps {
    /// Ordered; they neither overlap nor touch.
    open: VecDeque<Gap>,
    not_captured: Option<Box<NotCaptured>>,
    /// Some were dropped: without ACKs nothing closes them.
    pub(crate) gave_up: bool,
}
folded! { SequenceGaps { open, not_captured, gave_up } }

/// A range that may still be captured, and when it was acknowledged: time and frame.
type Awaited = (Range, Instant, u64);

#[derive(Debug, Default)]
struct NotCaptured {
    awaited: VecDeque<Awaited>,
    occurrences: Occurrences,
    bytes: u64,
}
folded! { NotCaptured { awaited, occurrences, bytes } }

impl SequenceGaps {
    pub(crate) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    pub(crate) fn count_before(&self, offset: Offset) -> u32 {
        if self.open.is_empty() {
            return 0;
        }
        self.open.partition_point(|gap| gap.range.start < offset) as u32
    }

    /// A packet revealed the gap `range`.
    pub(crate) fn show(&mut self, range: Range, revealed_by: SendStamp) {
        self.open.push_back(Gap { range, revealed_by });
        if self.open.len() > GAPS.most() {
            self.open.pop_front();
            self.gave_up = true;
        }
    }

    pub(crate) fn first_overlapping(&self, range: Range) -> Option<Gap> {
        let index = self.open.partition_point(|gap| gap.range.end <= range.start);
        self.open.get(index).filter(|gap| gap.range.overlaps(range)).copied()
    }

    /// The uncaptured bytes of `range`.
    pub(crate) fn within(&self, range: Range) -> u64 {
        let first = self.open.partition_point(|gap| gap.range.end <= range.start);
        let met = self.open.iter().skip(first).take_while(|gap| gap.range.start < range.end);
        met.map(|gap| gap.range.end.min(range.end).since(gap.range.start.max(range.start)))
            .map(Bytes::as_u64)
            .sum()
    }

    pub(crate) fn fill(&mut self, range: Range) {
        let mut index = self.open.partition_point(|gap| gap.range.end <= range.start);
        while let Some(&gap) = self.open.get(index).filter(|gap| gap.range.overlaps(range)) {
            self.open.remove(index);
            let below = Range { start: gap.range.start, end: range.start };
            let above = Range { start: range.end, end: gap.range.end };
            if !above.is_empty() && !below.is_empty() {
                self.split(index, &gap, [below, above]);
                break;
            }
            for piece in [above, below].into_iter().filter(|piece| !piece.is_empty()) {
                self.open.insert(index, Gap { range: piece, ..gap });
                index += 1;
            }
        }
    }

    /// Replaces one gap by two, or by the larger one at the bound.
    fn split(&mut self, index: usize, gap: &Gap, [below, above]: [Range; 2]) {
        let room = self.open.len() + 2 <= GAPS.most();
        let largest = if below.len() >= above.len() { below } else { above };
        let pieces = if room { &[above, below][..] } else { &[largest] };
        self.gave_up |= !room;
        for &range in pieces {
            self.open.insert(index, Gap { range, ..*gap });
        }
    }

    /// The ACK in `frame` moved to `una`; `high`: the highest byte captured before.
    pub(crate) fn acknowledged(&mut self, una: Offset, high: Offset, at: Instant, frame: u64) {
        while let Some(gap) = self.open.front_mut().filter(|gap| gap.range.start < una) {
            let (start, end) = (gap.range.start, gap.range.end);
            let range = Range { start, end: end.min(una) };
            if end > una {
                gap.range.start = una;
            } else {
                self.open.pop_front();
            }
            self.not_captured.get_or_insert_default().add(range, at, frame);
        }
        if una > high {
            let range = Range { start: high, end: una };
            self.not_captured.get_or_insert_default().add(range, at, frame);
        }
    }

    /// How long ago a packet's data were acknowledged, if it is captured only now, and how many.
    pub(crate) fn late(&mut self, range: Range, at: Instant) -> Option<(Span, u64)> {
        self.not_captured.as_mut()?.late(range, at)
    }

    /// Writes what was not captured.
    pub(crate) fn finish(&self, causes: &mut Causes) {
        let Some(missed) = &self.not_captured else { return };
        causes.acked_not_captured.clone_from(&missed.occurrences);
        let mut bytes = missed.bytes;
        for (range, at, frame) in &missed.awaited {
            causes.acked_not_captured.add(*at, *frame);
            bytes += range.len();
        }
        causes.acked_not_captured_bytes = Bytes::new(bytes);
    }
}

impl NotCaptured {
    fn add(&mut self, range: Range, at: Instant, frame: u64) {
        while let Some(oldest) = self.awaited.front().copied()
            && (at.since(oldest.1) > PATIENCE || self.awaited.len() >= AWAITED)
        {
            self.awaited.pop_front();
            self.give_up(&oldest);
        }
        self.awaited.push_back((range, at, frame));
    }

    /// It will not be captured any more.
    fn give_up(&mut self, &(range, since, frame): &(Range, Instant, u64)) {
        self.occurrences.add(since, frame);
        self.bytes += range.len();
    }

    fn late(&mut self, range: Range, at: Instant) -> Option<(Span, u64)> {
        let mut late: Option<(Span, u64)> = None;
        let is_late =
            |(missed, since, _): &Awaited| missed.overlaps(range) && at.since(*since) <= PATIENCE;
        // Several packets may have acknowledged a large one.
        while let Some(index) = self.awaited.iter().position(is_late)
            && let Some((missed, since, frame)) = self.awaited.remove(index)
        {
            let (start, end) = (missed.start.max(range.start), missed.end.min(range.end));
            let (longest, bytes) = late.unwrap_or_default();
            late = Some((longest.max(at.since(since)), bytes + end.since(start).as_u64()));
            let below = Range { start: missed.start, end: start };
            let above = Range { start: end, end: missed.end };
            for piece in [above, below].into_iter().filter(|piece| !piece.is_empty()) {
                if self.awaited.len() < AWAITED {
                    self.awaited.insert(index, (piece, since, frame));
                } else {
                    self.give_up(&(piece, since, frame));
                }
            }
        }
        late
    }
}
