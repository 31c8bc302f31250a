//! What a path forwarded of each connection, beside what its receiver read: the same in both
//! worlds.

use std::collections::BTreeMap;

use tcplab_path::{Direction, Fate};
use tcplab_recording::{AppLog, Recording};
use tcplab_trace::{Connection, analyze};
use tcplab_units::Endpoint;
use tcplab_workload::Role;

/// The connections in the capture of one end.
pub(crate) fn connections(recording: &Recording, end: Endpoint) -> Vec<Connection> {
    let (_, file) = recording.capture(end).unwrap();
    analyze(tcplab_capture::Reader::new(file).unwrap()).connections
}

/// No connection of any flow has read more than the path forwarded of it, and those that both ends
/// finished exactly that; returns how many did.
pub(crate) fn each_flow_gets_what_was_forwarded(recording: &Recording, app: &AppLog) -> usize {
    let forwarded = forwarded(recording);
    let mut finished = 0;
    for connection in app.flows.iter().flat_map(|flow| &flow.connections) {
        let (receiver, way) = match connection.client.role {
            Role::Sender => (&connection.server, Direction::Forward),
            Role::Receiver => (&connection.client, Direction::Reverse),
        };
        let carried = forwarded.get(&(connection.ports[0], way)).copied().unwrap_or(0);
        let read = receiver.bytes.as_u64();
        // What was cut off may have arrived and not been read, a buffer full of it at most.
        let is_near = read <= carried && carried - read < 1_000_000;
        assert!(is_near, "{:?}: {read} of {carried}", connection.ports);
        if connection.client.finished.is_some() && connection.server.finished.is_some() {
            assert_eq!(read, carried, "{:?}", connection.ports);
            finished += 1;
        }
    }
    finished
}

/// What the path says it forwarded of each client's port, payload bytes, from the frames of the
/// two captures: the applications report none of this.
fn forwarded(recording: &Recording) -> BTreeMap<(u16, Direction), u64> {
    let truth = recording.truth().unwrap();
    let fates: BTreeMap<(Direction, u64), Fate> = truth
        .iter()
        .filter_map(|row| Some(((row.verdict.direction, row.frame?), row.verdict.fate)))
        .collect();
    let mut sums = BTreeMap::new();
    for (end, way) in
        [(Endpoint::Client, Direction::Forward), (Endpoint::Server, Direction::Reverse)]
    {
        for connection in connections(recording, end) {
            let sent = match way {
                Direction::Forward => &connection.forward,
                Direction::Reverse => &connection.reverse,
            };
            // Each byte counts once, whichever of its copies came.
            let mut arrived: Vec<(u64, u64)> = sent
                .segments
                .iter()
                .filter(|it| fates.get(&(way, it.frame)) == Some(&Fate::Delivered))
                .map(|it| {
                    let start = it.range.start.as_u64() + u64::from(it.syn);
                    (start, start + it.payload.as_u64())
                })
                .collect();
            arrived.sort_unstable();
            let (mut sum, mut upto) = (0, 0);
            for (start, end) in arrived {
                sum += end.saturating_sub(start.max(upto));
                upto = upto.max(end);
            }
            sums.insert((connection.client.port(), way), sum);
        }
    }
    sums
}
