//! A row for each packet with data, SYN or FIN.

use tcplab_trace::{FlowId, Segment, SegmentKind};
use tcplab_units::{Offset, Span};

use super::names;
use crate::column::{Cells, Column, Values};

pub(super) struct SegmentRow {
    pub(super) flow: FlowId,
    pub(super) segment: Segment,
    /// The end of the highest byte seen before, if any was.
    pub(super) high: Option<Offset>,
    /// It reaches to the edge of the advertised window.
    pub(super) fills_window: bool,
}

pub(crate) const COLUMNS: &[Column<SegmentRow>] = &[
    Column {
        name: "connection",
        doc: "The connection's number, from 0, in the order of first packets",
        values: Values::Few,
        cells: Cells::Number(|row| row.flow.connection as u64),
    },
    Column {
        name: "direction",
        doc: "Whose data they are: forward (client to server) or reverse",
        values: Values::Few,
        cells: Cells::Text(|row| names::direction(row.flow.forward).into()),
    },
    Column {
        name: "frame",
        doc: "The packet's frame number, from 1",
        values: Values::Near,
        cells: Cells::Number(|row| row.segment.frame),
    },
    Column {
        name: "at_ns",
        doc: "When it passed the tap, in nanoseconds from the trace's zero",
        values: Values::Near,
        cells: Cells::Number(|row| row.segment.at.as_nanos()),
    },
    Column {
        name: "start",
        doc: "Its first sequence number, from the initial one: the SYN is 0, data begin at 1",
        values: Values::Near,
        cells: Cells::Number(|row| row.segment.range.start.as_u64()),
    },
    Column {
        name: "end",
        doc: "The sequence number behind its last",
        values: Values::Near,
        cells: Cells::Number(|row| row.segment.range.end.as_u64()),
    },
    Column {
        name: "payload_bytes",
        doc: "Bytes of data",
        values: Values::Few,
        cells: Cells::Number(|row| row.segment.payload.as_u64()),
    },
    Column {
        name: "syn",
        doc: "Whether it has SYN",
        values: Values::Few,
        cells: Cells::Flag(|row| row.segment.syn),
    },
    Column {
        name: "fin",
        doc: "Whether it has FIN",
        values: Values::Few,
        cells: Cells::Flag(|row| row.segment.fin),
    },
    Column {
        name: "psh",
        doc: "Whether it has PSH",
        values: Values::Few,
        cells: Cells::Flag(|row| row.segment.psh),
    },
    Column {
        name: "kind",
        doc: "What it is: new, fast-retransmission, timeout-retransmission, \
              after-timeout-retransmission, fills-hole (a retransmission at a tap that never saw \
              the original), reordered, network-duplicate, tap-duplicate, window-probe, keep-alive",
        values: Values::Few,
        cells: Cells::Text(|row| names::segment_kind(row.segment.kind).into()),
    },
    Column {
        name: "timer",
        doc: "The timer that sent it: probe (tail loss probe) or retransmission; empty if none did",
        values: Values::Few,
        cells: Cells::TextIfAny(|row| row.segment.timer.map(names::timer).map(Into::into)),
    },
    Column {
        name: "proof",
        doc: "What tells that it is what kind says: duplicate-acks, sack, rack, partial-ack, \
              silence, after-timeout, ip-id, timestamp, time, at-sender, closed-window, \
              below-acknowledged; empty if it needs no proof",
        values: Values::Few,
        cells: Cells::TextIfAny(|row| names::sign(row.segment.proof.by).map(Into::into)),
    },
    Column {
        name: "proof_frame",
        doc: "The frame to look at: the acknowledgement that prompted it, the packet that overtook \
              it or that it copies, the last one before a silence; empty if there is none",
        values: Values::Near,
        cells: Cells::NumberIfAny(|row| row.segment.proof.frame),
    },
    Column {
        name: "waited_ns",
        doc: "How long nothing had been sent or heard before a timer sent it, or since the packet \
              that overtook it; empty if it did not wait",
        values: Values::Near,
        cells: Cells::NumberIfAny(|row| {
            Some(row.segment.proof.waited).filter(|waited| !waited.is_zero()).map(Span::as_nanos)
        }),
    },
    Column {
        name: "nth",
        doc: "The transmission of its data that it is, from 1; empty if nobody counted",
        values: Values::Few,
        cells: Cells::NumberIfAny(|row| {
            Some(u64::from(row.segment.proof.nth)).filter(|&nth| nth > 0)
        }),
    },
    Column {
        name: "in_flight_bytes",
        doc: "Bytes sent and neither acknowledged nor SACKed, itself included",
        values: Values::Near,
        cells: Cells::Number(|row| row.segment.in_flight.as_u64()),
    },
    Column {
        name: "tshark_flag",
        doc: "The field of tshark that says the same, or comes nearest, such as \
              tcp.analysis.fast_retransmission: to compare; empty if it has none",
        values: Values::Few,
        cells: Cells::TextIfAny(|row| tshark_flag(row).map(Into::into)),
    },
    Column {
        name: "comment",
        doc: "What the capture's comments say of it; empty if nothing",
        values: Values::Few,
        cells: Cells::TextIfAny(|row| row.segment.comment.clone().map(Into::into)),
    },
];

/// Our verdict in the words of tshark (epan/dissectors/packet-tcp.c): the most special of its
/// flags. It has none for what the network or the tap doubled.
pub(super) fn tshark_flag(row: &SegmentRow) -> Option<&'static str> {
    let acknowledged = Some(tcplab_trace::Spurious::Acknowledged);
    match row.segment.kind {
        kind if kind.is_retransmission() && row.segment.proof.spurious == acknowledged => {
            Some("tcp.analysis.spurious_retransmission")
        }
        SegmentKind::FastRetransmission => Some("tcp.analysis.fast_retransmission"),
        SegmentKind::TimeoutRetransmission
        | SegmentKind::AfterTimeoutRetransmission
        | SegmentKind::OriginalNotCaptured => Some("tcp.analysis.retransmission"),
        SegmentKind::OutOfOrder => Some("tcp.analysis.out_of_order"),
        SegmentKind::WindowProbe => Some("tcp.analysis.zero_window_probe"),
        SegmentKind::KeepAlive => Some("tcp.analysis.keep_alive"),
        SegmentKind::New if row.high.is_some_and(|high| high < row.segment.range.start) => {
            Some("tcp.analysis.lost_segment")
        }
        SegmentKind::New if row.fills_window => Some("tcp.analysis.window_full"),
        SegmentKind::New | SegmentKind::NetworkDuplicate | SegmentKind::CaptureDuplicate => None,
    }
}
