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

/// The first sample that shows an end CLOSED, of which its packets show no end: it gave up. A
/// socket that its application closed says so in FIN-WAIT-2 and TIME-WAIT, too.
pub(super) fn gave_up(walk: &StateWalk, samples: &[Sample]) -> Option<Instant> {
    let open = !matches!(
        walk.last()?,
        TcpState::Closed | TcpState::Listen | TcpState::FinWait2 | TcpState::TimeWait
    );
    let settled = walk.edges.last()?.at? + SLACK;
    let is_closed = |sample: &&Sample| {
        sample.endpoint == walk.end
            && sample.at > settled
            && TcpState::from_linux(sample.state) == Some(TcpState::Closed)
    };
    samples.iter().filter(|_| open).find(is_closed).map(|sample| sample.at)
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

/// Whether a socket in a state reports that one: Linux reports TIME-WAIT as CLOSED, and FIN-WAIT-2
/// after close(), because a smaller object replaces the socket (`tcp_time_wait`).
fn is_reported_as(walked: TcpState, reported: TcpState) -> bool {
    let may_be_replaced = matches!(walked, TcpState::FinWait2 | TcpState::TimeWait);
    walked == reported || may_be_replaced && reported == TcpState::Closed
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

    /// Linux replaces a closed socket in FIN-WAIT-2, too; not one in FIN-WAIT-1.
    #[test]
    fn samples_of_a_replaced_socket_agree() {
        let walk = walk(&[
            (20, TcpState::Established, Event::SynAck),
            (100, TcpState::FinWait1, Event::Close),
            (140, TcpState::FinWait2, Event::AckOfFin),
            (2_040, TcpState::TimeWait, Event::Fin),
        ]);
        let samples = [sample(120, 4), sample(150, 7), sample(2_000, 7), sample(2_100, 7)];
        let found = check(&walk, samples.iter());
        assert_eq!((found.samples, found.agree, found.differing), (4, 4, 0));
        assert_eq!(check(&walk, [sample(120, 7)].iter()).differing, 1);
        assert_eq!(gave_up(&walk, &samples), None);
    }

    /// A socket that is CLOSED without a packet gave up; one that is not connected yet did not.
    #[test]
    fn samples_show_the_user_timeout() {
        let edges = [
            (20, TcpState::SynSent, Event::ActiveOpen),
            (40, TcpState::Established, Event::SynAck),
        ];
        let samples =
            [sample(0, 7), sample(42, 7), sample(3_000, 1), sample(5_600, 7), sample(5_610, 7)];
        assert_eq!(gave_up(&walk(&edges), &samples), Some(at(5_600)));
        assert_eq!(gave_up(&walk(&edges), &samples[..3]), None);
        let mut reset = edges.to_vec();
        reset.push((5_590, TcpState::Closed, Event::ResetReceived));
        assert_eq!(gave_up(&walk(&reset), &samples), None);
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
