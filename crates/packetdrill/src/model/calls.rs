//! System calls on the model's sockets.

use std::sync::Arc;

use tcplab_stack::{ReadError, State};
use tcplab_units::Instant;

use super::flags::{DONT_WAIT, ERROR_QUEUE, NO_SIGNAL, NONBLOCK, OUT_OF_BAND, PEEK};
use super::host::addressed;
use super::socket::{Open, Socket, Stage};
use super::waiting::Waiting;
use super::{Model, options};
use crate::constants::constant;
use crate::subject::{ControlData, ControlMessage, Outcome, Refusal, Reply, SystemCall};

/// The most sockets of a script: Linux's soft limit of open files (RLIMIT_NOFILE, 1024) less the
/// three that every process has. Each event looks at all of them.
const SOCKETS_MAX: usize = 1021;

/// What `poll` always reports: POLLERR, POLLHUP.
const ALWAYS: i64 = 0x18;

impl Model {
    pub(super) fn make_call(&mut self, now: Instant, call: &SystemCall) -> Reply {
        match self.decide(now, call) {
            Ok(Some(outcome)) => Reply::Returned(outcome),
            Ok(None) => Reply::Blocked,
            Err(refusal) => Reply::Refused(refusal),
        }
    }

    /// `None`: it waits.
    fn decide(&mut self, now: Instant, call: &SystemCall) -> Result<Option<Outcome>, Refusal> {
        let outcome = match call {
            SystemCall::Socket { domain, kind, protocol } => {
                return self.socket(*domain, *kind, *protocol).map(Some);
            }
            SystemCall::Bind { .. } => Outcome::value(0),
            SystemCall::Listen { fd, backlog } => {
                let config = Arc::new(self.config.clone());
                match self.sockets.get_mut(fd) {
                    Some(socket) if matches!(socket.stage, Stage::Fresh) => {
                        let backlog = u32::try_from(*backlog).unwrap_or(0);
                        socket.fast.queue = self.fast.queue(&socket.fast, backlog);
                        socket.listen(&config, backlog);
                        Outcome::value(0)
                    }
                    Some(_) => Outcome::error("EINVAL"),
                    None => Outcome::error("EBADF"),
                }
            }
            SystemCall::Accept { fd } => {
                return Ok(self.try_again(now, Waiting::Accept { fd: *fd }));
            }
            SystemCall::Disconnect { fd } => self.disconnect(now, *fd),
            SystemCall::Connect { fd } => return Ok(self.begin_connect(now, *fd)),
            SystemCall::Receive { fd, len, flags, message } => {
                return self.receive_call(now, *fd, (*len, *flags, *message));
            }
            SystemCall::Send { to_nobody: true, .. } => {
                return Err(Refusal("a write to AF_UNSPEC".into()));
            }
            SystemCall::Send { fd, flags, parts, .. } => {
                return self.send_call(now, *fd, parts, *flags);
            }
            SystemCall::BadBuffer { fd, receives, .. } => self.bad_buffer(*fd, *receives),
            SystemCall::Open { path } => self.open_file(path)?,
            SystemCall::Pipe => self.pipe(),
            SystemCall::SendFile { to, from, offset, len } => {
                return self.send_file(now, *to, (*from, *offset, *len));
            }
            SystemCall::Splice { from, to, len } => self.splice(now, *from, *to, *len)?,
            SystemCall::Close { fd } => return Ok(self.close(now, *fd)),
            SystemCall::Shutdown { fd, how } => self.shutdown(now, *fd, *how)?,
            SystemCall::SetOption { fd, level, name, value, .. } => {
                self.set_option(now, *fd, (*level, *name), value)?
            }
            SystemCall::GetOption { fd, level, name } => self.option(*fd, *level, *name)?,
            SystemCall::Control { fd, command, argument } => {
                self.control(*fd, *command, *argument)?
            }
            SystemCall::Request { fd, request } => self.request(*fd, *request)?,
            SystemCall::EpollCreate => self.epoll_create(),
            SystemCall::EpollControl { epoll, operation, fd, events, data } => {
                self.epoll_control(*epoll, *operation, *fd, (*events, *data))
            }
            SystemCall::EpollWait { epoll, most, timeout } => {
                let until = timeout.map(|timeout| now + timeout);
                return Ok(
                    self.try_again(now, Waiting::Epoll { epoll: *epoll, most: *most, until })
                );
            }
            SystemCall::Poll { fds, timeout } => {
                let until = timeout.map(|timeout| now + timeout);
                return Ok(self.try_again(now, Waiting::Poll { fds: fds.clone(), until }));
            }
        };
        Ok(Some(outcome))
    }

