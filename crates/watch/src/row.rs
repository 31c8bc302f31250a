//! A packet as a row of a ladder.

use serde::Serialize;
use tcplab_trace::{Ack, FlowId, Range, Segment, SegmentKind};
use tcplab_units::{Bytes, Instant};

/// A packet, for a ladder.
#[derive(Debug, Clone, Serialize)]
pub struct PacketRow {
    pub(crate) frame: u64,
    at_ns: u64,
    connection: usize,
    from_client: bool,
    /// `SYN`, `FIN`, `PSH`, as far as they matter.
    flags: String,
    /// The first byte and the length of its data, in the stream; none without data.
    sequence: Option<u64>,
    length_bytes: u64,
    /// What it acknowledges; of a packet without data.
    ack: Option<u64>,
    window_bytes: Option<u64>,
    sack: Vec<[u64; 2]>,
    /// What the analyser calls it, if it is not simply new.
    kind: Option<&'static str>,
    /// What the path did to it, if it did not deliver it.
    verdict: Option<String>,
}

impl PacketRow {
    pub(crate) fn of_segment(flow: FlowId, segment: &Segment, at: Instant) -> PacketRow {
        let flags = [(segment.syn, "SYN"), (segment.fin, "FIN"), (segment.psh, "PSH")];
        let flags = flags.into_iter().filter(|(is_set, _)| *is_set).map(|(_, name)| name);
        PacketRow {
            frame: segment.frame,
            at_ns: at.as_nanos(),
            connection: flow.connection,
            from_client: flow.forward,
            flags: flags.collect::<Vec<_>>().join(" "),
            sequence: Some(segment.range.start.as_u64()),
            length_bytes: segment.payload.as_u64(),
            ack: None,
            window_bytes: None,
            sack: Vec::new(),
            kind: (segment.kind != SegmentKind::New).then(|| segment.kind.name()),
            verdict: segment.comment.clone(),
        }
    }

    pub(crate) fn of_ack(flow: FlowId, ack: &Ack, at: Instant) -> PacketRow {
        let block = |range: &Range| [range.start.as_u64(), range.end.as_u64()];
        PacketRow {
            frame: ack.frame,
            at_ns: at.as_nanos(),
            connection: flow.connection,
            // It acknowledges the other direction's data.
            from_client: !flow.forward,
            flags: String::new(),
            sequence: None,
            length_bytes: 0,
            ack: Some(ack.ack.as_u64()),
            window_bytes: ack.window.map(Bytes::as_u64),
            sack: ack.sack.iter().map(block).collect(),
            kind: ack.duplicate.then_some("duplicate-ack"),
            verdict: ack.comment.clone(),
        }
    }

    /// Adds what a packet acknowledges: to the row that its data has already, else as a row.
    pub(crate) fn put(rows: &mut Vec<PacketRow>, ack: PacketRow) {
        match rows.last_mut().filter(|row| row.frame == ack.frame) {
            Some(row) => (row.ack, row.window_bytes) = (ack.ack, ack.window_bytes),
            None => rows.push(ack),
        }
    }
}
