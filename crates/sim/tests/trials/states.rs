//! Truth twice: the walk that packets show is the walk of the models that sent them.
//!
//! Two connections of the model talk over a delay. Each end's captures are analysed as if they came
//! from anywhere; each end's states are asked of the model after each thing that happens to it.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::sync::Arc;

use tcplab_stack::{Config, Connection, Opening, Segment, State, congestion};
use tcplab_trace::{Analyzer, Event, Frame, HandshakeKind, StateWalk, StateWalks, TcpState, Trace};
use tcplab_units::{Endpoint, Instant, Span};
use tcplab_wire::{Ipv4Repr, LinkType, SeqNumber, TcpRepr};

/// What an application does, at a time in milliseconds.
#[derive(Debug, Clone, Copy)]
enum Call {
    Open,
    Write(usize),
    Shutdown,
    Close,
    Abort,
}

type Script = &'static [(u64, Endpoint, Call)];

const CLIENT: Endpoint = Endpoint::Client;
const SERVER: Endpoint = Endpoint::Server;
/// One way; longer than nothing takes that a model does at once.
const DELAY: Span = Span::from_millis(10);
/// A FIN-WAIT-2 without an application lasts a minute, a TIME-WAIT too.
const PATIENCE: Instant = Instant::from_nanos(300_000_000_000);

/// One end: its model, what its tap saw, and the states that the model said it was in.
struct Side {
    end: Endpoint,
    config: Arc<Config>,
    connection: Option<Connection>,
    captured: Vec<(Instant, Vec<u8>)>,
    states: Vec<(Instant, State)>,
}

impl Side {
    fn new(end: Endpoint) -> Side {
        let config = Arc::new(Config::default());
        Side { end, config, connection: None, captured: Vec::new(), states: Vec::new() }
    }

    fn opening(&self) -> Opening {
        let setup = congestion::Setup::of(&self.config, 1);
        let initial = if self.end == CLIENT { 1_000 } else { 0xffff_fff0 };
        Opening {
            initial_sequence: SeqNumber::new(initial),
            timestamp_offset: initial,
            mtu: 1_500,
            ip_header: 20,
            congestion: congestion::on("reno", &setup).unwrap(),
        }
    }

    fn call(&mut self, now: Instant, call: Call) {
        if matches!(call, Call::Open) {
            self.connection = Some(Connection::connect(now, &self.config, self.opening()));
            return;
        }
        let connection = self.connection.as_mut().unwrap();
        match call {
            Call::Open => {}
            Call::Write(count) => assert_eq!(connection.write(now, &vec![7; count]), Ok(count)),
            Call::Shutdown => connection.shutdown(now),
            Call::Close => connection.close(now),
            Call::Abort => connection.abort(now),
        }
    }

    fn arrives(&mut self, now: Instant, segment: &Segment) {
        if let Some(connection) = &mut self.connection {
            connection.handle_segment(now, segment);
            // The application reads whatever comes.
            while connection.receive(now, 1 << 16, drop).is_ok_and(|count| count > 0) {}
        } else {
            let opening = self.opening();
            self.connection = Connection::accept(now, &self.config, opening, segment);
        }
    }

    /// The packet passes this end's tap.
    fn captures(&mut self, now: Instant, segment: &Segment, from: Endpoint) {
        let place = |end| match end {
            CLIENT => (Ipv4Addr::new(10, 98, 0, 1), 32_768),
            SERVER => (Ipv4Addr::new(10, 98, 0, 2), 5_001),
        };
        let ((src, src_port), (dst, dst_port)) = (place(from), place(from.other()));
        let ip = Ipv4Repr { src, dst, id: 0, ttl: 64, ecn: segment.ecn };
        let tcp = TcpRepr { src_port, dst_port, ..segment.header };
        self.captured.push((now, tcp.to_packet(&ip.into(), segment.data.as_slice())));
    }

    /// Asks the model for its state; what lasts no time is not asked for.
    fn ask(&mut self, now: Instant) {
        let Some(state) = self.connection.as_ref().map(Connection::state) else { return };
        if self.states.last().is_some_and(|(at, _)| *at == now) {
            self.states.pop();
        }
        if self.states.last().is_none_or(|(_, last)| *last != state) {
            self.states.push((now, state));
        }
    }

