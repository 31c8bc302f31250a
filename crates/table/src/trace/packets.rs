//! What must be known of a direction's past to say what its next packet is.

use tcplab_trace::{Ack, Flow, FlowId, Segment};
use tcplab_units::{Bytes, Offset};

use super::events::{AckKind, Before, EventRow, What};
use super::segments::SegmentRow;

/// The past of a direction.
#[derive(Debug, Default)]
pub(super) struct Past {
    high: Option<Offset>,
    before: Option<Before>,
    episodes: u64,
}

impl Past {
    /// The row of the next segment.
    pub(super) fn segment(&mut self, flow: FlowId, segment: Segment) -> SegmentRow {
        let (high, end) = (self.high, segment.range.end);
        self.high = Some(high.map_or(end, |high| high.max(end)));
        let edge = self.before.and_then(|before| {
            Some(before.ack.as_u64() + before.window.filter(|&w| w > Bytes::ZERO)?.as_u64())
        });
        let fills_window = edge == Some(end.as_u64()) && segment.payload > Bytes::ZERO;
        SegmentRow { flow, segment, high, fills_window }
    }

    /// The row of the next acknowledgement, and of which kind it is.
    pub(super) fn ack(&mut self, flow: FlowId, ack: Ack) -> (AckKind, EventRow) {
        let before = self.before;
        let kind = AckKind::of(&ack, before);
        if kind != AckKind::Old {
            self.before = Some(Before { ack: ack.ack, window: ack.window });
        }
        let known = before.map_or(ack.ack, |before| before.ack);
        let new = if ack.ack > known { ack.ack.since(known) } else { Bytes::ZERO };
        let (at, frame) = (ack.at, ack.frame);
        (kind, EventRow { flow, at, frame, what: What::Ack { ack: Box::new(ack), kind, new } })
    }

    /// The number of the next recovery episode, from 1.
    pub(super) fn episode(&mut self) -> u64 {
        self.episodes += 1;
        self.episodes
    }
}

/// The rows of all segments and all acknowledgements of a direction.
pub(super) fn packets(id: FlowId, flow: &Flow) -> (Vec<SegmentRow>, Vec<EventRow>) {
    let mut past = Past::default();
    let (mut segments, mut events) = (Vec::new(), Vec::new());
    let mut acks = flow.acks.iter().peekable();
    for segment in &flow.segments {
        while let Some(ack) = acks.next_if(|ack| ack.order() < segment.order()) {
            events.push(past.ack(id, ack.clone()).1);
        }
        segments.push(past.segment(id, segment.clone()));
    }
    events.extend(acks.map(|ack| past.ack(id, ack.clone()).1));
    let resets = flow.resets.iter().filter(|reset| !reset.from_sender);
    events.extend(resets.map(|reset| EventRow::of_reset(id, reset.clone())));
    events.sort_by_key(|event| (event.at, event.frame));
    (segments, events)
}
