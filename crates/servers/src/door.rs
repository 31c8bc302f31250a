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
pub(crate) struct Door {
    socket: OwnedFd,
}

/// What came of accepting.
#[derive(Debug)]
pub(crate) enum Knock {
    /// A connection.
    Came(OwnedFd),
    /// Nobody waits.
    Nobody,
    /// Descriptors or memory are used up, or something is wrong: there is no use in trying again
    /// at once.
    Exhausted,
}

impl Door {
    /// How long to wait, once nobody new can come, for those who had begun to: the rest of a
    /// handshake takes a round trip.
    pub(crate) const LATECOMERS: Duration = Duration::from_millis(50);

    /// Listens at an address.
    pub(crate) fn open(address: SocketAddr, backlog: u32) -> io::Result<Door> {
        let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let protocol = Some(ipproto::TCP);
        let socket = rustix::net::socket_with(family, SocketType::STREAM, flags, protocol)?;
        // Connections of a server before this one may be in TIME_WAIT.
        sockopt::set_socket_reuseaddr(&socket, true)?;
        // Inherited by what is accepted: answers are written whole, none of them has to wait for
        // the acknowledgement of the one before (RFC 9293, section 3.7.4).
        sockopt::set_tcp_nodelay(&socket, true)?;
        rustix::net::bind(&socket, &address)?;
        rustix::net::listen(&socket, i32::try_from(backlog).unwrap_or(i32::MAX))?;
        Ok(Door { socket })
    }

    pub(crate) fn address(&self) -> io::Result<SocketAddr> {
        let address = rustix::net::getsockname(&self.socket)?;
        SocketAddr::try_from(address).map_err(Into::into)
    }

    /// Accepts without waiting.
    pub(crate) fn accept(&self) -> Knock {
        self.accept_as(SocketFlags::CLOEXEC | SocketFlags::NONBLOCK)
    }

    /// The same with flags of one's own for what is accepted.
    pub(crate) fn accept_as(&self, flags: SocketFlags) -> Knock {
        loop {
            match rustix::net::accept_with(&self.socket, flags) {
                Ok(socket) => return Knock::Came(socket),
                Err(Errno::AGAIN) => return Knock::Nobody,
                Err(error) if is_passing(error) => {}
                Err(_) => return Knock::Exhausted,
            }
        }
    }

    /// From now on nobody new comes: what has begun to connect still can, and waits to be accepted.
    /// To those who come later it is as if the server did not answer, until it is closed.
    pub(crate) fn close_to_new(&self) {
        // Where that is refused, who comes at the last moment is turned away by the closing itself.
        let _ = sys::drop_new_connections(self.socket.as_fd());
    }
}

/// Whether a signal came, or that connection broke before it was accepted, which is told as the
/// error of accepting it (accept(2), "Error handling").
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

impl AsFd for Door {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// How long to let accepting be after it failed: longer each time, until it succeeds.
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

    /// How long it still lasts; none when it is over.
    pub(crate) fn left(&self, now: Instant) -> Option<Duration> {
        self.until?.checked_duration_since(now).filter(|left| !left.is_zero())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_become_longer_and_end() {
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
