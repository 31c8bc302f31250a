//! The listening socket.

use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, ipproto, sockopt};

use crate::sys;

/// A listening socket.
#[derive(Debug)]
pub(crate) struct Listener {
    socket: OwnedFd,
}

/// The result of accepting.
#[derive(Debug)]
pub(crate) enum AcceptResult {
    /// A connection.
    Connection(OwnedFd),
    /// The queue is empty.
    NoneWaiting,
    /// Descriptors or memory are exhausted, or the socket failed: do not retry at once.
    Exhausted,
}

impl Listener {
    /// How long to wait for handshakes that had begun when the server stopped accepting SYNs: the
    /// rest of a handshake takes a round trip.
    pub(crate) const LATE_HANDSHAKES: Duration = Duration::from_millis(50);

    /// Listens at an address.
    pub(crate) fn open(address: SocketAddr, backlog: u32) -> io::Result<Listener> {
        let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let protocol = Some(ipproto::TCP);
        let socket = rustix::net::socket_with(family, SocketType::STREAM, flags, protocol)?;
        // Connections of an earlier server may be in TIME-WAIT.
        sockopt::set_socket_reuseaddr(&socket, true)?;
        // Accepted sockets inherit it. Answers are written whole, so none has to wait for the
        // acknowledgement of the previous one (RFC 9293, section 3.7.4).
        sockopt::set_tcp_nodelay(&socket, true)?;
        rustix::net::bind(&socket, &address)?;
        rustix::net::listen(&socket, i32::try_from(backlog).unwrap_or(i32::MAX))?;
        Ok(Listener { socket })
    }

    pub(crate) fn address(&self) -> io::Result<SocketAddr> {
        let address = rustix::net::getsockname(&self.socket)?;
        SocketAddr::try_from(address).map_err(Into::into)
    }

    /// Accepts without waiting.
    pub(crate) fn accept(&self) -> AcceptResult {
        self.accept_as(SocketFlags::CLOEXEC | SocketFlags::NONBLOCK)
    }

    /// As [`accept`](Self::accept), with other flags for the accepted socket.
    pub(crate) fn accept_as(&self, flags: SocketFlags) -> AcceptResult {
        loop {
            match rustix::net::accept_with(&self.socket, flags) {
                Ok(socket) => return AcceptResult::Connection(socket),
                Err(Errno::AGAIN) => return AcceptResult::NoneWaiting,
                Err(error) if is_passing(error) => {}
                Err(_) => return AcceptResult::Exhausted,
            }
        }
    }

    /// Refuses new connections from now on. Handshakes that have begun are finished and wait to be
    /// accepted.
    pub(crate) fn close_to_new(&self) {
        // Where this is not possible, closing the socket resets the last clients.
        let _ = sys::refuse_new_connections(self.socket.as_fd());
    }
}

/// Whether the error is of one connection only, or a signal: accept(2) returns the error of a
/// connection that broke before it was accepted ("Error handling").
pub(crate) fn is_passing(error: Errno) -> bool {
    matches!(
        error,
        Errno::INTR
            | Errno::CONNABORTED
            | Errno::NETDOWN
            | Errno::PROTO
            | Errno::NOPROTOOPT
            | Errno::HOSTDOWN
            | Errno::NONET
            | Errno::HOSTUNREACH
            | Errno::OPNOTSUPP
            | Errno::NETUNREACH
            | Errno::PERM
    )
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// The backoff after a failed accept: doubled each time, until one succeeds.
#[derive(Debug, Default)]
pub(crate) struct Pause {
    until: Option<Instant>,
    length: Duration,
}

impl Pause {
    const SHORTEST: Duration = Duration::from_millis(5);
    const LONGEST: Duration = Duration::from_millis(500);

    pub(crate) fn failed(&mut self, now: Instant) {
        self.length = (self.length * 2).clamp(Pause::SHORTEST, Pause::LONGEST);
        self.until = Some(now + self.length);
    }

    pub(crate) fn succeeded(&mut self) {
        *self = Pause::default();
    }

    /// The time that is left; none when it is over.
    pub(crate) fn left(&self, now: Instant) -> Option<Duration> {
        self.until?.checked_duration_since(now).filter(|left| !left.is_zero())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_failures_double_the_pause() {
        let now = Instant::now();
        let mut pause = Pause::default();
        assert_eq!(pause.left(now), None);
        let lengths: Vec<u128> = (0..9)
            .map(|_| {
                pause.failed(now);
                pause.left(now).map_or(0, |left| left.as_millis())
            })
            .collect();
        assert_eq!(lengths, [5, 10, 20, 40, 80, 160, 320, 500, 500]);
        assert_eq!(pause.left(now + Pause::LONGEST), None);
        pause.succeeded();
        pause.failed(now);
        assert_eq!(pause.left(now), Some(Pause::SHORTEST));
    }
}
