//! The walk of both ends through the state diagram of TCP (RFC 9293 section 3.3.2, figure 5).
//!
//! [`Life`](crate::Life) has the states. Here each becomes an edge of the diagram with its cause: a
//! received packet, or a call of the application, visible only through the packet it sent. Causes
//! that no packet shows (a listener, an uncaptured packet) are marked as inferred.

mod diagram;
mod event;
mod story;
mod words;

use std::net::SocketAddr;

use serde::Serialize;
use tcplab_units::{Endpoint, Instant, Span};
use tcplab_wire::TcpFlags;

pub use diagram::{DIAGRAM, Transition};
pub use event::{Basis, Edge, Event};

use crate::{
    CapturePoint, Close, Confidence, Connection, HandshakeKind, StateStep, StepCause, TcpState,
};

/// How both ends of a connection walked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StateWalks {
    /// The end that sent the first SYN.
    pub client: StateWalk,
    /// The other.
    pub server: StateWalk,
    /// How it was opened.
    pub opening: HandshakeKind,
    /// How it was closed, if it was.
    pub close: Option<Close>,
    /// The ends that go through TIME-WAIT, the client first.
    pub time_wait: Vec<TimeWait>,
}

/// The walk of one end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StateWalk {
    /// Whose.
    pub end: Endpoint,
    /// Its address.
    pub address: SocketAddr,
    /// Where its packets were captured.
    pub seen_from: SeenFrom,
    /// The first known state: CLOSED, or that at the begin of the capture; none if none is known.
    pub start: Option<TcpState>,
    /// The edges in the order walked.
    pub edges: Vec<Edge>,
}

/// Where the packets of an end were captured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SeenFrom {
    /// At the endpoint: packets captured towards it arrived, in that order and at those times.
    Beside,
    /// Elsewhere: times are those at the capture point; arrival is inferred.
    Elsewhere,
}

/// An end in TIME-WAIT.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct TimeWait {
    /// Which.
    pub end: Endpoint,
    /// Since when.
    #[serde(rename = "since_ns")]
    pub since: Instant,
    /// Why this one.
    pub why: WhyTimeWait,
}

/// Why an end waits: RFC 9293 section 3.6.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum WhyTimeWait {
    /// It closed first, so that its acknowledgement of the other's FIN is the last packet.
    ClosedFirst,
    /// Both closed at once, and each acknowledged the other's FIN last.
    ClosedAtOnce,
}

impl StateWalks {
    /// The states from one capture; uncertain capture points count as elsewhere.
    pub fn of(connection: &Connection) -> StateWalks {
        let Connection { client, server, forward, reverse, .. } = connection;
        // Where SYNs cross, the time between them says nothing of where they were seen.
        let crossed = connection.handshake.kind == HandshakeKind::Simultaneous;
        let is_sure = |confidence| confidence >= Confidence::Medium && !crossed;
        let beside = |own: CapturePoint, own_sure, other: CapturePoint, other_sure| {
            let shown = own == CapturePoint::Sender && is_sure(own_sure);
            let shown_by_other = other == CapturePoint::Receiver && is_sure(other_sure);
            if shown || shown_by_other { SeenFrom::Beside } else { SeenFrom::Elsewhere }
        };
        let (there, back) = (forward.capture_point_confidence, reverse.capture_point_confidence);
        let at_client = beside(forward.capture_point, there, reverse.capture_point, back);
        let at_server = beside(reverse.capture_point, back, forward.capture_point, there);
        let walk = |end, address, seen_from| StateWalk::of(connection, end, address, seen_from);
        StateWalks::new(
            connection,
            walk(Endpoint::Client, *client, at_client),
            walk(Endpoint::Server, *server, at_server),
        )
    }

    /// The states from two captures with a common zero of time, one at each endpoint.
    pub fn joined(at_client: &Connection, at_server: &Connection) -> StateWalks {
        let Connection { client, server, .. } = *at_client;
        StateWalks::new(
            at_client,
            StateWalk::of(at_client, Endpoint::Client, client, SeenFrom::Beside),
            StateWalk::of(at_server, Endpoint::Server, server, SeenFrom::Beside),
        )
    }

    fn new(connection: &Connection, client: StateWalk, server: StateWalk) -> StateWalks {
        let mut time_wait: Vec<TimeWait> =
            [&client, &server].into_iter().filter_map(StateWalk::time_wait).collect();
        if let [one, other] = &mut time_wait[..] {
            (one.why, other.why) = (WhyTimeWait::ClosedAtOnce, WhyTimeWait::ClosedAtOnce);
        }
        let (opening, close) = (connection.handshake.kind, connection.life.close);
        StateWalks { client, server, opening, close, time_wait }
    }

    /// An end that gave up by then, as its application or its socket shows and no packet does (RFC
    /// 9293 section 3.10.8, USER TIMEOUT). Of an end that is CLOSED already nothing changes.
    pub fn user_timeout(&mut self, end: Endpoint, at: Instant) {
        let walk = match end {
            Endpoint::Client => &mut self.client,
            Endpoint::Server => &mut self.server,
        };
        walk.user_timeout(at);
    }

    /// Both, the client's first.
    pub fn both(&self) -> [&StateWalk; 2] {
        [&self.client, &self.server]
    }

    /// The walk of an end.
    pub fn of_end(&self, end: Endpoint) -> &StateWalk {
        match end {
            Endpoint::Client => &self.client,
            Endpoint::Server => &self.server,
        }
    }
}

