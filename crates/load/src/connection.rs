//! One connection of a load, and the request that is on it.

use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, ipproto, sockopt};

use crate::error::Fault;
use crate::reference::Standard;
use crate::reply::{KeepsAfter, Kind, Reply, Verdict};

/// What every request of a load has in common.
#[derive(Debug)]
pub(crate) struct Question {
    pub(crate) address: SocketAddr,
    pub(crate) bytes: Vec<u8>,
    pub(crate) kind: Kind,
    pub(crate) standard: Standard,
    /// How long an exchange may take, from when it is sent or its connection begun.
    pub(crate) timeout: Duration,
}

/// A connection, or the place for one.
#[derive(Debug, Default)]
pub(crate) struct Connection {
    socket: Option<OwnedFd>,
    is_connected: bool,
    /// Whether it stood before its request: the server may have ended it meanwhile.
    was_idle: bool,
    /// When connecting began.
    began: Option<Instant>,
    exchange: Option<Exchange>,
    /// Whether it is among those that were used after the warm-up.
    is_counted: bool,
    /// When it was last free for another request; none if it always was.
    pub(crate) freed: Option<Instant>,
}

/// A request and what is known of its answer.
#[derive(Debug)]
struct Exchange {
    /// When it was due, or else begun.
    since: Instant,
    /// An answer from then on is too late.
    deadline: Instant,
    sent: usize,
    first_byte: Option<Instant>,
    reply: Reply,
}

/// An event of a connection.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Event {
    /// It stands, and began to then.
    Connected { began: Instant },
    /// Bytes came, for an exchange that counts from `since`; none: between two of them.
    Received { bytes: u64, since: Option<Instant> },
    /// The exchange is over; the connection may be used again if it is still open.
    Over { since: Instant, first_byte: Option<Instant>, result: Result<(), Fault> },
}

impl Connection {
    /// Whether it is open, or about to be.
    pub(crate) fn has_socket(&self) -> bool {
        self.socket.is_some()
    }

    pub(crate) fn is_connected(&self) -> bool {
        self.is_connected
    }

    /// Notes that it is used; says whether that is the first time since it was made.
    pub(crate) fn count(&mut self) -> bool {
        !std::mem::replace(&mut self.is_counted, true)
    }

    /// When the exchange, if there is one, was begun or due.
    pub(crate) fn busy_since(&self) -> Option<Instant> {
        self.exchange.as_ref().map(|exchange| exchange.since)
    }

    /// Whether there is an exchange whose answer would be too late.
    pub(crate) fn is_overdue(&self, now: Instant) -> bool {
        self.exchange.as_ref().is_some_and(|exchange| now >= exchange.deadline)
    }

    /// Whether a part of an answer has come.
    pub(crate) fn is_receiving(&self) -> bool {
        self.exchange.as_ref().is_some_and(|exchange| exchange.first_byte.is_some())
    }

    /// Begins an exchange that counts from `since`; says whether there is a connection for it.
    pub(crate) fn begin(&mut self, question: &Question, since: Instant, now: Instant) -> bool {
        let reply = Reply::new(question.kind, &question.standard);
        let deadline = now + question.timeout;
        self.exchange = Some(Exchange { since, deadline, sent: 0, first_byte: None, reply });
        self.was_idle = self.is_connected;
        self.socket.is_some()
    }

    /// Connects for the exchange; returns the socket to watch. `source`: the address that it
    /// connects from; none: the system's choice.
    pub(crate) fn open(
        &mut self,
        address: SocketAddr,
        source: Option<IpAddr>,
        now: Instant,
    ) -> Result<&OwnedFd, Fault> {
        self.began = Some(now);
        self.is_connected = false;
        self.was_idle = false;
        self.is_counted = false;
        let socket = connect(address, source).map_err(Fault::of)?;
        Ok(self.socket.insert(socket))
    }

    /// A server may end a connection while the next request is on its way to it. GET may then be
    /// repeated on another one (RFC 9112 section 9.3.1, RFC 9110 section 9.2.2); says whether it
    /// is, for which one is to be opened.
    pub(crate) fn retry(&mut self, question: &Question, fault: Fault) -> bool {
        let is_ended = matches!(fault, Fault::Closed | Fault::Reset);
        let Some(exchange) = &mut self.exchange else { return false };
        if !is_ended
            || !self.was_idle
            || exchange.first_byte.is_some()
            || question.kind != Kind::Http
        {
            return false;
        }
        exchange.sent = 0;
        self.close();
        true
    }

