//! State walks by packets compared with samples of the sockets.

use serde::Serialize;
use tcplab_recording::Sample;
use tcplab_trace::{Event, StateWalk, StateWalks, TcpState};
use tcplab_units::{Endpoint, Instant, Span};

/// The largest distance between a packet's time in the capture and its socket's change of state:
/// the capture point is beside the host, not inside.
const SLACK: Span = Span::from_millis(5);
/// More differing samples are only counted.
const MAX_DIFFERING: usize = 5;

/// A socket's samples compared with its walk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SampleCheck {
    /// Its endpoint.
    pub end: Endpoint,
    /// How many samples were taken of it.
    pub samples: usize,
    /// How many are in the state that the packets show at that time, within 5 ms.
    pub agree: usize,
    /// How many show that the application had closed while data before the FIN was in flight, which
    /// no packet shows.
    pub closed_before_fin: usize,
    /// The first of those: close() or shutdown() was called by then.
    pub closed_by: Option<Instant>,
    /// The first samples in another state.
    pub differ: Vec<Differing>,
    /// How many are in another state.
    pub differing: usize,
}

/// A sample in another state than the packets show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Differing {
    /// When it was taken.
    pub at: Instant,
    /// The socket's state; none for a number without a name.
    pub socket: Option<TcpState>,
    /// The state by the packets.
    pub packets: Option<TcpState>,
}

/// Compares the walks of both ends with the samples of their sockets.
pub fn check_samples(walks: &StateWalks, samples: &[Sample]) -> [SampleCheck; 2] {
    Endpoint::BOTH.map(|end| {
        let own = samples.iter().filter(|sample| sample.endpoint == end);
        check(walks.of_end(end), own)
    })
}

fn check<'a>(walk: &StateWalk, samples: impl Iterator<Item = &'a Sample>) -> SampleCheck {
    let mut found = SampleCheck {
        end: walk.end,
        samples: 0,
        agree: 0,
        closed_before_fin: 0,
        closed_by: None,
        differ: Vec::new(),
        differing: 0,
    };
    for sample in samples {
        found.samples += 1;
        let socket = TcpState::from_linux(sample.state);
        if socket.is_some_and(|state| fits(walk, state, sample.at)) {
            found.agree += 1;
        } else if socket.is_some_and(|state| is_closed_already(walk, state, sample.at)) {
            found.closed_before_fin += 1;
            found.closed_by.get_or_insert(sample.at);
        } else {
            found.differing += 1;
            if found.differ.len() < MAX_DIFFERING {
                let packets = walk.state_at(sample.at);
                found.differ.push(Differing { at: sample.at, socket, packets });
            }
        }
    }
    found
}

/// Whether the walk was in that state within the slack around that time.
fn fits(walk: &StateWalk, state: TcpState, at: Instant) -> bool {
    let from = Instant::from_nanos(at.as_nanos().saturating_sub(SLACK.as_nanos()));
    let until = at + SLACK;
    let meanwhile =
        walk.edges.iter().filter(|edge| edge.at.is_some_and(|at| from <= at && at <= until));
    let mut states = meanwhile.map(|edge| edge.to).chain(walk.state_at(from));
    states.any(|walked| is_reported_as(walked, state))
}

/// Whether a socket in a state reports that one: Linux reports TIME-WAIT as CLOSED, because a
/// smaller object replaces the socket (`tcp_time_wait`).
fn is_reported_as(walked: TcpState, reported: TcpState) -> bool {
    walked == reported || walked == TcpState::TimeWait && reported == TcpState::Closed
}

/// Whether the next edge is a call that leads to that state: the FIN had to wait. By RFC 9293 the
/// state changes when the FIN leaves; in Linux when the application closes (`__tcp_close` says
/// why).
fn is_closed_already(walk: &StateWalk, state: TcpState, at: Instant) -> bool {
    let next = walk.edges.iter().find(|edge| edge.at.is_some_and(|then| then > at));
    next.is_some_and(|edge| edge.event == Event::Close && edge.to == state)
}

#[cfg(test)]
mod tests {
    use tcplab_trace::{Basis, Edge, SeenFrom};

    use super::*;

    fn at(millis: u64) -> Instant {
        Instant::ZERO + Span::from_millis(millis)
    }

    fn walk(edges: &[(u64, TcpState, Event)]) -> StateWalk {
        let mut from = TcpState::Closed;
        let edges = edges.iter().enumerate().map(|(index, &(millis, to, event))| {
            let packet = None;
            let time = Some(at(millis));
            let basis = Basis::Seen;
            Edge {
                step: index + 1,
                from: std::mem::replace(&mut from, to),
                to,
                event,
                basis,
                packet,
                at: time,
            }
        });
        let edges = edges.collect();
        StateWalk {
            end: Endpoint::Client,
            address: "10.98.0.1:1".parse().unwrap(),
            seen_from: SeenFrom::Beside,
            start: Some(TcpState::Closed),
            edges,
        }
    }

    fn sample(millis: u64, state: u64) -> Sample {
        Sample { state, ..Sample::empty(at(millis), Endpoint::Client) }
    }

    #[test]
    fn samples_agree_differ_or_precede_the_fin() {
        let walk = walk(&[
            (0, TcpState::SynSent, Event::ActiveOpen),
            (20, TcpState::Established, Event::SynAck),
            (500, TcpState::FinWait1, Event::Close),
            (520, TcpState::FinWait2, Event::AckOfFin),
            (540, TcpState::TimeWait, Event::Fin),
        ]);
        let samples = [
            // SYN-SENT, still within the slack.
            sample(10, 2),
            sample(22, 2),
            sample(100, 1),
            // The application closed; its data was sent until 500 ms.
            sample(300, 4),
            sample(400, 4),
            sample(510, 4),
            sample(600, 7),
            // A wrong state, and no state at all.
            sample(200, 8),
            sample(210, 77),
        ];
        let found = check(&walk, samples.iter());
        assert_eq!((found.samples, found.agree, found.closed_before_fin), (9, 5, 2));
        assert_eq!((found.closed_by, found.differing), (Some(at(300)), 2));
        let packets = Some(TcpState::Established);
        let socket = Some(TcpState::CloseWait);
        assert_eq!(found.differ[0], Differing { at: at(200), socket, packets });
        assert_eq!(found.differ[1].socket, None);
    }
}
