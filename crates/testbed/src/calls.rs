//! What an application calls, done on the kernel's sockets.

use std::borrow::Cow;
use std::io;
use std::net::SocketAddrV4;
use std::os::fd::{AsFd, OwnedFd};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, sockopt};
use tcplab_units::{Instant, Span};
use tcplab_workload::{Application, Half, Toggle, Want};

use crate::TrialError;
use crate::clock::Clock;
use crate::endpoint::Shared;
use crate::flows::sleep_while;
use crate::sys;
use crate::watched::Watched;

/// How often a server that waits for its client looks whether it still can come.
pub(crate) const LOOK: Span = Span::from_millis(20);

/// An application with its socket.
pub(crate) struct Caller<'a> {
    pub(crate) application: Application,
    pub(crate) shared: &'a Shared,
    pub(crate) clock: Clock,
    /// Where the server is.
    pub(crate) server: SocketAddrV4,
    /// Not yet connected, or listening; then connected, until it is closed.
    pub(crate) socket: Option<OwnedFd>,
    /// What was accepted for it already.
    pub(crate) arrived: Option<OwnedFd>,
    /// Whoever wants to know of the connected socket.
    pub(crate) watched: Watched<'a>,
    /// What a read fills.
    pub(crate) buffer: Vec<u8>,
}

/// What a call returned, where that is told in one word.
enum Returned {
    /// It did what it should.
    Done,
    /// What it gave was told already.
    Told,
    /// It was interrupted, and is made again.
    Again,
}