    fn socket(&mut self, domain: i64, kind: i64, protocol: i64) -> Result<Outcome, Refusal> {
        // AF_INET stands for the script's own version, AF_INET6 for itself.
        match domain {
            2 => {}
            10 if self.host.has_v6_sockets => {}
            10 => return Err(Refusal("IPv6 sockets without --ip_version=ipv6".into())),
            _ => return Err(Refusal("sockets other than IPv4 and IPv6".into())),
        }
        if kind & 0xf != 1 || !matches!(protocol, 0 | 6) {
            return Err(Refusal("sockets other than TCP".into()));
        }
        if self.sockets.len() >= SOCKETS_MAX {
            return Ok(Outcome::error("EMFILE"));
        }
        let socket = Socket::new(&self.config.window.congestion, kind & NONBLOCK != 0);
        Ok(Outcome::value(self.give_descriptor(socket)))
    }

    /// The outcome of a call; `None` while it waits.
    pub(super) fn try_again(&mut self, now: Instant, mut waiting: Waiting) -> Option<Outcome> {
        let outcome = match &mut waiting {
            Waiting::Accept { fd } => self.try_accept(*fd),
            Waiting::Connect { fd } => self.try_connect(now, *fd),
            Waiting::Receive { fd, len, message } => self.try_receive(now, *fd, *len, *message),
            Waiting::Send(send) => self.try_send(now, send),
            Waiting::Poll { fds, until } => self.try_poll(now, fds, *until),
            Waiting::Epoll { epoll, most, until } => {
                self.try_epoll_wait(now, *epoll, *most, *until)
            }
            Waiting::Close { ports, until } => {
                let orphan = self.orphans.iter().find(|open| open.ports() == *ports);
                let waits = orphan.is_some_and(|open| open.connection.has_unacknowledged());
                (*until <= now || !waits).then(|| Outcome::value(0))
            }
        };
        if outcome.is_none() {
            self.waiting = Some(waiting);
        }
        outcome
    }

    pub(super) fn open(&mut self, fd: i64) -> Result<&mut Open, Outcome> {
        match self.sockets.get_mut(&fd).map(|socket| &mut socket.stage) {
            Some(Stage::Open(open)) => Ok(open),
            Some(_) => Err(Outcome::error("ENOTCONN")),
            None => Err(Outcome::error("EBADF")),
        }
    }

    pub(super) fn is_nonblocking(&self, fd: i64) -> bool {
        self.sockets.get(&fd).is_some_and(|socket| socket.nonblocking)
    }

    fn try_accept(&mut self, fd: i64) -> Option<Outcome> {
        let Some(socket) = self.sockets.get_mut(&fd) else { return Some(Outcome::error("EBADF")) };
        let Stage::Listening(listener) = &mut socket.stage else {
            return Some(Outcome::error("EINVAL"));
        };
        match listener.accept() {
            Some((remote_port, connection)) => {
                let accepted = Socket::accepted(connection, remote_port, socket);
                Some(Outcome::value(self.give_descriptor(accepted)))
            }
            None => socket.nonblocking.then(|| Outcome::error("EAGAIN")),
        }
    }

    /// `__inet_stream_connect`.
    fn begin_connect(&mut self, now: Instant, fd: i64) -> Option<Outcome> {
        match self.sockets.get(&fd).map(|socket| &socket.stage) {
            None => return Some(Outcome::error("EBADF")),
            Some(Stage::Listening(_)) => return Some(Outcome::error("EISCONN")),
            Some(Stage::Open(open)) if open.knows_connected => {
                return Some(Outcome::error("EISCONN"));
            }
            Some(Stage::Open(open)) if open.connection.state() == State::SynSent => {
                if self.is_nonblocking(fd) {
                    return Some(Outcome::error("EALREADY"));
                }
            }
            Some(Stage::Open(_)) => {}
            Some(Stage::Fresh) => {
                if self.defers_connect(fd) {
                    let socket = self.sockets.get_mut(&fd)?;
                    return Some(if std::mem::replace(&mut socket.deferred, true) {
                        Outcome::error("EISCONN")
                    } else {
                        Outcome::value(0)
                    });
                }
                let asks = self.sockets.get(&fd).filter(|socket| socket.fast.connects_later);
                let fast = asks.map(|socket| self.fast.begin(&socket.fast, (0, 0), 0).0);
                self.connect(now, fd, fast.as_ref());
                if self.is_nonblocking(fd) {
                    return Some(Outcome::error("EINPROGRESS"));
                }
            }
        }
        self.try_again(now, Waiting::Connect { fd })
    }

