//! Single packets of a trial, as the client's end saw them, and those of the server that never came
//! there.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::Path;

use tcplab_capture::Reader;
use tcplab_recording::capture_file;
use tcplab_trace::{Ack, Analyzer, BareReset, Connection, FlowId, Segment, Sink};
use tcplab_units::{Endpoint, Instant, Span};

use crate::error::WatchError;
use crate::ladder::{Ladder, PacketRow, Seen, is_undelivered};
use crate::read::{analyze, time_of_first};

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
    let mut wanted = Wanted { between, most, are_last };
    let client = wanted.read(place, Endpoint::Client).ok_or(WatchError::NoPackets)?;
    let mut rows = client.found.between(between, most, are_last);
    // Where they fill the answer, others are only wanted among them.
    if let [first, .., last] = &*rows
        && rows.len() == most
    {
        let edge = if are_last { first } else { last };
        wanted.between[usize::from(!are_last)] = Instant::from_nanos(edge.at_ns);
    }
    if let Some(server) = wanted.read(place, Endpoint::Server) {
        let numbers: BTreeMap<_, _> =
            named(&client.ends).map(|(number, name)| (name, number)).collect();
        let names: BTreeMap<_, _> = named(&server.ends).collect();
        let mut all = client.found;
        for mut row in server.found.between(wanted.between, most, are_last) {
            let name = names.get(&row.connection);
            // One that the client's capture lacks follows those that it has.
            let other = client.ends.len() + row.connection;
            row.connection = name.and_then(|it| numbers.get(it)).copied().unwrap_or(other);
            all.put(row);
        }
        rows = all.between(between, most, are_last);
    }
    Ok(rows)
}

/// A connection by its ends, and which of those between them it is: both captures agree on that,
/// and may number connections in different orders.
type Name = ([SocketAddr; 2], usize);

fn named(ends: &BTreeMap<usize, [SocketAddr; 2]>) -> impl Iterator<Item = (usize, Name)> {
    let mut met: BTreeMap<[SocketAddr; 2], usize> = BTreeMap::new();
    ends.iter().map(move |(number, ends)| {
        let nth = met.entry(*ends).or_default();
        *nth += 1;
        (*number, (*ends, *nth))
    })
}

#[derive(Debug, Clone, Copy)]
struct Wanted {
    between: [Instant; 2],
    most: usize,
    are_last: bool,
}

impl Wanted {
    /// Those of one capture, if there is one.
    fn read(self, place: &Path, end: Endpoint) -> Option<Rows> {
        let mut reader = Reader::open(place.join(capture_file(end))).ok()?;
        let shift = time_of_first(place, end).unwrap_or_default();
        let rows =
            Rows { end, shift, wanted: self, found: Ladder::default(), ends: BTreeMap::new() };
        let mut analyzer = Analyzer::with_sink(rows).with_jobs(1).as_they_come();
        let mut zero = None;
        // What is not written whole yet is left out.
        while let Ok(Some(record)) = reader.next_record() {
            let Some(time) = record.time else { continue };
            let since = Span::from_nanos(time.as_nanos() - *zero.get_or_insert(time.as_nanos()));
            let at = Instant::ZERO + shift + since;
            let found = analyzer.sink().found.len();
            if at > self.between[1] || (!self.are_last && found >= self.most) {
                break;
            }
            analyze(&mut analyzer, &record, time);
        }
        Some(analyzer.finish_into().1)
    }
}

#[derive(Debug)]
struct Rows {
    /// Where the capture was made.
    end: Endpoint,
    shift: Span,
    wanted: Wanted,
    found: Ladder,
    /// Of each connection, the lower one first.
    ends: BTreeMap<usize, [SocketAddr; 2]>,
}

impl Rows {
    /// The time of a packet, if it is wanted: of the server's, if it never came to the client.
    fn wanted(&self, at: Instant, comment: Option<&str>) -> Option<Instant> {
        let at = at + self.shift;
        let [from, until] = self.wanted.between;
        let has_row = self.end == Endpoint::Client || is_undelivered(comment);
        (has_row && from <= at && at <= until).then_some(at)
    }

    fn seen(&self, connection: usize, by_client: bool) -> Seen {
        // Only of what this end sends a capture knows that it was not delivered.
        let from_client = self.end == Endpoint::Client && by_client;
        Seen { by: self.end, connection, from_client }
    }

    /// Of the last ones those before them are not kept.
    fn trim(&mut self) {
        if self.wanted.are_last {
            self.found.trim(self.wanted.most);
        }
    }
}

impl Sink for Rows {
    fn segment(&mut self, flow: FlowId, segment: Segment) {
        if let Some(at) = self.wanted(segment.at, segment.comment.as_deref()) {
            let seen = self.seen(flow.connection, flow.forward);
            self.found.segment(seen, &segment, at);
            self.trim();
        }
    }
    fn ack(&mut self, flow: FlowId, ack: Ack) {
        if let Some(at) = self.wanted(ack.at, ack.comment.as_deref()) {
            // It acknowledges the other direction's data.
            let seen = self.seen(flow.connection, !flow.forward);
            self.found.ack(seen, &ack, at);
            self.trim();
        }
    }
    fn reset(&mut self, flow: FlowId, reset: BareReset) {
        if let Some(at) = self.wanted(reset.at, reset.comment.as_deref()) {
            let seen = self.seen(flow.connection, flow.forward);
            self.found.reset(seen, reset, at);
            self.trim();
        }
    }
    fn connection(&mut self, index: usize, connection: &Connection) {
        let mut ends = [connection.client, connection.server];
        ends.sort();
        self.ends.insert(index, ends);
    }
}