impl StateWalk {
    /// `end` is the role by the client's capture; the other capture may differ: each end of a
    /// simultaneous open takes itself for the first.
    fn of(
        connection: &Connection,
        end: Endpoint,
        address: SocketAddr,
        seen_from: SeenFrom,
    ) -> StateWalk {
        let opened = address == connection.client;
        let life = &connection.life;
        let steps = if opened { &life.client } else { &life.server };
        let itself = if opened { Endpoint::Client } else { Endpoint::Server };
        let mut walk = StateWalk { end, address, seen_from, start: None, edges: Vec::new() };
        for step in steps {
            walk.take(step, itself);
        }
        let others = if opened { &life.server } else { &life.client };
        if let Some(edge) = walk.edges.last_mut().filter(|edge| answers_fin(edge, others)) {
            // It was CLOSED before the FIN came.
            edge.basis = Basis::Call;
        }
        for packet in walk.edges.iter_mut().filter_map(|edge| edge.packet.as_mut()) {
            let own = packet.by == itself;
            packet.by = if own { end } else { end.other() };
        }
        walk
    }

    fn take(&mut self, step: &StateStep, itself: Endpoint) {
        let StateStep { state, at, cause, .. } = *step;
        let from = match (self.last(), state) {
            (Some(last), _) => last,
            (None, TcpState::SynSent) => self.begin(TcpState::Closed),
            (None, TcpState::SynReceived) => {
                self.begin(TcpState::Closed);
                self.push(TcpState::Closed, TcpState::Listen, Event::PassiveOpen, None);
                TcpState::Listen
            }
            (None, state) => {
                self.begin(state);
                return;
            }
        };
        let sent = cause.by == itself;
        let event = Event::between(from, state, &cause, sent);
        self.push(from, state, event, Some((cause, at, sent)));
    }

    fn begin(&mut self, state: TcpState) -> TcpState {
        self.start = Some(state);
        state
    }

    fn push(
        &mut self,
        from: TcpState,
        to: TcpState,
        event: Event,
        shown: Option<(StepCause, Instant, bool)>,
    ) {
        let sent = shown.is_some_and(|(_, _, sent)| sent);
        let basis = if shown.is_none() {
            Basis::Missing
        } else if event.is_call() || (from, event) == (TcpState::SynSent, Event::ResetSent) {
            // An end that gave up answers the SYN-ACK that comes later.
            Basis::Call
        } else if sent && event != Event::ResetSent {
            // Packets it received show only in its answers.
            Basis::Missing
        } else if !sent && self.seen_from == SeenFrom::Elsewhere {
            Basis::Passed
        } else {
            Basis::Seen
        };
        let step = self.edges.len() + 1;
        let (packet, at) = shown.map(|(cause, at, _)| (cause, at)).unzip();
        self.edges.push(Edge { step, from, to, event, basis, packet, at });
    }

    fn user_timeout(&mut self, at: Instant) {
        let from = match self.last() {
            None | Some(TcpState::Closed | TcpState::Listen | TcpState::TimeWait) => return,
            Some(from) => from,
        };
        let at = self.edges.iter().filter_map(|edge| edge.at).fold(at, Instant::max);
        let event = Event::UserTimeout;
        self.push(from, TcpState::Closed, event, None);
        self.edges.last_mut().expect("just pushed").at = Some(at);
    }

    /// Whether it answered the other end's FIN by RST, as an end that is CLOSED.
    fn met_fin_closed(&self) -> bool {
        self.edges.last().is_some_and(|edge| {
            (edge.event, edge.basis) == (Event::ResetSent, Basis::Call)
                && edge.from != TcpState::SynSent
        })
    }

    /// The RST that ended its TIME-WAIT, if one did, and how long that had lasted.
    fn time_wait_ended(&self) -> Option<(Event, Span)> {
        let (last, before) = self.edges.split_last()?;
        let since = before.last()?.at?;
        (last.from == TcpState::TimeWait).then_some((last.event, last.at?.since(since)))
    }

    /// The state it was in at last.
    pub fn last(&self) -> Option<TcpState> {
        self.edges.last().map(|edge| edge.to).or(self.start)
    }

    /// The state it was in at a time, as the packets show; none before anything was seen.
    pub fn state_at(&self, at: Instant) -> Option<TcpState> {
        let walked = self.edges.iter().take_while(|edge| edge.at.is_none_or(|then| then <= at));
        walked.last().map(|edge| edge.to).or(self.start)
    }

    /// When the edge of that place was left again; none for the last.
    pub fn left_at(&self, place: usize) -> Option<Instant> {
        self.edges.get(place + 1)?.at
    }

    /// How long it stayed where the edge of that place led.
    pub fn stayed(&self, place: usize) -> Option<Span> {
        Some(self.left_at(place)?.since(self.edges[place].at?))
    }

    /// When it entered a state.
    pub fn entered(&self, state: TcpState) -> Option<&Edge> {
        self.edges.iter().find(|edge| edge.to == state)
    }

    fn time_wait(&self) -> Option<TimeWait> {
        let since = self.entered(TcpState::TimeWait)?.at?;
        Some(TimeWait { end: self.end, since, why: WhyTimeWait::ClosedFirst })
    }
}

/// Whether an end that waited for the other's FIN answered it by RST without ACK, as what is CLOSED
/// does (RFC 9293 section 3.10.7.1); or the data before it, which it refused.
fn answers_fin(edge: &Edge, others: &[StateStep]) -> bool {
    let Some(rst) = edge.packet else { return false };
    let waited = matches!(edge.from, TcpState::FinWait1 | TcpState::FinWait2);
    let has_ack = rst.flags.contains(TcpFlags::ACK);
    let met_fin = matches!(others, [.., before, last] if before.state == TcpState::LastAck
        && last.cause.frame == rst.frame);
    waited && edge.event == Event::ResetSent && !has_ack && met_fin
}

#[cfg(test)]
mod tests;