    fn trace(&self) -> Trace {
        let mut analyzer = Analyzer::new().with_epoch(0);
        for (at, bytes) in &self.captured {
            analyzer.packet(&Frame::whole(at.as_nanos(), LinkType::RawIp, bytes));
        }
        analyzer.finish()
    }
}

/// Both ends, once all is over.
fn played(script: Script) -> [Side; 2] {
    let mut sides = [Side::new(CLIENT), Side::new(SERVER)];
    let mut under_way: BTreeMap<(Instant, u64), (usize, Segment)> = BTreeMap::new();
    let mut script: Vec<_> = script.to_vec();
    let (mut now, mut count) = (Instant::ZERO, 0);
    loop {
        let due =
            |(at, _, _): &(u64, Endpoint, Call)| Instant::ZERO + Span::from_millis(*at) <= now;
        for (_, end, call) in script.extract_if(.., |call| due(call)) {
            sides[end as usize].call(now, call);
        }
        for side in &mut sides {
            if let Some(connection) = &mut side.connection
                && connection.poll_at().is_some_and(|at| at <= now)
            {
                connection.handle_timeout(now);
            }
        }
        while let Some(entry) = under_way.first_entry()
            && entry.key().0 <= now
        {
            let (to, segment) = entry.remove();
            sides[to].captures(now, &segment, sides[to].end.other());
            sides[to].arrives(now, &segment);
            send(&mut sides, now, &mut under_way, &mut count);
        }
        send(&mut sides, now, &mut under_way, &mut count);
        for side in &mut sides {
            side.ask(now);
        }
        let calls = script.iter().map(|(at, ..)| Instant::ZERO + Span::from_millis(*at));
        let timers = sides.iter().filter_map(|side| side.connection.as_ref()?.poll_at());
        let next = under_way.keys().map(|(at, _)| *at).chain(calls).chain(timers).min();
        match next.filter(|at| *at < PATIENCE) {
            Some(at) => now = at,
            None => return sides,
        }
    }
}

fn send(
    sides: &mut [Side; 2],
    now: Instant,
    under_way: &mut BTreeMap<(Instant, u64), (usize, Segment)>,
    count: &mut u64,
) {
    for (from, side) in sides.iter_mut().enumerate() {
        while let Some(transmit) = side.connection.as_mut().and_then(|c| c.poll_transmit(now)) {
            for segment in transmit.cut() {
                side.captures(now, &segment, side.end);
                *count += 1;
                under_way.insert((now + DELAY, *count), (1 - from, segment));
            }
        }
    }
}

/// The walks of a script as its captures show them, checked against the models' own.
fn checked(script: Script) -> StateWalks {
    let sides = played(script);
    let traces = sides.each_ref().map(Side::trace);
    let [here, there] = &traces;
    assert_eq!((here.connections.len(), there.connections.len()), (1, 1), "{script:?}");
    let walks = StateWalks::joined(&here.connections[0], &there.connections[0]);
    for side in &sides {
        let walk = walks.of_end(side.end);
        assert_eq!(lasting(walk), model(&side.states), "{:?} of {script:?}", side.end);
    }
    walks
}

/// The states of a walk that lasted, from the first that is not LISTEN or the CLOSED before it.
fn lasting(walk: &StateWalk) -> Vec<(u64, TcpState)> {
    let mut states: Vec<(u64, TcpState)> = Vec::new();
    for edge in walk.edges.iter().filter(|edge| edge.to != TcpState::Listen) {
        let at = edge.at.unwrap().as_nanos();
        if states.last().is_some_and(|(last, _)| *last == at) {
            states.pop();
        }
        states.push((at, edge.to));
    }
    states
}

/// What a model said, in the same form. No packet shows the end of a TIME-WAIT.
fn model(states: &[(Instant, State)]) -> Vec<(u64, TcpState)> {
    let ends_waiting = matches!(states, [.., (_, State::TimeWait), (_, State::Closed)]);
    let states = &states[..states.len() - usize::from(ends_waiting)];
    states.iter().map(|(at, state)| (at.as_nanos(), named(*state))).collect()
}

fn named(state: State) -> TcpState {
    match state {
        State::Closed => TcpState::Closed,
        State::SynSent => TcpState::SynSent,
        State::SynReceived => TcpState::SynReceived,
        State::Established => TcpState::Established,
        State::FinWait1 => TcpState::FinWait1,
        State::FinWait2 => TcpState::FinWait2,
        State::CloseWait => TcpState::CloseWait,
        State::Closing => TcpState::Closing,
        State::LastAck => TcpState::LastAck,
        State::TimeWait => TcpState::TimeWait,
    }
}

