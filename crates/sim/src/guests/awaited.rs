//! What a trial waits for: the connections of its flows, and both applications.

use tcplab_recording::{GuestOutcome, GuestReport};
use tcplab_scenario::Case;
use tcplab_units::{Endpoint, Span};

/// Once both applications are done, the path must be empty for this long: the last ACK counts.
pub(super) const QUIET: Span = Span::from_millis(50);

/// How far the applications of a trial are.
#[derive(Debug)]
pub(super) struct Awaited {
    /// By connection: whether the trial waits for it.
    connections: Vec<bool>,
    /// Clients that are not done, and servers that have accepted a client and are not.
    clients: usize,
    servers: usize,
    /// How long after the last of them the trial is over, if others go on in the background.
    farewell: Option<Span>,
    /// What client and server left.
    pub(super) left: [Option<GuestOutcome>; 2],
    /// Bytes that have arrived.
    pub(super) received: u64,
}

/// Whether the applications of a case have connections of their own.
pub(super) fn has_flows(case: &Case) -> bool {
    let workload = &case.workload;
    workload.datagrams.is_none() && workload.load.is_none()
}

impl Awaited {
    pub(super) fn of(case: &Case, seed: u64) -> Awaited {
        let flows = case.all_flows();
        let planned = if has_flows(case) { case.connections(seed) } else { Vec::new() };
        let connections: Vec<bool> =
            planned.iter().map(|it| !flows[it.flow].spec.background).collect();
        let goes_on = connections.iter().any(|awaited| !awaited);
        let both_ways = case.links().map_or(Span::ZERO, |it| (it[0].delay() + it[1].delay()) * 2);
        Awaited {
            clients: connections.iter().filter(|awaited| **awaited).count(),
            servers: 0,
            farewell: goes_on.then_some(QUIET + both_ways),
            connections,
            left: [None, None],
            received: 0,
        }
    }

    /// Takes note of what an end reports.
    pub(super) fn heard(&mut self, end: Endpoint, report: GuestReport) {
        let awaits = |nth: usize| usize::from(self.connections.get(nth) == Some(&true));
        match report {
            GuestReport::Accepted(nth) => self.servers += awaits(nth),
            GuestReport::Ended { nth, was_connected } => match end {
                Endpoint::Client => self.clients = self.clients.saturating_sub(awaits(nth)),
                Endpoint::Server if was_connected => {
                    self.servers = self.servers.saturating_sub(awaits(nth));
                }
                Endpoint::Server => {}
            },
            GuestReport::Received(bytes) => self.received += bytes,
            GuestReport::Done(outcome) => self.left[end.index()] = Some(*outcome),
            GuestReport::Ready | GuestReport::Failed { .. } | GuestReport::Sampled { .. } => {}
        }
    }

    /// Whether both ends have left what they had to leave.
    pub(super) fn all_left(&self) -> bool {
        self.left.iter().all(Option::is_some)
    }

    /// Whether the client is done and the server is not.
    pub(super) fn server_is_alone(&self) -> bool {
        self.left[0].is_some() && self.left[1].is_none()
    }

    /// Whether all connections are done that the trial waits for.
    fn is_done(&self) -> bool {
        self.clients == 0 && self.servers == 0
    }

    /// Whether only flows in the background go on.
    pub(super) fn only_background_goes_on(&self) -> bool {
        self.farewell.is_some() && self.is_done()
    }

    /// How long the path must stay empty until the trial is over; none as long as it waits for
    /// something. With flows in the background the path is never empty, and need not be.
    pub(super) fn farewell(&self, is_empty: bool) -> Option<Span> {
        if let Some(farewell) = self.farewell.filter(|_| self.is_done()) {
            return Some(farewell);
        }
        (is_empty && self.all_left()).then_some(QUIET)
    }
}
