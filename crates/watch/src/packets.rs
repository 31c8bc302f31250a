//! Single packets of a trial, as the client's end saw them.

use std::path::Path;

use tcplab_capture::Reader;
use tcplab_recording::capture_file;
use tcplab_trace::{Ack, Analyzer, Connection, FlowId, Segment, Sink};
use tcplab_units::{Endpoint, Instant, Span};

use crate::error::WatchError;
use crate::read::{analyse, time_of_first};
use crate::row::PacketRow;

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
        analyse(&mut analyzer, &record, time);
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
    fn wanted(&self, at: Instant) -> Option<Instant> {
        let at = at + self.shift;
        (self.between[0] <= at && at <= self.between[1]).then_some(at)
    }
}

impl Sink for Rows {
    fn segment(&mut self, flow: FlowId, segment: Segment) {
        if let Some(at) = self.wanted(segment.at) {
            self.found.push(PacketRow::of_segment(flow, &segment, at));
        }
    }
    fn ack(&mut self, flow: FlowId, ack: Ack) {
        if let Some(at) = self.wanted(ack.at) {
            let row = PacketRow::of_ack(flow, &ack, at);
            PacketRow::put(&mut self.found, row);
        }
    }
    fn connection(&mut self, _: usize, _: &Connection) {}
}