    /// Continues as far as it can, and reports events and when they happened. `buffer` is for what
    /// is received; an answer that arrives without a pause is left at `last`, to be given up.
    /// `is_ended`: the server has ended its side, which is not reported once more. Says whether the
    /// exchange needs another connection.
    pub(crate) fn go_on(
        &mut self,
        question: &Question,
        (now, last, is_ended): (Instant, Option<Instant>, bool),
        buffer: &mut [u8],
        report: &mut dyn FnMut(Event, Instant),
    ) -> bool {
        match self.try_to_go_on(question, (now, last, is_ended), buffer, report) {
            Err(fault) if self.retry(question, fault) => return true,
            Err(fault) => self.give_up(fault, now, report),
            Ok(()) => {}
        }
        false
    }

    /// The exchange, if there is one, has failed, and the connection with it.
    pub(crate) fn give_up(
        &mut self,
        fault: Fault,
        now: Instant,
        report: &mut dyn FnMut(Event, Instant),
    ) {
        self.close();
        if let Some(exchange) = self.exchange.take() {
            report(exchange.over(Err(fault), now), now);
        }
    }

    pub(crate) fn close(&mut self) {
        self.socket = None;
        self.is_connected = false;
        self.began = None;
    }

    fn try_to_go_on(
        &mut self,
        question: &Question,
        (now, last, is_ended): (Instant, Option<Instant>, bool),
        buffer: &mut [u8],
        report: &mut dyn FnMut(Event, Instant),
    ) -> Result<(), Fault> {
        let Some(socket) = &self.socket else { return Ok(()) };
        if !self.is_connected {
            if !stands(socket)? {
                return Ok(());
            }
            self.is_connected = true;
            report(Event::Connected { began: self.began.unwrap_or(now) }, now);
        }
        // What comes after sending, or after a part of the answer, came later than `now`.
        let (mut is_later, mut has_sent) = (false, false);
        if let Some(exchange) = &mut self.exchange
            && exchange.sent < question.bytes.len()
        {
            exchange.send(socket, &question.bytes)?;
            (is_later, has_sent) = (true, true);
        }
        loop {
            let received = rustix::net::recv(socket, &mut *buffer, RecvFlags::empty());
            let at = if is_later { Instant::now() } else { now };
            let count = match received {
                Ok((count, _)) => count,
                Err(Errno::AGAIN) => return Ok(()),
                Err(Errno::INTR) => continue,
                Err(error) => return Err(Fault::of(error)),
            };
            report(Event::Received { bytes: count as u64, since: self.busy_since() }, at);
            is_later = true;
            let Some(exchange) = &mut self.exchange else {
                // A server may end a connection on which nothing is going on. It may not talk.
                self.close();
                return Ok(());
            };
            if count > 0 {
                exchange.first_byte.get_or_insert(at);
            }
            let verdict = match count {
                0 if exchange.first_byte.is_none() => return Err(Fault::Closed),
                0 => exchange.reply.end(&question.standard),
                _ => exchange.reply.receive(&buffer[..count], &question.standard),
            };
            let (result, keeps) = match verdict {
                // The end is left to be read, if it is there.
                Verdict::More if count < buffer.len() && !is_ended => return Ok(()),
                Verdict::More if last.is_some_and(|last| at >= last) => return Ok(()),
                Verdict::More => continue,
                // A server that answers before it was asked everything has not listened.
                Verdict::Good { .. } if exchange.sent < question.bytes.len() => {
                    (Err(Fault::Protocol), false)
                }
                Verdict::Good { keeps } => (Ok(()), keeps),
                Verdict::Bad(fault, KeepsAfter(keeps)) => (Err(fault), keeps),
            };
            // An answer that comes at once may bring an end of which `is_ended` cannot know.
            let is_ended = is_ended || has_sent && is_at_end(socket);
            let exchange = self.exchange.take().expect("it was there");
            if !keeps || is_ended {
                self.close();
            }
            report(exchange.over(result, at), at);
            return Ok(());
        }
    }

    /// Sends the request at once, if connected already.
    pub(crate) fn send(&mut self, question: &Question) -> Result<(), Fault> {
        match (&self.socket, &mut self.exchange) {
            (Some(socket), Some(exchange)) if self.is_connected => {
                exchange.send(socket, &question.bytes)
            }
            _ => Ok(()),
        }
    }
}

