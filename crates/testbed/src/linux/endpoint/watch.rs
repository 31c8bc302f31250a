//! What is to be known of a socket while an application uses it.

use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::mpsc::Sender;

use rustix::io::Errno;
use tcplab_recording::OptionRecord;
use tcplab_units::{Endpoint, Span};
use tcplab_workload::{AppReport, SocketOptions};

use super::socket;
use crate::TrialError;
use crate::clock::Clock;
use crate::options::OptionSheet;
use crate::sampler::Sampled;
use crate::trial_state::TrialState;

/// What is to be known of the sockets of an endpoint.
pub(super) struct SocketWatch<'a> {
    end: Endpoint,
    shared: &'a TrialState,
    /// The options of an accepted socket.
    accepted: &'a SocketOptions,
    /// Takes the connected one for sampling, if it is; when both ends have let go of theirs, the
    /// sampler ends.
    sockets: Option<Sender<(Endpoint, Sampled)>>,
    /// Whose samples these are, if it is a flow that has its own.
    flow: Option<Arc<str>>,
    sampled: Option<Sampled>,
    /// The options of the socket at hand, as far as they were read.
    options: OptionSheet,
    /// Those of the connected one when it was closed, and of the listening one.
    records: Vec<OptionRecord>,
    listener: Vec<OptionRecord>,
    was_connected: bool,
    /// The thread's processor time before; none in virtual time, where computing takes none.
    before: Option<Span>,
}

impl<'a> SocketWatch<'a> {
    /// Of a socket with these options; of `flow`, if that has samples of its own.
    pub(super) fn new(
        (end, shared, clock): (Endpoint, &'a TrialState, Clock),
        accepted: &'a SocketOptions,
        sockets: Option<Sender<(Endpoint, Sampled)>>,
        flow: Option<Arc<str>>,
        options: OptionSheet,
    ) -> SocketWatch<'a> {
        let (records, listener, sampled) = (Vec::new(), Vec::new(), None);
        let before = (!clock.is_virtual()).then(Clock::processor);
        SocketWatch {
            end,
            shared,
            accepted,
            sockets,
            flow,
            sampled,
            options,
            records,
            listener,
            was_connected: false,
            before,
        }
    }

    /// What it leaves, with the application's report and the processor time of this thread, which
    /// does the work of the connection and nothing else.
    pub(super) fn end(self, report: AppReport, socket: Option<OwnedFd>) -> ConnectionOutcome {
        let SocketWatch { records, listener, was_connected, before, .. } = self;
        let processor = before.map(|before| Clock::processor().saturating_sub(before));
        let report = AppReport { processor, ..report };
        ConnectionOutcome { report, records, listener, was_connected, socket }
    }

    /// It is connected; with the listening one, if it was accepted.
    pub(super) fn connected(
        &mut self,
        socket: BorrowedFd<'_>,
        listener: Option<BorrowedFd<'_>>,
    ) -> Result<(), TrialError> {
        self.was_connected = true;
        match listener {
            None => self.options.connected(socket)?,
            Some(listener) => {
                self.listener = self.options.records(listener);
                self.options = OptionSheet::accepted(socket, self.accepted, &self.options)?;
            }
        }
        self.opens(socket)?;
        if let (Some(sockets), Some(sampled)) = (&self.sockets, &self.sampled) {
            let _ = sockets.send((self.end, sampled.clone()));
        }
        Ok(())
    }

    /// Calls on it may wait from now on, until the trial's time is over.
    pub(super) fn opens(&mut self, socket: BorrowedFd<'_>) -> Result<(), TrialError> {
        if self.sampled.is_none() {
            let duplicate = socket.try_clone_to_owned();
            let duplicate = duplicate.map_err(TrialError::setup("duplicate a socket"))?;
            let sampled = Sampled::new(duplicate, self.flow.clone());
            self.shared.open().push(sampled.clone());
            self.sampled = Some(sampled);
        }
        Ok(())
    }

    /// It is about to be closed: no other reference may remain.
    pub(super) fn closes(&mut self, socket: BorrowedFd<'_>) {
        self.records = self.options.records(socket);
        if let Some(sampled) = self.sampled.take() {
            sampled.let_go();
        }
    }

    /// Whether there is a socket that calls may wait for.
    pub(super) fn is_open(&self) -> bool {
        self.sampled.is_some()
    }

    /// A call failed that must not.
    pub(super) fn failed(&self, call: &'static str, errno: Errno) -> TrialError {
        socket::failed(self.end, call, errno)
    }
}

/// What a connection leaves at an endpoint.
#[derive(Debug)]
pub(super) struct ConnectionOutcome {
    pub(super) report: AppReport,
    /// The options of the connected socket.
    pub(super) records: Vec<OptionRecord>,
    /// Those of the listening socket.
    pub(super) listener: Vec<OptionRecord>,
    pub(super) was_connected: bool,
    /// The socket, if it was not closed.
    pub(super) socket: Option<OwnedFd>,
}