fn states(walk: &StateWalk) -> Vec<TcpState> {
    walk.edges.iter().map(|edge| edge.to).collect()
}

#[test]
fn opened_by_one_and_closed_by_one_after_the_other() {
    use TcpState::{
        CloseWait, Closed, Established, FinWait1, FinWait2, LastAck, Listen, SynReceived, SynSent,
        TimeWait,
    };
    let walks = checked(&[
        (0, CLIENT, Call::Open),
        (100, CLIENT, Call::Write(5_000)),
        (200, CLIENT, Call::Close),
        (300, SERVER, Call::Close),
    ]);
    assert_eq!(states(&walks.client), [SynSent, Established, FinWait1, FinWait2, TimeWait]);
    let server = [Listen, SynReceived, Established, CloseWait, LastAck, Closed];
    assert_eq!(states(&walks.server), server);
    let waits: Vec<Endpoint> = walks.time_wait.iter().map(|wait| wait.end).collect();
    assert_eq!(waits, [CLIENT]);
}

#[test]
fn opened_by_both_at_once() {
    use TcpState::{Established, SynReceived, SynSent};
    for apart in [0, 3, 9] {
        let script: [(u64, Endpoint, Call); 2] =
            [(20, CLIENT, Call::Open), (20 + apart, SERVER, Call::Open)];
        let walks = checked(Box::leak(Box::new(script)));
        assert_eq!(walks.opening, HandshakeKind::Simultaneous, "{apart} ms apart");
        for walk in walks.both() {
            assert_eq!(states(walk), [SynSent, SynReceived, Established], "{apart} ms apart");
        }
    }
}

#[test]
fn closed_by_both_at_once() {
    use TcpState::{Closing, TimeWait};
    let walks = checked(&[
        (0, CLIENT, Call::Open),
        (100, CLIENT, Call::Shutdown),
        (104, SERVER, Call::Shutdown),
    ]);
    for walk in walks.both() {
        assert_eq!(states(walk)[states(walk).len() - 2..], [Closing, TimeWait]);
    }
    assert_eq!(walks.time_wait.len(), 2);
}

#[test]
fn half_closed_and_still_used() {
    let walks = checked(&[
        (0, CLIENT, Call::Open),
        (100, CLIENT, Call::Shutdown),
        (200, SERVER, Call::Write(3_000)),
        (400, SERVER, Call::Close),
    ]);
    let place = walks.server.edges.iter().position(|edge| edge.to == TcpState::CloseWait).unwrap();
    assert_eq!(walks.server.stayed(place), Some(Span::from_millis(290)));
}

#[test]
fn broken_off() {
    for (end, other) in [(CLIENT, SERVER), (SERVER, CLIENT)] {
        let script: [(u64, Endpoint, Call); 2] = [(0, CLIENT, Call::Open), (100, end, Call::Abort)];
        let walks = checked(Box::leak(Box::new(script)));
        let last = |end| walks.of_end(end).edges.last().unwrap();
        assert_eq!((last(end).event, last(end).to), (Event::ResetSent, TcpState::Closed));
        assert_eq!((last(other).event, last(other).to), (Event::ResetReceived, TcpState::Closed));
        assert_eq!(walks.time_wait, []);
    }
}

/// A socket closed with unsent data is in FIN-WAIT-1 from then on; a capture shows it
/// only when the FIN leaves, and says that the call came before.
#[test]
fn fin_behind_data_leaves_after_the_call() {
    let sides = played(&[
        (0, CLIENT, Call::Open),
        (100, CLIENT, Call::Write(40_000)),
        (100, CLIENT, Call::Close),
        (900, SERVER, Call::Close),
    ]);
    let called = sides[0].states.iter().find(|(_, state)| *state == State::FinWait1).unwrap().0;
    let traces = sides.each_ref().map(Side::trace);
    let walks = StateWalks::joined(&traces[0].connections[0], &traces[1].connections[0]);
    let shown = walks.client.entered(TcpState::FinWait1).unwrap();
    assert_eq!(called, Instant::ZERO + Span::from_millis(100));
    // Ten segments at once, and the rest a round trip later or two (RFC 6928).
    let later = shown.at.unwrap().since(called);
    assert!(later >= DELAY * 2 && later <= DELAY * 6, "{later:?}");
    assert!(shown.event.is_call());
}
