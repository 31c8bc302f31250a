//! A row for each packet with data, SYN or FIN.

use tcplab_trace::{FlowId, Segment, SegmentKind};
use tcplab_units::{Offset, Span};

use super::names;
use crate::column::{Column, columns};

pub(super) struct SegmentRow {
    pub(super) flow: FlowId,
    pub(super) segment: Segment,
    /// The end of the highest byte before, if there was any.
    pub(super) high: Option<Offset>,
    /// It reaches to the edge of the advertised window.
    pub(super) fills_window: bool,
}

pub(super) const COLUMNS: &[Column<SegmentRow>] = columns! {
    CONNECTION Few Whole(|row| row.flow.connection as u64);
    DIRECTION Few Text(|row| names::direction(row.flow.forward).into());
    FRAME Near Whole(|row| row.segment.frame);
    AT_NS Near Whole(|row| row.segment.at.as_nanos());
    START Near Whole(|row| row.segment.range.start.as_u64());
    END Near Whole(|row| row.segment.range.end.as_u64());
    PAYLOAD_BYTES Few Whole(|row| row.segment.payload.as_u64());
    SYN Few Flag(|row| row.segment.syn);
    FIN Few Flag(|row| row.segment.fin);
    PSH Few Flag(|row| row.segment.psh);
    KIND Few Text(|row| row.segment.kind.name().into()),
        "What it is: new, fast-retransmission, timeout-retransmission, \
         after-timeout-retransmission, unexplained-retransmission (no ACK that passed here prompted \
         it, and no timer can have run out), fills-gap (captured after later data: retransmitted or out \
         of order, unknown), out-of-order, network-duplicate, repeated-control (a SYN or FIN again, \
         too soon for a timer: with an answer, or as one packet came twice), capture-duplicate, \
         window-probe, keep-alive";
    TIMER Few TextIfAny(|row| row.segment.timer.map(names::timer).map(Into::into));
    EVIDENCE Few TextIfAny(|row| names::sign(row.segment.proof.by).map(Into::into)),
        "The evidence for its kind: duplicate-acks, sack, rack, partial-ack, packet-too-big, silence, \
         after-timeout, ip-id, timestamp, time, at-sender, zero-window, \
         below-acknowledged; empty if it needs none";
    EVIDENCE_FRAME Near WholeIfAny(|row| row.segment.proof.frame),
        "The frame to look at: the acknowledgement that prompted it, the later packet that \
         arrived before it, the original of a copy, the last packet before a silence; empty if there is none";
    WAITED_NS Near WholeIfAny(|row| {
        Some(row.segment.proof.waited).filter(|waited| !waited.is_zero()).map(Span::as_nanos)
    });
    NTH Few WholeIfAny(|row| Some(u64::from(row.segment.proof.nth)).filter(|&nth| nth > 0));
    BYTES_IN_FLIGHT Near Whole(|row| row.segment.in_flight.as_u64()),
        "Bytes sent and neither acknowledged nor SACKed, itself included";
    SPURIOUS Few TextIfAny(|row| {
        row.segment.proof.spurious.map(|why| names::spurious(why).0.into())
    }),
        "What shows that the retransmission is spurious: acknowledged (its data had been \
         acknowledged before). The tables are written while the capture is read: what shows \
         later, dsack or timestamp, is in events, and in JSON here";
    SPURIOUS_FRAME Near WholeIfAny(|row| names::spurious(row.segment.proof.spurious?).1);
    WIRESHARK_FLAG Few TextIfAny(|row| wireshark_flag(row).map(Into::into)),
        "Wireshark's flag for it, or the nearest, such as \
         tcp.analysis.fast_retransmission; empty if there is none";
    COMMENT Few TextIfAny(|row| row.segment.comment.clone().map(Into::into));
};

/// The kind in the words of Wireshark (epan/dissectors/packet-tcp.c): the most specific of its
/// flags. It has none for what the network or the capture doubled.
fn wireshark_flag(row: &SegmentRow) -> Option<&'static str> {
    let acknowledged = Some(tcplab_trace::Spurious::Acknowledged);
    match row.segment.kind {
        kind if kind.is_retransmission() && row.segment.proof.spurious == acknowledged => {
            Some("tcp.analysis.spurious_retransmission")
        }
        SegmentKind::FastRetransmission => Some("tcp.analysis.fast_retransmission"),
        SegmentKind::TimeoutRetransmission
        | SegmentKind::AfterTimeoutRetransmission
        | SegmentKind::RepeatedControl
        | SegmentKind::UnexplainedRetransmission => Some("tcp.analysis.retransmission"),
        SegmentKind::OutOfOrder => Some("tcp.analysis.out_of_order"),
        SegmentKind::WindowProbe => Some("tcp.analysis.zero_window_probe"),
        SegmentKind::KeepAlive => Some("tcp.analysis.keep_alive"),
        SegmentKind::New if row.high.is_some_and(|high| high < row.segment.range.start) => {
            Some("tcp.analysis.lost_segment")
        }
        SegmentKind::New if row.fills_window => Some("tcp.analysis.window_full"),
        SegmentKind::New
        | SegmentKind::FillsGap
        | SegmentKind::NetworkDuplicate
        | SegmentKind::LinkRetry
        | SegmentKind::CaptureDuplicate => None,
    }
}
