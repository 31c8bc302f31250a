//! What a world of guests waits for. A trial: the connections of its flows, and both applications.

use tcplab_recording::{GuestOutcome, GuestReport};
use tcplab_scenario::Case;
use tcplab_units::{Endpoint, Instant, Span};

/// Once both applications are done, the path must be empty for this long: the last ACK counts.
pub(super) const QUIET: Span = Span::from_millis(50);

/// What a world of guests waits for.
pub(super) trait Awaited {
    /// Whether guests have time for last words when the time is over.
    const HAS_LAST_WORDS: bool;
    /// How much may happen at one instant.
    const MOST_AT_ONCE: u64;

    /// Takes note of what an end reports.
    fn heard(&mut self, now: Instant, end: Endpoint, report: GuestReport);

    /// Whether both ends have left what they had to leave.
    fn all_left(&self) -> bool;

    /// Whether the client is done and the server is not.
    fn server_is_alone(&self) -> bool;

    /// Whether only flows in the background go on.
    fn only_background_goes_on(&self) -> bool;

    /// How long the path must stay empty until all is over; none as long as something is awaited.
    fn farewell(&self, is_empty: bool) -> Option<Span>;

    /// Whether all is over at once.
    fn is_over(&self) -> bool;

    /// When the time is over, if there is a limit.
    fn limit(&self) -> Option<Instant>;
}

/// How far the applications of a trial are.
#[derive(Debug)]
pub(super) struct Applications {
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
    pub(super) received: Option<u64>,
    /// When the trial's time is over.
    limit: Instant,
}

/// Whether the applications of a case have connections of their own.
pub(super) fn has_flows(case: &Case) -> bool {
    let workload = &case.workload;
    workload.datagrams.is_none() && workload.load.is_none()
}

impl Applications {
    pub(super) fn of(case: &Case, seed: u64) -> Applications {
        let flows = case.all_flows();
        let planned = if has_flows(case) { case.connections(seed) } else { Vec::new() };
        let connections: Vec<bool> =
            planned.iter().map(|it| !flows[it.flow].spec.background).collect();
        let goes_on = connections.iter().any(|awaited| !awaited);
        let both_ways = case.round_trip() * 2;
        Applications {
            clients: connections.iter().filter(|awaited| **awaited).count(),
            servers: 0,
            farewell: goes_on.then_some(QUIET + both_ways),
            connections,
            left: [None, None],
            received: None,
            limit: Instant::ZERO + case.limits.trial,
        }
    }

    /// Whether all connections are done that the trial waits for.
    fn is_done(&self) -> bool {
        self.clients == 0 && self.servers == 0
    }
}

impl Awaited for Applications {
    const HAS_LAST_WORDS: bool = true;
    const MOST_AT_ONCE: u64 = u64::MAX;

    fn heard(&mut self, _: Instant, end: Endpoint, report: GuestReport) {
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
            GuestReport::Received(bytes) => {
                self.received = Some(self.received.unwrap_or(0) + bytes);
            }
            GuestReport::Done(outcome) => self.left[end.index()] = Some(*outcome),
            // Others are the world's, or of programs.
            _ => {}
        }
    }

    fn all_left(&self) -> bool {
        self.left.iter().all(Option::is_some)
    }

    fn server_is_alone(&self) -> bool {
        self.left[0].is_some() && self.left[1].is_none()
    }

    fn only_background_goes_on(&self) -> bool {
        self.farewell.is_some() && self.is_done()
    }

    /// With flows in the background the path is never empty, and need not be.
    fn farewell(&self, is_empty: bool) -> Option<Span> {
        if let Some(farewell) = self.farewell.filter(|_| self.is_done()) {
            return Some(farewell);
        }
        (is_empty && self.all_left()).then_some(QUIET)
    }

    fn is_over(&self) -> bool {
        false
    }

    fn limit(&self) -> Option<Instant> {
        Some(self.limit)
    }
}
