//! Single packets of a trial, as the client's end saw them.

use std::path::Path;

use serde::Serialize;
use tcplab_capture::Reader;
use tcplab_recording::capture_file;
use tcplab_trace::{Ack, Analyzer, Connection, FlowId, Frame, Segment, SegmentKind, Sink};
use tcplab_units::{Endpoint, Instant, Span};
use tcplab_wire::LinkType;

use crate::error::WatchError;
use crate::read::time_of_first;

/// A packet, for a ladder.
#[derive(Debug, Clone, Serialize)]
pub struct PacketRow {
    frame: u64,
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

/// The packets between two times, at most so many: the first ones, or the last.
///
/// # Errors
/// When there is no capture yet.
pub fn packets(
    place: &Path,
    between: [Instant; 2],
    most: usize,
    are_last: bool,
) -> Result<Vec<PacketRow>, WatchError> {
    let file = place.join(capture_file(Endpoint::Client));
    let mut reader = Reader::open(&file).map_err(|_| WatchError::NoPackets)?;
    let shift = time_of_first(place, Endpoint::Client).unwrap_or_default();
    let mut analyzer = Analyzer::with_sink(Rows { found: Vec::new(), shift, between }).with_jobs(1);
    let mut zero = None;
    // What is not written whole yet is left out.
    while let Ok(Some(record)) = reader.next_record() {
        let Some(time) = record.time else { continue };
        let at = Instant::ZERO + shift;
        let at = at + Span::from_nanos(time.as_nanos() - *zero.get_or_insert(time.as_nanos()));
        if at > between[1] || (!are_last && analyzer.sink().found.len() >= most) {
            break;
        }
        let comments = record.comments().collect::<Vec<_>>().join("; ");
        let frame = Frame {
            time_ns: time.as_nanos(),
            link: LinkType::RawIp,
            captured: record.captured,
            original_len: record.original_len,
            comment: (!comments.is_empty()).then_some(&*comments),
        };
        analyzer.packet(&frame);
    }
    let (_, Rows { found: mut rows, .. }) = analyzer.finish_into();
    rows.sort_by_key(|row| row.frame);
    if are_last {
        rows.drain(..rows.len().saturating_sub(most));
    }
    rows.truncate(most);
    Ok(rows)
}

struct Rows {
    found: Vec<PacketRow>,
    shift: Span,
    between: [Instant; 2],
}

impl Rows {
    /// The time of a packet, if it is wanted.
    fn wanted(&self, at: Instant) -> Option<u64> {
        let at = at + self.shift;
        (self.between[0] <= at && at <= self.between[1]).then(|| at.as_nanos())
    }
}

impl Sink for Rows {
    fn segment(&mut self, flow: FlowId, segment: Segment) {
        let Some(at_ns) = self.wanted(segment.at) else { return };
        let flags = [(segment.syn, "SYN"), (segment.fin, "FIN"), (segment.psh, "PSH")];
        let flags = flags.into_iter().filter(|(is_set, _)| *is_set).map(|(_, name)| name);
        self.found.push(PacketRow {
            frame: segment.frame,
            at_ns,
            connection: flow.connection,
            from_client: flow.forward,
            flags: flags.collect::<Vec<_>>().join(" "),
            sequence: Some(segment.range.start.as_u64()),
            length_bytes: segment.payload.as_u64(),
            ack: None,
            window_bytes: None,
            sack: Vec::new(),
            kind: (segment.kind != SegmentKind::New).then(|| segment.kind.name()),
            verdict: segment.comment,
        });
    }
    fn ack(&mut self, flow: FlowId, ack: Ack) {
        let Some(at_ns) = self.wanted(ack.at) else { return };
        // Of a packet with data the segment is a row already.
        if let Some(row) = self.found.last_mut().filter(|row| row.frame == ack.frame) {
            row.ack = Some(ack.ack.as_u64());
            row.window_bytes = ack.window.map(tcplab_units::Bytes::as_u64);
            return;
        }
        let block = |range: &tcplab_trace::Range| [range.start.as_u64(), range.end.as_u64()];
        self.found.push(PacketRow {
            frame: ack.frame,
            at_ns,
            connection: flow.connection,
            // It acknowledges the other direction's data.
            from_client: !flow.forward,
            flags: String::new(),
            sequence: None,
            length_bytes: 0,
            ack: Some(ack.ack.as_u64()),
            window_bytes: ack.window.map(tcplab_units::Bytes::as_u64),
            sack: ack.sack.iter().map(block).collect(),
            kind: ack.duplicate.then_some("duplicate-ack"),
            verdict: ack.comment,
        });
    }
    fn connection(&mut self, _: usize, _: &Connection) {}
}
