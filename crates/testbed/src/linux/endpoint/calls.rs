//! The calls of an application, made on the kernel's sockets.

use std::net::SocketAddrV4;
use std::os::fd::{AsFd, OwnedFd};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, sockopt};
use tcplab_scenario::PlannedConnection;
use tcplab_units::{Endpoint, Instant};
use tcplab_workload::{Application, Half, Toggle, Want};

use super::listener::Listener;
use super::wait::{LOOK, sleep_while};
use super::watch::SocketWatch;
use crate::TrialError;
use crate::clock::Clock;
use crate::flows::Flows;
use crate::sys::TimedRead;
use crate::trial_state::TrialState;
use crate::virtual_calls::{CALLS, ROOM, VirtualCalls};
use crate::{errno, sys};

/// An application with its socket.
pub(super) struct Caller<'a> {
    pub(super) application: Application,
    /// Which connection it has.
    pub(super) connection: (usize, &'a PlannedConnection),
    pub(super) shared: &'a TrialState,
    pub(super) flows: &'a Flows,
    pub(super) clock: Clock,
    /// Where the server is.
    pub(super) server: SocketAddrV4,
    /// The connected socket, or that of a client which is not connected yet, until it is closed.
    pub(super) socket: Option<OwnedFd>,
    /// At the server, where the connection is accepted.
    pub(super) listener: Option<&'a Listener>,
    pub(super) watch: SocketWatch<'a>,
    /// What a read fills.
    pub(super) buffer: Vec<u8>,
    /// The time, if the last call has read it and it is still the same.
    pub(super) just_read: Option<Instant>,
}

/// What a call returned.
enum Returned {
    /// Success, which the application does not know yet.
    Done,
    /// The application has recorded the result already.
    Recorded,
    /// It was interrupted, and is repeated.
    Again,
}