impl Caller<'_> {
    /// Does what the application wants until it wants no more.
    pub(crate) fn drive(&mut self) -> Result<(), TrialError> {
        loop {
            let now = self.clock.now();
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
                        self.watched.opens(socket.as_fd())?;
                    }
                    ("connect", self.connect())
                }
                Want::Accept => match self.accept() {
                    Ok(None) => return Ok(()),
                    Ok(Some(accepted)) => {
                        self.application.did(self.clock.now());
                        let listener = self.socket.replace(accepted);
                        let listener = listener.as_ref().map(AsFd::as_fd);
                        let socket = self.socket.as_ref().map(AsFd::as_fd);
                        if let Some(socket) = socket {
                            self.watched.connected(socket, listener)?;
                        }
                        continue;
                    }
                    Err(errno) => ("accept", Err(errno)),
                },
                Want::Write { .. } => ("write", self.write()),
                Want::Read(most) => ("read", self.read(most)),
                Want::AwaitUrgent => ("poll", self.await_urgent()),
                Want::ReadUrgent => ("read", self.read_urgent()),
                Want::AtMark => ("ask for the mark", self.at_mark()),
                Want::ShutDown(half) => ("shut down", self.shut_down(half)),
                Want::Set(toggle, on) => ("set an option", self.set(toggle, on)),
                Want::Vanish => return self.vanish(),
                Want::Close => {
                    if let Some(socket) = self.socket.take() {
                        self.watched.closes(socket.as_fd());
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
                        self.watched.connected(socket.as_fd(), None)?;
                    }
                }
                Ok(Returned::Told | Returned::Again) | Err(Errno::INTR) => {}
                Err(_) if self.shared.is_over() => {
                    self.ran_out();
                    return Ok(());
                }
                Err(errno) if self.application.may_fail() => {
                    self.application.failed(name(errno), self.clock.now());
                    self.shared.lost_if(call == "connect");
                }
                Err(errno) => return Err(self.watched.failed(call, errno)),
            }
        }
    }

    /// Whether it woke before the trial's time was over.
    fn sleep(&mut self, until: Instant) -> bool {
        if self.shared.flows().is_some() {
            let slept = sleep_while(self.clock, until, || !self.shared.is_over());
            if !slept {
                self.ran_out();
            }
            return slept;
        }
        let limit = self.shared.limit();
        let is_over = until > limit && self.shared.may_run_out();
        self.clock.sleep_until(if is_over { limit } else { until });
        if is_over {
            self.ran_out();
        }
        !is_over
    }

    /// The socket hears nothing any more, until the trial's time is over.
    fn vanish(&mut self) -> Result<(), TrialError> {
        if let Some(socket) = &self.socket {
            sys::swallow_everything(socket.as_fd())
                .map_err(TrialError::setup("drop what comes to a socket"))?;
        }
        let end = self.shared.limit() + LOOK;
        self.sleep(end);
        Ok(())
    }

    /// The trial's time is over.
    fn ran_out(&mut self) {
        self.application.ran_out(self.clock.now());
        if let Some(socket) = self.socket.as_ref().filter(|_| self.watched.is_open()) {
            self.watched.closes(socket.as_fd());
        }
    }

    fn connect(&mut self) -> Result<Returned, Errno> {
        let Some(socket) = &self.socket else { return Err(Errno::BADF) };
        rustix::net::connect(socket, &self.server)?;
        Ok(Returned::Done)
    }

    /// `None`: the client has given up, so nobody will come.
    fn accept(&mut self) -> Result<Option<OwnedFd>, Errno> {
        if let Some(arrived) = self.arrived.take() {
            return Ok(Some(arrived));
        }
        let Some(listener) = &self.socket else { return Ok(None) };
        let timeout = Timespec { tv_sec: 0, tv_nsec: LOOK.as_nanos().cast_signed() };
        while poll(&mut [PollFd::new(listener, PollFlags::IN)], Some(&timeout))? == 0 {
            if self.shared.is_over() {
                return Err(Errno::CANCELED);
            }
            if self.shared.is_lost() {
                return Ok(None);
            }
        }
        rustix::net::accept_with(listener, rustix::net::SocketFlags::CLOEXEC).map(Some)
    }

    fn write(&mut self) -> Result<Returned, Errno> {
        let Some(socket) = &self.socket else { return Err(Errno::BADF) };
        let Want::Write { bytes, more, urgent } = self.application.want(self.clock.now()) else {
            return Ok(Returned::Again);
        };
        let mut flags = SendFlags::NOSIGNAL;
        flags.set(SendFlags::MORE, more);
        flags.set(SendFlags::OOB, urgent);
        let offered = bytes.len();
        let count = rustix::net::send(socket, bytes, flags)?;
        let now = self.clock.now();
        self.application.wrote(count, now);
        self.go_on()?;
        if count < offered {
            self.application.returned(now);
        }
        Ok(Returned::Told)
    }

    fn read(&mut self, most: usize) -> Result<Returned, Errno> {
        let Some(socket) = &self.socket else { return Err(Errno::BADF) };
        if self.buffer.len() < most {
            self.buffer.resize(most, 0);
        }
        let (count, _) = rustix::net::recv(socket, &mut self.buffer[..most], RecvFlags::empty())?;
        self.go_on()?;
        let now = self.clock.now();
        if count == 0 {
            self.application.end_of_stream(now);
        } else {
            self.application.received(&self.buffer[..count], now);
            self.shared.add_received(count as u64);
        }
        Ok(Returned::Told)
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
        Ok(Returned::Told)
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
        Ok(Returned::Told)
    }

    fn at_mark(&mut self) -> Result<Returned, Errno> {
        let Some(socket) = &self.socket else { return Err(Errno::BADF) };
        let is_at_mark = sys::at_mark(socket.as_fd()).map_err(|error| errno(&error))?;
        self.application.marked(is_at_mark, self.clock.now());
        Ok(Returned::Told)
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

fn errno(error: &io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::IO)
}

/// The name of an error in `errno.h`, of those that a socket's calls tell.
pub(crate) fn name(errno: Errno) -> Cow<'static, str> {
    const NAMES: &[(Errno, &str)] = &[
        (Errno::AGAIN, "EAGAIN"),
        (Errno::BADF, "EBADF"),
        (Errno::CONNABORTED, "ECONNABORTED"),
        (Errno::CONNREFUSED, "ECONNREFUSED"),
        (Errno::CONNRESET, "ECONNRESET"),
        (Errno::HOSTUNREACH, "EHOSTUNREACH"),
        (Errno::INPROGRESS, "EINPROGRESS"),
        (Errno::INVAL, "EINVAL"),
        (Errno::NETUNREACH, "ENETUNREACH"),
        (Errno::NOBUFS, "ENOBUFS"),
        (Errno::NOTCONN, "ENOTCONN"),
        (Errno::PIPE, "EPIPE"),
        (Errno::TIMEDOUT, "ETIMEDOUT"),
    ];
    let known = NAMES.iter().find(|(known, _)| *known == errno);
    known.map_or_else(
        || format!("errno {}", errno.raw_os_error()).into(),
        |(_, name)| (*name).into(),
    )
}
