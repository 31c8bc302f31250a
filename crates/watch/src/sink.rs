//! Passes what the analyser finds to the history of a trial: of each direction what its sender's
//! end sees, which alone knows what is in flight.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::{Arc, Weak};

use tcplab_trace::{Ack, Connection, FlowId, Segment, Sink};
use tcplab_units::{Endpoint, Span};

use crate::history::FlowKey;
use crate::trial::WatchedTrial;
use crate::unanswered::Unanswered;

/// The latest connections that are known by their ends.
const CONNECTIONS: usize = 1_000;

/// The packet that is being analysed.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Current {
    /// From 1.
    pub(super) frame: u64,
    /// From which end to which.
    pub(super) ends: Option<[SocketAddr; 2]>,
    /// Whether it was sent by the end that captured it, if the capture says so.
    pub(super) is_sent: Option<bool>,
}

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

pub(super) struct HistorySink {
    trial: Weak<WatchedTrial>,
    /// Where the capture was made.
    end: Endpoint,
    /// From the trial's zero to the first packet, which is the zero of its capture.
    shift: Span,
    current: Rc<Cell<Current>>,
    known: BTreeMap<usize, Known>,
}

impl HistorySink {
    pub(super) fn new(
        trial: Weak<WatchedTrial>,
        end: Endpoint,
        shift: Span,
        current: Rc<Cell<Current>>,
    ) -> HistorySink {
        HistorySink { trial, end, shift, current, known: BTreeMap::new() }
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
        let trial = self.trial.upgrade();
        let number = ends.zip(trial).map(|(ends, trial)| trial.history().connection(ends, nth));
        let number = number.unwrap_or(connection);
        let unanswered = Unanswered::default();
        let known = Known { number, ends, nth, is_client_here, unanswered };
        self.known.insert(connection, known);
        if self.known.len() > CONNECTIONS {
            self.known.pop_first();
        }
    }

    /// The trial, a connection, and the data of it that this end sends.
    fn find(&mut self, flow: FlowId) -> Option<(Arc<WatchedTrial>, &mut Known, FlowKey)> {
        let trial = self.trial.upgrade()?;
        let known = self.known.get_mut(&flow.connection)?;
        let forward = self.end == Endpoint::Client;
        let key = FlowKey { connection: known.number, forward, ends: known.ends };
        Some((trial, known, key))
    }
}

impl Sink for HistorySink {
    fn segment(&mut self, flow: FlowId, segment: Segment) {
        self.meet(flow.connection, segment.frame, flow.forward);
        let (at, end) = (segment.at + self.shift, self.end);
        let Some((trial, known, key)) = self.find(flow) else { return };
        let is_own = flow.forward == known.is_client_here;
        let mut history = trial.history();
        if is_own {
            known.unanswered.sent(&segment, at);
            history.segment(key, &segment, at);
        }
        if end == Endpoint::Client {
            history.packet(|ladder| ladder.segment(key.connection, is_own, &segment, at));
        }
    }

    fn ack(&mut self, flow: FlowId, ack: Ack) {
        // It acknowledges the other's data.
        self.meet(flow.connection, ack.frame, !flow.forward);
        let (at, end) = (ack.at + self.shift, self.end);
        let Some((trial, known, key)) = self.find(flow) else { return };
        let is_own = flow.forward == known.is_client_here;
        let mut history = trial.history();
        if is_own {
            let rtt = known.unanswered.answered(ack.ack, at);
            history.ack(key, &ack, at, rtt);
        }
        if end == Endpoint::Client {
            history.packet(|ladder| ladder.ack(key.connection, !is_own, &ack, at));
        }
    }

    fn connection(&mut self, _: usize, _: &Connection) {}
}
