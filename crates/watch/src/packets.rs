//! Single packets of a trial, as the client's end saw them.

use std::path::Path;

use tcplab_capture::Reader;
use tcplab_recording::capture_file;
use tcplab_trace::{Ack, Analyzer, BareReset, Connection, FlowId, Frame, Segment, Sink};
use tcplab_units::{Endpoint, Instant, Span};
use tcplab_wire::LinkType;

use crate::error::WatchError;
use crate::ladder::{Ladder, PacketRow};
use crate::read::time_of_first;

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
    let sink = Rows { shift, between, ..Rows::default() };
    let mut analyzer = Analyzer::with_sink(sink).with_jobs(1);
    let mut zero = None;
    // What is not written whole yet is left out.
    while let Ok(Some(record)) = reader.next_record() {
        let Some(time) = record.time else { continue };
        let since = Span::from_nanos(time.as_nanos() - *zero.get_or_insert(time.as_nanos()));
        let at = Instant::ZERO + shift + since;
        let found = analyzer.sink().found.len();
        if at > between[1] || (!are_last && found >= most) {
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
    let (_, Rows { found, .. }) = analyzer.finish_into();
    Ok(found.between(between, most, are_last))
}

#[derive(Debug, Default)]
struct Rows {
    found: Ladder,
    shift: Span,
    between: [Instant; 2],
}

impl Rows {
    /// The time of a packet, if it is wanted.
    fn wanted(&self, at: Instant) -> Option<Instant> {
        let at = at + self.shift;
        (self.between[0] <= at && at <= self.between[1]).then_some(at)
    }
}

impl Sink for Rows {
    fn segment(&mut self, flow: FlowId, segment: Segment) {
        if let Some(at) = self.wanted(segment.at) {
            self.found.segment(flow.connection, flow.forward, &segment, at);
        }
    }
    fn ack(&mut self, flow: FlowId, ack: Ack) {
        // It acknowledges the other direction's data.
        if let Some(at) = self.wanted(ack.at) {
            self.found.ack(flow.connection, !flow.forward, &ack, at);
        }
    }
    fn reset(&mut self, flow: FlowId, reset: BareReset) {
        if let Some(at) = self.wanted(reset.at) {
            self.found.reset(flow.connection, flow.forward, reset, at);
        }
    }
    fn connection(&mut self, _: usize, _: &Connection) {}
}
