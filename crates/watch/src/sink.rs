//! Passes what the analyser finds to the history of a trial: of each direction what its sender's
//! end sees, which alone knows what is in flight.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::rc::Rc;

use tcplab_trace::{Ack, BareReset, Connection, FlowId, Segment, Sink, TcpState};
use tcplab_units::{Endpoint, Instant, Span};

use crate::current::Current;
use crate::history::{FlowKey, MetConnection};
use crate::ladder::{Seen, is_undelivered};
use crate::trial::SharedHistory;
use crate::unanswered::Unanswered;

/// The latest connections that are known by their ends.
const CONNECTIONS: usize = 1_000;

/// What is known of a connection.
#[derive(Debug, Clone)]
struct Known {
    number: usize,
    /// The end here, and the other.
    ends: Option<[SocketAddr; 2]>,
    /// Which of those between these ends it is.
    nth: usize,
    /// Whether its client is at this end.
    is_client_here: bool,
    unanswered: Unanswered,
}

/// What happened to the data that one end sends.
#[derive(Debug)]
struct Event {
    key: FlowKey,
    at: Instant,
    /// Whether this end sends the data: the other's capture knows more of it otherwise.
    is_own: bool,
    what: What,
}

#[derive(Debug)]
enum What {
    Segment(Segment),
    Ack(Ack, Option<Span>),
    Reset(BareReset),
}

/// Events that the history does not have yet. They go there together, as three readers share it.
#[derive(Debug)]
pub(super) struct Pending {
    history: SharedHistory,
    /// Where the capture was made: the client's tells the packets, the server's what never came
    /// there.
    end: Endpoint,
    events: Vec<Event>,
}

impl Pending {
    /// Events that wait at most.
    const MOST: usize = 256;

    pub(super) fn new(history: SharedHistory, end: Endpoint) -> Pending {
        Pending { history, end, events: Vec::with_capacity(Pending::MOST) }
    }

    fn push(&mut self, event: Event) {
        self.events.push(event);
        if self.events.len() >= Pending::MOST {
            self.pass_on();
        }
    }

    /// Tells the history.
    pub(super) fn pass_on(&mut self) {
        if self.events.is_empty() {
            return;
        }
        let by = self.end;
        let mut history = self.history.lock();
        for Event { key, at, is_own, what } in self.events.drain(..) {
            let has_row = |is_sent: bool, comment: &Option<String>| {
                by == Endpoint::Client || (is_sent && is_undelivered(comment.as_deref()))
            };
            let seen = |is_sent: bool| {
                let from_client = is_sent == (by == Endpoint::Client);
                Seen { by, connection: key.connection, from_client }
            };
            match what {
                What::Segment(segment) => {
                    if is_own {
                        history.segment(key, &segment, at);
                    }
                    if has_row(is_own, &segment.comment) {
                        history.packet(|it| it.segment(seen(is_own), &segment, at));
                    }
                }
                What::Ack(ack, rtt) => {
                    if is_own {
                        history.ack(key, &ack, at, rtt);
                    }
                    if has_row(!is_own, &ack.comment) {
                        history.packet(|it| it.ack(seen(!is_own), &ack, at));
                    }
                }
                What::Reset(reset) if has_row(is_own, &reset.comment) => {
                    history.packet(|it| it.reset(seen(is_own), reset, at));
                }
                What::Reset(_) => {}
            }
        }
    }
}

pub(super) struct HistorySink {
    pending: Rc<RefCell<Pending>>,
    /// Where the capture was made.
    end: Endpoint,
    /// From the trial's zero to the first packet, which is the zero of its capture.
    shift: Span,
    current: Rc<Cell<Current>>,
    known: BTreeMap<usize, Known>,
}

impl HistorySink {
    pub(super) fn new(
        pending: Rc<RefCell<Pending>>,
        shift: Span,
        current: Rc<Cell<Current>>,
    ) -> HistorySink {
        let end = pending.borrow().end;
        HistorySink { pending, end, shift, current, known: BTreeMap::new() }
    }

    /// Makes a connection known by a packet of it, which its client sent or not.
    fn meet(&mut self, connection: usize, frame: u64, by_client: bool) {
        if self.known.contains_key(&connection) {
            return;
        }
        let now = Some(self.current.get()).filter(|now| now.frame == frame);
        let is_sent = now.and_then(|now| now.is_sent);
        let is_client_here =
            is_sent.map_or(self.end == Endpoint::Client, |is_sent| is_sent == by_client);
        let ends = now.and_then(|now| now.ends).zip(is_sent);
        let ends = ends.map(|([from, to], is_sent)| if is_sent { [from, to] } else { [to, from] });
        let nth = self.known.values().filter(|it| ends.is_some() && it.ends == ends);
        let nth = nth.map(|it| it.nth + 1).max().unwrap_or(0);
        let mut number = connection;
        if let Some(ends) = ends {
            number = self.pending.borrow().history.lock().connection(ends, nth);
        }
        let unanswered = Unanswered::default();
        let known = Known { number, ends, nth, is_client_here, unanswered };
        self.known.insert(connection, known);
        if self.known.len() > CONNECTIONS {
            self.known.pop_first();
        }
    }

    /// A connection, and the data of it that this end sends.
    fn find(&mut self, connection: usize) -> Option<(&mut Known, FlowKey)> {
        let known = self.known.get_mut(&connection)?;
        let forward = self.end == Endpoint::Client;
        let key = FlowKey { connection: known.number, forward, ends: known.ends };
        Some((known, key))
    }
}

impl Sink for HistorySink {
    fn segment(&mut self, flow: FlowId, segment: Segment) {
        self.meet(flow.connection, segment.frame, flow.forward);
        let at = segment.at + self.shift;
        let Some((known, key)) = self.find(flow.connection) else { return };
        let is_own = flow.forward == known.is_client_here;
        if is_own {
            known.unanswered.sent(&segment, at);
        }
        self.pending.borrow_mut().push(Event { key, at, is_own, what: What::Segment(segment) });
    }

    fn ack(&mut self, flow: FlowId, ack: Ack) {
        // It acknowledges the other's data.
        self.meet(flow.connection, ack.frame, !flow.forward);
        let at = ack.at + self.shift;
        let Some((known, key)) = self.find(flow.connection) else { return };
        let is_own = flow.forward == known.is_client_here;
        let rtt = is_own.then(|| known.unanswered.answered(ack.ack, at)).flatten();
        self.pending.borrow_mut().push(Event { key, at, is_own, what: What::Ack(ack, rtt) });
    }

    fn reset(&mut self, flow: FlowId, reset: BareReset) {
        self.meet(flow.connection, reset.frame, flow.forward);
        let at = reset.at + self.shift;
        let Some((known, key)) = self.find(flow.connection) else { return };
        let is_own = flow.forward == known.is_client_here;
        self.pending.borrow_mut().push(Event { key, at, is_own, what: What::Reset(reset) });
    }

    fn states(&mut self, connection: usize, [client, server]: [Option<TcpState>; 2]) {
        if self.end == Endpoint::Server {
            return;
        }
        let Some((Known { number, ends: Some(ends), is_client_here, .. }, _)) =
            self.find(connection)
        else {
            return;
        };
        let states = if *is_client_here { [client, server] } else { [server, client] };
        let met = MetConnection { connection: *number, ends: *ends, states };
        self.pending.borrow().history.lock().met(met);
    }

    fn connection(&mut self, _: usize, _: &Connection) {}
}