    /// Whether connecting waits for the first write (`tcp_fastopen_defer_connect`).
    fn defers_connect(&self, fd: i64) -> bool {
        self.sockets
            .get(&fd)
            .is_some_and(|socket| socket.fast.connects_later && self.fast.may_send(&socket.fast))
    }

    fn try_connect(&mut self, now: Instant, fd: i64) -> Option<Outcome> {
        let open = match self.open(fd) {
            Ok(open) => open,
            Err(outcome) => return Some(outcome),
        };
        match open.connection.state() {
            State::SynSent | State::SynReceived => None,
            State::Closed => {
                let error = open.take_error();
                // Linux's socket is as good as new: it may connect again.
                if self.config.freebsd.is_none() {
                    self.disconnect(now, fd);
                }
                Some(Outcome::error(error.map_or("ECONNABORTED", |error| error.errno())))
            }
            _ => {
                open.knows_connected = true;
                Some(Outcome::value(0))
            }
        }
    }

    fn receive_call(
        &mut self,
        now: Instant,
        fd: i64,
        (len, flags, message): (u32, i64, bool),
    ) -> Result<Option<Outcome>, Refusal> {
        if flags & OUT_OF_BAND != 0 {
            let read = match self.open(fd) {
                Ok(open) => open.connection.read_urgent(),
                Err(outcome) => return Ok(Some(outcome)),
            };
            return Ok(Some(read.map_or_else(read_error, |_| Outcome::value(1))));
        }
        if flags & ERROR_QUEUE != 0 {
            return Ok(Some(match self.sockets.get_mut(&fd).map(|socket| &mut socket.stage) {
                Some(Stage::Open(open)) => open.errors.receive(len, self.host.has_v6_sockets),
                Some(_) => Outcome::error("EAGAIN"),
                None => Outcome::error("EBADF"),
            }));
        }
        if flags & PEEK != 0 {
            return self.peek(fd, len).map(Some);
        }
        let unknown = flags & !(DONT_WAIT | NO_SIGNAL);
        if unknown != 0 {
            return Err(Refusal(format!("receive flags {unknown:#x}")));
        }
        if flags & DONT_WAIT != 0 || self.is_nonblocking(fd) {
            let read = self.try_receive(now, fd, len, message);
            return Ok(Some(read.unwrap_or_else(|| Outcome::error("EAGAIN"))));
        }
        Ok(self.try_again(now, Waiting::Receive { fd, len, message }))
    }

    /// What could be read, which stays.
    fn peek(&mut self, fd: i64, len: u32) -> Result<Outcome, Refusal> {
        let waits = !self.is_nonblocking(fd);
        let open = match self.open(fd) {
            Ok(open) => open,
            Err(outcome) => return Ok(outcome),
        };
        match open.connection.unread().as_u64().min(len.into()) {
            0 if open.reads_are_over() => Ok(Outcome::value(0)),
            0 if waits => Err(Refusal("MSG_PEEK that waits".into())),
            0 => Ok(Outcome::error("EAGAIN")),
            count => Ok(Outcome::value(count as i64)),
        }
    }

    /// `tcp_recvmsg_locked`.
    fn try_receive(&mut self, now: Instant, fd: i64, len: u32, message: bool) -> Option<Outcome> {
        let reports_unread =
            message && self.sockets.get(&fd).is_some_and(|socket| socket.reports_unread);
        let deferred = self.sockets.get(&fd).is_some_and(|socket| socket.deferred);
        let open = match self.open(fd) {
            Ok(open) => open,
            Err(_) if deferred => return None,
            Err(outcome) => return Some(outcome),
        };
        let unread = open.connection.unread().as_u64();
        let len = usize::try_from(unread.min(len.into())).unwrap_or(0).max(usize::from(len > 0));
        match open.connection.read(now, &mut vec![0; len]) {
            Ok(count) => {
                // The end of the stream counts as a byte (`tcp_inq_hint`).
                let unread = open.connection.unread().as_u64() as i64;
                let unread = unread.max(i64::from(open.reads_are_over()));
                let hint = ControlMessage {
                    level: options::TCP,
                    kind: options::TCP_INQ,
                    data: ControlData::Number(unread),
                };
                let control = if reports_unread { vec![hint] } else { Vec::new() };
                // No flag of a message is ever set here.
                Some(Outcome { values: vec![0], control, ..Outcome::value(count as i64) })
            }
            Err(ReadError::WouldBlock) if open.shut.reads => Some(Outcome::value(0)),
            Err(ReadError::WouldBlock) => None,
            // The error is reported once; then the stream is at its end.
            Err(ReadError::Broken(_)) => Some(match open.take_error() {
                Some(error) => Outcome::error(error.errno()),
                None => Outcome::value(0),
            }),
            Err(error) => Some(read_error(error)),
        }
    }

