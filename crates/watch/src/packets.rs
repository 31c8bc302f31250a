//! Single packets of a trial, as the client's end saw them.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::Path;
use std::rc::Rc;

use tcplab_capture::Reader;
use tcplab_recording::capture_file;
use tcplab_trace::{Ack, Analyzer, Connection, FlowId, Frame, Segment, Sink};
use tcplab_units::{Endpoint, Instant, Span};
use tcplab_wire::LinkType;

use crate::current::Current;
use crate::error::WatchError;
use crate::ladder::{Ladder, PacketRow, Reset};
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
    let current = Rc::new(Cell::new(Current::default()));
    let sink = Rows { shift, between, current: Rc::clone(&current), ..Rows::default() };
    let mut analyzer = Analyzer::with_sink(sink).with_jobs(1);
    let mut zero = None;
    // What is not written whole yet is left out.
    while let Ok(Some(record)) = reader.next_record() {
        let Some(time) = record.time else { continue };
        let since = Span::from_nanos(time.as_nanos() - *zero.get_or_insert(time.as_nanos()));
        let at = Instant::ZERO + shift + since;
        let found = analyzer.sink().found.borrow().len();
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
        let now = Current::of(&record, current.get().frame + 1);
        current.set(now);
        analyzer.packet(&frame);
        if now.is_bare_reset {
            analyzer.sink().reset(&now, at, frame.comment);
        }
    }
    let (_, Rows { found, .. }) = analyzer.finish_into();
    Ok(found.into_inner().between(between, most, are_last))
}

#[derive(Debug, Default)]
struct Rows {
    found: RefCell<Ladder>,
    shift: Span,
    between: [Instant; 2],
    current: Rc<Cell<Current>>,
    /// The latest connection from a client to a server.
    connections: BTreeMap<[SocketAddr; 2], usize>,
}

impl Rows {
    /// The time of a packet, if it is wanted.
    fn wanted(&self, at: Instant) -> Option<Instant> {
        let at = at + self.shift;
        (self.between[0] <= at && at <= self.between[1]).then_some(at)
    }

    /// Remembers the ends of a connection by a packet of it.
    fn meet(&mut self, connection: usize, frame: u64, from_client: bool) {
        let now = self.current.get();
        if let Some([from, to]) = now.ends.filter(|_| now.frame == frame) {
            let ends = if from_client { [from, to] } else { [to, from] };
            self.connections.insert(ends, connection);
        }
    }

    /// A reset that acknowledges nothing; one that belongs to no connection is left out.
    fn reset(&self, now: &Current, at: Instant, comment: Option<&str>) {
        let Some([from, to]) = now.ends.filter(|_| self.between[0] <= at) else { return };
        let of = |ends| self.connections.get(&ends).copied();
        let by_client = of([from, to]).map(|it| (it, true));
        let Some((connection, from_client)) = by_client.or(of([to, from]).map(|it| (it, false)))
        else {
            return;
        };
        let reset = Reset { frame: now.frame, at, comment: comment.map(str::to_owned) };
        self.found.borrow_mut().reset(connection, from_client, reset);
    }
}

impl Sink for Rows {
    fn segment(&mut self, flow: FlowId, segment: Segment) {
        self.meet(flow.connection, segment.frame, flow.forward);
        if let Some(at) = self.wanted(segment.at) {
            self.found.get_mut().segment(flow.connection, flow.forward, &segment, at);
        }
    }
    fn ack(&mut self, flow: FlowId, ack: Ack) {
        // It acknowledges the other direction's data.
        self.meet(flow.connection, ack.frame, !flow.forward);
        if let Some(at) = self.wanted(ack.at) {
            self.found.get_mut().ack(flow.connection, !flow.forward, &ack, at);
        }
    }
    fn connection(&mut self, _: usize, _: &Connection) {}
}
