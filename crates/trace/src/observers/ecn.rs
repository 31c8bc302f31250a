//! Congestion marks (CE), their echoes (ECE), and what the sender answers (CWR).

use std::mem::take;

use tcplab_units::{Instant, Offset, Span};
use tcplab_wire::TcpFlags;

use super::event::{AckEvent, SendEvent};
use crate::fold::folded;
use crate::packet::Packet;
use crate::{Flow, Occurrences, SegmentKind};

/// What was sent before a sender could answer an echo may wait below the capture point so long,
/// beside the round trip.
const PATIENCE: Span = Span::from_millis(100);

#[derive(Debug, Default)]
pub(crate) struct EcnMarks {
    marked: Occurrences,
    /// The end of the first data with a mark.
    marked_data: Option<Offset>,
    marked_data_acked: bool,
    /// Where classic ECN was agreed.
    echoes: Occurrences,
    /// The first echo since the last answer.
    echoed: Option<Instant>,
    /// Where Accurate ECN was agreed.
    reported: Occurrences,
    reductions: Occurrences,
    not_reduced: Occurrences,
    /// The sender's reaction time, as seen at the capture point.
    reaction: Span,
}
folded! {
    EcnMarks {
        marked, marked_data, marked_data_acked, echoes, echoed, reported, reductions, not_reduced,
        reaction
    }
}

impl EcnMarks {
    pub(crate) fn opened(&mut self, reaction: Span) {
        self.reaction = reaction;
    }

    #[inline(always)]
    pub(crate) fn on_send(&mut self, sent: &SendEvent<'_>) {
        let (at, frame) = (sent.packet.at, sent.packet.frame);
        if sent.packet.congestion_marked {
            self.marked.add(at, frame);
            if sent.has_data() {
                self.marked_data.get_or_insert(sent.range.end);
            }
        }
        let Some(echoed) = self.echoed else { return };
        if sent.reduced {
            self.reductions.add(at, frame);
            self.echoed = None;
        } else if sent.kind == SegmentKind::New
            && sent.payload > 0
            && !sent.packet.flags.contains(TcpFlags::CWR)
            && at.since(echoed) > self.reaction * 2 + PATIENCE
        {
            self.not_reduced.add(at, frame);
        }
    }

    /// A marked packet of the sender that has no sequence space.
    #[cold]
    pub(crate) fn on_marked_ack(&mut self, packet: &Packet) {
        self.marked.add(packet.at, packet.frame);
    }

    /// The other end echoes a mark.
    #[cold]
    pub(crate) fn on_echo(&mut self, packet: &Packet) {
        self.echoes.add(packet.at, packet.frame);
        self.echoed.get_or_insert(packet.at);
    }

    /// The other end reports so many more marks.
    #[cold]
    pub(crate) fn on_report(&mut self, packet: &Packet, marks: u64) {
        self.reported.add(packet.at, packet.frame);
        self.reported.count += marks - 1;
    }

    #[inline(always)]
    pub(crate) fn on_ack(&mut self, heard: &AckEvent<'_>) {
        if let Some(end) = self.marked_data {
            self.marked_data_acked |= !heard.unread && heard.ack >= end;
        }
    }

    pub(crate) fn finish(&mut self, flow: &mut Flow) {
        flow.marks.ce_marks = take(&mut self.marked);
        flow.marks.marked_data = self.marked_data.is_some();
        flow.marks.marked_data_acked = self.marked_data_acked;
        flow.marks.echoes = take(&mut self.echoes);
        flow.marks.reported = take(&mut self.reported);
        flow.marks.reductions = take(&mut self.reductions);
        flow.marks.not_reduced = take(&mut self.not_reduced);
    }
}