impl Exchange {
    fn over(&self, result: Result<(), Fault>, at: Instant) -> Event {
        let result = if at >= self.deadline { Err(Fault::Timeout) } else { result };
        Event::Over { since: self.since, first_byte: self.first_byte, result }
    }

    fn send(&mut self, socket: &OwnedFd, bytes: &[u8]) -> Result<(), Fault> {
        while self.sent < bytes.len() {
            match rustix::net::send(socket, &bytes[self.sent..], SendFlags::NOSIGNAL) {
                Ok(count) => self.sent += count,
                Err(Errno::AGAIN) => break,
                Err(Errno::INTR) => {}
                Err(error) => return Err(Fault::of(error)),
            }
        }
        Ok(())
    }
}

/// Whether a socket is connected by now.
fn stands(socket: &OwnedFd) -> Result<bool, Fault> {
    // Both "not yet" and "it has failed" are reported by the socket.
    sockopt::socket_error(socket).and_then(|error| error).map_err(Fault::of)?;
    match rustix::net::getpeername(socket) {
        Ok(_) => Ok(true),
        Err(Errno::NOTCONN) => Ok(false),
        Err(error) => Err(Fault::of(error)),
    }
}

/// Whether the end is what comes next.
fn is_at_end(socket: &OwnedFd) -> bool {
    let next = rustix::net::recv(socket, &mut [0; 1], RecvFlags::PEEK | RecvFlags::DONTWAIT);
    matches!(next, Ok((0, _)))
}

fn connect(address: SocketAddr, source: Option<IpAddr>) -> Result<OwnedFd, Errno> {
    let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = rustix::net::socket_with(family, SocketType::STREAM, flags, Some(ipproto::TCP))?;
    // Requests are written whole: none has to wait for an acknowledgement.
    sockopt::set_tcp_nodelay(socket.as_fd(), true)?;
    if let Some(source) = source {
        rustix::net::bind(&socket, &SocketAddr::new(source, 0))?;
    }
    match rustix::net::connect(&socket, &address) {
        Ok(()) | Err(Errno::INPROGRESS) => Ok(socket),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn answer_on_a_new_connection_comes_after_its_request() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let question = Question {
            address: listener.local_addr().unwrap(),
            bytes: b"?".to_vec(),
            kind: Kind::Exactly(1),
            standard: Standard::None,
            timeout: Duration::from_secs(10),
        };
        let now = Instant::now();
        let mut connection = Connection::default();
        connection.begin(&question, now, now);
        connection.open(question.address, None, now).unwrap();
        // The answer is there when the request is sent.
        let mut server = listener.accept().unwrap().0;
        server.write_all(b"!").unwrap();
        let mut events = Vec::new();
        // Until the byte has passed the loopback.
        while !matches!(events.last(), Some((Event::Over { .. }, _))) {
            let mut report = |event, at| events.push((event, at));
            connection.go_on(&question, (now, None, false), &mut [0; 8], &mut report);
        }
        assert!(matches!(events[0], (Event::Connected { .. }, at) if at == now), "{events:?}");
        let Some((Event::Over { first_byte: Some(first), result: Ok(()), .. }, over)) =
            events.last()
        else {
            panic!("answered: {events:?}")
        };
        assert!(*first > now && over >= first, "{events:?}");
    }

    #[test]
    fn answer_after_its_deadline_is_a_timeout() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let question = Question {
            address: listener.local_addr().unwrap(),
            bytes: b"?".to_vec(),
            kind: Kind::Exactly(1),
            standard: Standard::None,
            timeout: Duration::from_nanos(1),
        };
        // It was due long ago, and is sent now.
        let now = Instant::now();
        let mut connection = Connection::default();
        connection.begin(&question, now.checked_sub(Duration::from_secs(1)).unwrap(), now);
        connection.open(question.address, None, now).unwrap();
        assert!(!connection.is_overdue(now));
        let mut server = listener.accept().unwrap().0;
        server.write_all(b"!").unwrap();
        let mut ended = None;
        while ended.is_none() {
            let mut report = |event, _| {
                if let Event::Over { result, .. } = event {
                    ended = Some(result);
                }
            };
            connection.go_on(&question, (now, None, false), &mut [0; 8], &mut report);
        }
        assert_eq!(ended, Some(Err(Fault::Timeout)));
    }
}
