//! One end of all connections of a trial: a thread for each of those that go on at the same time.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::sync::mpsc::Sender;
use std::sync::{Mutex, PoisonError};
use std::thread;

use tcplab_scenario::PlannedConnection;
use tcplab_units::{Endpoint, Instant};
use tcplab_workload::{AppReport, Application};

use super::calls::Caller;
use super::listener::Listener;
use super::socket::{self, OpenSocket};
use super::wait::sleep_while;
use super::watch::{ConnectionOutcome, SocketWatch};
use crate::clock::Clock;
use crate::flows::Flows;
use crate::sampler::Sampled;
use crate::trial_state::TrialState;
use crate::{TrialError, scheduling, sys, threads};

/// One end of all connections.
pub(super) struct EndConnections<'a> {
    pub(super) end: Endpoint,
    pub(super) addresses: [Ipv4Addr; 2],
    pub(super) shared: &'a TrialState,
    pub(super) flows: &'a Flows,
    /// At the server, one for each flow.
    pub(super) listeners: &'a [Listener],
    /// At the client, the socket of the first connection, if it is open already.
    pub(super) first: Mutex<Option<OpenSocket>>,
    pub(super) clock: Clock,
    /// Takes connected sockets for sampling; dropped when all connections are over.
    pub(super) sockets: Sender<(Endpoint, Sampled)>,
    /// What connections left, by the client's port.
    pub(super) outcomes: Mutex<BTreeMap<u16, Result<ConnectionOutcome, TrialError>>>,
}

impl EndConnections<'_> {
    /// Begins each connection at its time, until all are over. Gives what the main connection left,
    /// and the reports of all by the client's port.
    pub(super) fn run(self) -> Result<(ConnectionOutcome, BTreeMap<u16, AppReport>), TrialError> {
        thread::scope(|scope| {
            for (nth, planned) in self.flows.planned().iter().enumerate() {
                let Some(start) = planned.start else { break };
                if !self.wait_until(start) {
                    break;
                }
                let all = &self;
                let carry = move || all.carry_from(nth);
                if let Err(error) = threads::start_in(scope, "a connection's thread", carry) {
                    self.ended(nth, planned, Err(error));
                    break;
                }
            }
        });
        let all = self.outcomes.into_inner().unwrap_or_else(PoisonError::into_inner);
        let first = self.flows.main_connection().map(|planned| planned.ports[0]);
        let mut reports = BTreeMap::new();
        let mut main = None;
        for (port, outcome) in all {
            let outcome = outcome?;
            reports.insert(port, outcome.report.clone());
            if Some(port) == first {
                main = Some(outcome);
            }
        }
        let main = main.ok_or_else(|| {
            TrialError::reported(
                "no connection of the main flow was opened",
                "check whether its calls may fail, or let it begin earlier",
            )
        })?;
        Ok((main, reports))
    }

    /// Waits for a connection's time; whether it is still to begin then.
    fn wait_until(&self, start: Instant) -> bool {
        let goes_on =
            || !(self.shared.is_over() || self.flows.are_done() || self.flows.has_failed());
        scheduling::exactly(|| sleep_while(self.clock, start, goes_on))
    }

    /// Carries a connection and then, one after the other, those that wait for its place.
    fn carry_from(&self, first: usize) {
        // An application that reads late holds back acknowledgements (`__tcp_ack_snd_check` waits
        // for it where the window cannot grow): what others do on this machine must not look like
        // TCP. Where this is not allowed, it reads when it can.
        let _ = sys::run_before_others();
        let mut next = Some(first);
        while let Some(nth) = next {
            self.carry(nth);
            let is_over = self.shared.is_over() || self.flows.has_failed();
            next = if is_over { None } else { self.flows.next_waiting(self.end) };
        }
    }

    fn carry(&self, nth: usize) {
        let planned = &self.flows.planned()[nth];
        self.ended(nth, planned, self.drive(nth, planned));
    }

    /// Notes what a connection left, or why it failed.
    fn ended(
        &self,
        nth: usize,
        planned: &PlannedConnection,
        outcome: Result<ConnectionOutcome, TrialError>,
    ) {
        if outcome.is_err() {
            // Nobody waits any more, at either end.
            self.flows.fail();
            self.shared.run_out();
        }
        let was_connected = outcome.as_ref().is_ok_and(|it| it.was_connected);
        let mut all = self.outcomes.lock().unwrap_or_else(PoisonError::into_inner);
        all.insert(planned.ports[0], outcome);
        drop(all);
        self.flows.ended(self.end, nth, was_connected);
    }

    /// Runs one connection's application until it is done.
    fn drive(
        &self,
        nth: usize,
        planned: &PlannedConnection,
    ) -> Result<ConnectionOutcome, TrialError> {
        let EndConnections { end, shared, clock, flows, .. } = *self;
        let spec = flows.spec(planned, end);
        let (socket, listener, options) = match end {
            Endpoint::Client => {
                let mut first = self.first.lock().unwrap_or_else(PoisonError::into_inner);
                let opened = first.take_if(|_| nth == 0);
                drop(first);
                let (socket, options) = match opened {
                    Some(opened) => opened,
                    None => socket::open_stream(&spec.socket, end, planned.workload.through)?,
                };
                let own = SocketAddrV4::new(self.addresses[0], planned.ports[0]);
                rustix::net::bind(&socket, &own)
                    .map_err(|errno| socket::failed(end, "bind", errno))?;
                (Some(socket), None, options)
            }
            Endpoint::Server => {
                let listener = &self.listeners[planned.flow];
                (None, Some(listener), listener.options.clone())
            }
        };
        let sockets = flows.is_sampled(planned).then(|| self.sockets.clone());
        let watch = SocketWatch::new(
            (end, shared, clock),
            &spec.accepted,
            sockets,
            flows.samples_name(planned),
            options,
        );
        let mut caller = Caller {
            application: Application::new(end, &planned.workload, planned.payload_seed)
                .stopping(planned.stops),
            connection: (nth, planned),
            shared,
            flows,
            clock,
            server: SocketAddrV4::new(self.addresses[1], planned.ports[1]),
            socket,
            listener,
            watch,
            buffer: Vec::new(),
            just_read: None,
        };
        // An absent server does nothing.
        if planned.workload.connect.is_none() || end == Endpoint::Client {
            caller.drive()?;
        }
        let Caller { application, watch, socket, .. } = caller;
        Ok(watch.end(application.report(), socket))
    }
}