    fn try_poll(
        &mut self,
        now: Instant,
        fds: &[(i64, i64)],
        until: Option<Instant>,
    ) -> Option<Outcome> {
        let sockets = &mut self.sockets;
        let mut ready = |(fd, events): &(i64, i64)| match sockets.get_mut(fd) {
            Some(socket) => socket.poll() & (events | ALWAYS),
            None => constant("POLLNVAL").unwrap_or_default(),
        };
        let values: Vec<i64> = fds.iter().map(&mut ready).collect();
        let count = values.iter().filter(|ready| **ready != 0).count();
        let over = count > 0 || until.is_some_and(|until| until <= now);
        over.then_some(Outcome { values, ..Outcome::value(count as i64) })
    }

    fn close(&mut self, now: Instant, fd: i64) -> Option<Outcome> {
        if self.epolls.remove(&fd).is_some() || self.files.close(fd) {
            return Some(Outcome::value(0));
        }
        let Some(socket) = self.sockets.remove(&fd) else { return Some(Outcome::error("EBADF")) };
        self.epolls.values_mut().for_each(|epoll| epoll.forget(fd));
        match socket.stage {
            Stage::Fresh => {}
            Stage::Listening(mut listener) => {
                listener.close(now);
                while let Some((remote_port, transmit)) = listener.poll_transmit() {
                    let packet = addressed(
                        &transmit.whole(),
                        transmit.cause,
                        crate::LOCAL_PORT,
                        remote_port,
                    );
                    self.out.push_back(packet);
                }
            }
            Stage::Open(mut open) => {
                let linger = open.connection.options().linger.filter(|span| !span.is_zero());
                open.connection.close(now);
                let ports = open.ports();
                self.orphans.push(*open);
                if let Some(span) = linger {
                    // What is to be sent leaves before anybody waits for it.
                    self.collect(now);
                    return self.try_again(now, Waiting::Close { ports, until: now + span });
                }
            }
        }
        Some(Outcome::value(0))
    }

    /// `tcp_disconnect`: the connection is reset, the socket as good as new.
    fn disconnect(&mut self, now: Instant, fd: i64) -> Outcome {
        let Some(socket) = self.sockets.get_mut(&fd) else { return Outcome::error("EBADF") };
        match std::mem::replace(&mut socket.stage, Stage::Fresh) {
            Stage::Open(mut open) => {
                open.connection.abort(now);
                self.orphans.push(*open);
            }
            Stage::Fresh => {}
            listening @ Stage::Listening(_) => {
                socket.stage = listening;
                return Outcome::error("EISCONN");
            }
        }
        Outcome::value(0)
    }

    /// A read or write with a bad buffer address: the error shows where bytes would be copied.
    fn bad_buffer(&mut self, fd: i64, receives: bool) -> Outcome {
        let exists = self.sockets.contains_key(&fd);
        match self.open(fd) {
            Ok(open) if receives && open.connection.unread().as_u64() == 0 => {
                Outcome::error("EAGAIN")
            }
            Ok(_) => Outcome::error("EFAULT"),
            Err(_) if !receives && exists => Outcome::error("EFAULT"),
            Err(outcome) => outcome,
        }
    }

    /// `inet_shutdown`.
    fn shutdown(&mut self, now: Instant, fd: i64, how: i64) -> Result<Outcome, Refusal> {
        if !(0..=2).contains(&how) {
            return Ok(Outcome::error("EINVAL"));
        }
        if self.sockets.get(&fd).is_some_and(|s| matches!(s.stage, Stage::Listening(_))) {
            return Err(Refusal("shutdown of a listening socket".into()));
        }
        let open = match self.open(fd) {
            Ok(open) => open,
            Err(outcome) => return Ok(outcome),
        };
        if open.connection.state() == State::Closed {
            return Ok(Outcome::error("ENOTCONN"));
        }
        if how != 1 {
            open.shut.reads = true;
            open.connection.shutdown_reading();
        }
        if how != 0 {
            open.shut.writes = true;
            open.connection.shutdown(now);
        }
        Ok(Outcome::value(0))
    }
}

fn read_error(error: ReadError) -> Outcome {
    Outcome::error(match error {
        ReadError::WouldBlock => "EAGAIN",
        ReadError::NoUrgent => "EINVAL",
        ReadError::NotConnected => "ENOTCONN",
        ReadError::Broken(error) => error.errno(),
    })
}
