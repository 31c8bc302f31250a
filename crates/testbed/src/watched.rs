//! What is to be known of a socket while an application uses it.

use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::mpsc::Sender;

use rustix::io::Errno;
use tcplab_recording::OptionRecord;
use tcplab_units::{Endpoint, Span};
use tcplab_workload::{AppReport, SocketOptions};

use crate::TrialError;
use crate::clock::Clock;
use crate::endpoint::{Ran, Shared};
use crate::options::OptionSheet;
use crate::sampler::Sampled;

/// What is to be known of the sockets of an endpoint.
pub(crate) struct Watched<'a> {
    end: Endpoint,
    shared: &'a Shared,
    /// What is asked of an accepted socket.
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
    /// What the thread had had of a processor before.
    before: Span,
}

impl<'a> Watched<'a> {
    /// Of a socket with these options; of `flow`, if that has samples of its own.
    pub(crate) fn of_flow(
        (end, shared): (Endpoint, &'a Shared),
        accepted: &'a SocketOptions,
        sockets: Option<Sender<(Endpoint, Sampled)>>,
        flow: Option<Arc<str>>,
        options: OptionSheet,
    ) -> Watched<'a> {
        let (records, listener, sampled) = (Vec::new(), Vec::new(), None);
        let before = Clock::processor();
        Watched {
            end,
            shared,
            accepted,
            sockets,
            flow,
            sampled,
            options,
            records,
            listener,
            before,
        }
    }

    /// What it leaves, with the application's report and the processor time of this thread, which
    /// does the work of the connection and nothing else.
    pub(crate) fn left(self, report: AppReport, socket: Option<OwnedFd>) -> Ran {
        let Watched { records, listener, before, .. } = self;
        let processor = Some(Clock::processor().saturating_sub(before));
        let report = AppReport { processor, ..report };
        Ran { report, records, listener, socket }
    }

    /// It is connected; with the listening one, if it was accepted.
    pub(crate) fn connected(
        &mut self,
        socket: BorrowedFd<'_>,
        listener: Option<BorrowedFd<'_>>,
    ) -> Result<(), TrialError> {
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
    pub(crate) fn opens(&mut self, socket: BorrowedFd<'_>) -> Result<(), TrialError> {
        if self.sampled.is_none() {
            let duplicate = socket.try_clone_to_owned();
            let duplicate = duplicate.map_err(self.call("duplicate its socket"))?;
            let sampled = Sampled::new(duplicate, self.flow.clone());
            self.shared.open().push(sampled.clone());
            self.sampled = Some(sampled);
        }
        Ok(())
    }

    /// It is about to be closed: nobody else may hold it then.
    pub(crate) fn closes(&mut self, socket: BorrowedFd<'_>) {
        self.records = self.options.records(socket);
        if let Some(sampled) = self.sampled.take() {
            sampled.let_go();
        }
    }

    /// Whether there is a socket that calls may wait for.
    pub(crate) fn is_open(&self) -> bool {
        self.sampled.is_some()
    }

    /// A call failed that must not.
    pub(crate) fn failed(&self, call: &'static str, errno: Errno) -> TrialError {
        self.call(call)(errno.into())
    }

    fn call(&self, call: &'static str) -> impl FnOnce(std::io::Error) -> TrialError + use<> {
        let endpoint = self.end.name();
        move |source| TrialError::Application { endpoint, call, source }
    }
}