impl Caller<'_> {
    /// Does what the application wants until it wants no more.
    pub(super) fn drive(&mut self) -> Result<(), TrialError> {
        loop {
            let now = self.just_read.take().unwrap_or_else(|| self.clock.now());
            let (call, returned) = match self.application.want(now) {
                Want::Nothing => return Ok(()),
                Want::Sleep(until) => {
                    if self.sleep(until) {
                        continue;
                    }
                    return Ok(());
                }
                Want::Connect => {
                    if let Some(socket) = &self.socket {
                        self.watch.opens(socket.as_fd())?;
                    }
                    ("connect", self.connect())
                }
                Want::Accept => match self.accept() {
                    Ok(None) => return Ok(()),
                    Ok(Some(accepted)) => {
                        self.application.did(self.clock.now());
                        self.flows.accepted(self.connection.1);
                        let listener = self.listener.map(AsFd::as_fd);
                        let socket = self.socket.insert(accepted);
                        self.watch.connected(socket.as_fd(), listener)?;
                        continue;
                    }
                    Err(errno) => {
                        if let (Errno::AGAIN, Some(listener)) = (errno, self.listener) {
                            listener.leave().map_err(TrialError::setup("stop listening"))?;
                        }
                        ("accept", Err(errno))
                    }
                },
                Want::Write { .. } => ("write", self.write(now)),
                Want::Read(most) => ("read", self.read(most)),
                Want::AwaitUrgent => ("poll", self.await_urgent()),
                Want::ReadUrgent => ("read", self.read_urgent()),
                Want::AtMark => ("ask for the mark", self.at_mark()),
                Want::ShutDown(half) => ("shut down", self.shut_down(half)),
                Want::Set(toggle, on) => ("set an option", self.set(toggle, on)),
                Want::Vanish => return self.vanish(),
                Want::Close => {
                    if let Some(socket) = self.socket.take() {
                        self.watch.closes(socket.as_fd());
                        // Nobody else holds it now; with SO_LINGER this waits.
                        drop(socket);
                    }
                    ("close", Ok(Returned::Done))
                }
            };
            match returned {
                Ok(Returned::Done) => {
                    self.application.did(self.clock.now());
                    if let ("connect", Some(socket)) = (call, &self.socket) {
                        self.watch.connected(socket.as_fd(), None)?;
                    }
                }
                Ok(Returned::Recorded | Returned::Again) | Err(Errno::INTR) => {}
                Err(_) if self.shared.is_over() => {
                    self.ran_out();
                    return Ok(());
                }
                Err(errno) if self.application.may_fail() => {
                    self.application.failed(errno::name(errno), self.clock.now());
                }
                Err(errno) => return Err(self.watch.failed(call, errno)),
            }
        }
    }

    /// Whether it woke before the trial's time was over.
    fn sleep(&mut self, until: Instant) -> bool {
        let limit = self.shared.limit;
        let runs_out = until > limit && self.shared.may_run_out();
        let end = if runs_out { limit } else { until };
        let slept = sleep_while(self.clock, end, || !self.shared.is_over()) && !runs_out;
        if !slept {
            self.ran_out();
        }
        slept
    }

    /// Drops all input of the socket until the trial's time is over.
    fn vanish(&mut self) -> Result<(), TrialError> {
        if let Some(socket) = &self.socket {
            sys::swallow_everything(socket.as_fd())
                .map_err(TrialError::setup("drop what comes to a socket"))?;
        }
        let end = self.shared.limit + LOOK;
        self.sleep(end);
        Ok(())
    }

    /// The trial's time is over.
    fn ran_out(&mut self) {
        self.application.ran_out(self.clock.now());
        if let Some(socket) = self.socket.as_ref().filter(|_| self.watch.is_open()) {
            self.watch.closes(socket.as_fd());
        }
    }

    fn connect(&mut self) -> Result<Returned, Errno> {
        let Some(socket) = &self.socket else { return Err(Errno::BADF) };
        rustix::net::connect(socket, &self.server)?;
        Ok(Returned::Done)
    }

    /// `None`: no client will connect.
    fn accept(&mut self) -> Result<Option<OwnedFd>, Errno> {
        let Some(listener) = self.listener else { return Ok(None) };
        let (nth, planned) = self.connection;
        let timeout = self.flows.spec(planned, Endpoint::Server).socket.receive_timeout();
        let timeout = timeout.filter(|_| self.application.may_fail());
        let deadline = timeout.map(|timeout| self.clock.now() + timeout);
        listener.accept(planned.ports[0], || {
            self.go_on()?;
            if deadline.is_some_and(|deadline| self.clock.now() >= deadline) {
                return Err(Errno::AGAIN);
            }
            Ok(self.flows.has_no_client(nth) || self.shared.is_at_rest())
        })
    }

    fn write(&mut self, now: Instant) -> Result<Returned, Errno> {
        let Some(socket) = &self.socket else { return Err(Errno::BADF) };
        let Want::Write { bytes, more, urgent, waits } = self.application.want(now) else {
            return Ok(Returned::Again);
        };
        let mut flags = SendFlags::NOSIGNAL;
        flags.set(SendFlags::MORE, more);
        flags.set(SendFlags::OOB, urgent);
        flags.set(SendFlags::DONTWAIT, !waits);
        let offered = bytes.len();
        let count = rustix::net::send(socket, bytes, flags)?;
        let now = self.read_clock();
        self.application.wrote(count, now);
        self.go_on()?;
        if count < offered {
            self.application.returned(now);
        }
        Ok(Returned::Recorded)
    }

    fn read(&mut self, most: usize) -> Result<Returned, Errno> {
        let Some(socket) = &self.socket else { return Err(Errno::BADF) };
        if let (Some(calls), Some(left)) =
            (self.shared.virtual_calls.get(), self.application.reads_on())
        {
            return self.read_on(calls, (most, left));
        }
        if self.buffer.len() < most {
            self.buffer.resize(most, 0);
        }
        let (count, _) = rustix::net::recv(socket, &mut self.buffer[..most], RecvFlags::empty())?;
        self.go_on()?;
        let now = self.read_clock();
        if count == 0 {
            self.application.end_of_stream(now);
        } else {
            self.application.received(&self.buffer[..count], now);
            self.shared.add_received(count as u64);
        }
        Ok(Returned::Recorded)
    }

    /// Makes reads of `most` bytes, which take no virtual time between them, in one call.
    fn read_on(
        &mut self,
        calls: &VirtualCalls,
        (most, left): (usize, u64),
    ) -> Result<Returned, Errno> {
        let Some(socket) = &self.socket else { return Err(Errno::BADF) };
        if self.buffer.len() < most + ROOM {
            self.buffer = vec![0; most + ROOM];
        }
        let mut reads = [TimedRead::default(); CALLS];
        let came = calls.receive(socket.as_fd(), &mut self.buffer, &mut reads, (most, left))?;
        let mut at = 0;
        for read in &reads[..came.done] {
            let (next, then) = (at + read.length as usize, self.clock.of_shown(read.time_ns));
            self.application.received(&self.buffer[at..next], then);
            self.shared.add_received(read.length);
            // The next call begins, if there is one.
            self.application.want(then);
            at = next;
        }
        self.go_on()?;
        match came.last {
            Ok(0) => self.application.end_of_stream(self.clock.now()),
            Ok(_) => {}
            Err(error) => return Err(errno::of(&error)),
        }
        Ok(Returned::Recorded)
    }

    /// The time; in virtual time it stays until the next call.
    fn read_clock(&mut self) -> Instant {
        let now = self.clock.now();
        self.just_read = Some(now).filter(|_| self.clock.is_virtual());
        now
    }

    /// What a call returned counts, unless the trial's time is over: then it was made to return.
    fn go_on(&self) -> Result<(), Errno> {
        if self.shared.is_over() { Err(Errno::CANCELED) } else { Ok(()) }
    }

    fn await_urgent(&mut self) -> Result<Returned, Errno> {
        let Some(socket) = &self.socket else { return Err(Errno::BADF) };
        let mut asked = [PollFd::new(socket, PollFlags::PRI | PollFlags::RDHUP)];
        poll(&mut asked, None)?;
        self.go_on()?;
        if asked[0].revents().contains(PollFlags::PRI) {
            return Ok(Returned::Done);
        }
        self.application.end_of_stream(self.clock.now());
        Ok(Returned::Recorded)
    }

    fn read_urgent(&mut self) -> Result<Returned, Errno> {
        let Some(socket) = &self.socket else { return Err(Errno::BADF) };
        let mut byte = [0];
        let (count, _) = rustix::net::recv(socket, &mut byte, RecvFlags::OOB)?;
        let now = self.clock.now();
        if count == 0 {
            self.application.end_of_stream(now);
        } else {
            self.application.received_urgent(byte[0], now);
        }
        Ok(Returned::Recorded)
    }

    fn at_mark(&mut self) -> Result<Returned, Errno> {
        let Some(socket) = &self.socket else { return Err(Errno::BADF) };
        let is_at_mark = sys::at_mark(socket.as_fd()).map_err(|error| errno::of(&error))?;
        self.application.marked(is_at_mark, self.clock.now());
        Ok(Returned::Recorded)
    }

    fn shut_down(&mut self, half: Half) -> Result<Returned, Errno> {
        let Some(socket) = &self.socket else { return Err(Errno::BADF) };
        rustix::net::shutdown(
            socket,
            match half {
                Half::Read => rustix::net::Shutdown::Read,
                Half::Write => rustix::net::Shutdown::Write,
                Half::Both => rustix::net::Shutdown::Both,
            },
        )?;
        Ok(Returned::Done)
    }

    fn set(&mut self, toggle: Toggle, on: bool) -> Result<Returned, Errno> {
        let Some(socket) = &self.socket else { return Err(Errno::BADF) };
        match toggle {
            Toggle::Cork => sockopt::set_tcp_cork(socket, on),
            Toggle::NoDelay => sockopt::set_tcp_nodelay(socket, on),
            Toggle::QuickAck => sockopt::set_tcp_quickack(socket, on),
        }?;
        Ok(Returned::Done)
    }
}
