//! Errors: of the whole load, and of one request.

use std::io;
use std::net::SocketAddr;

use rustix::io::Errno;

/// Why a load cannot run.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// No server accepts a connection.
    #[error("cannot connect to {address}: {source}")]
    Unreachable {
        /// Who was tried.
        address: SocketAddr,
        /// The error of the kernel.
        source: io::Error,
    },
    /// The limit on descriptors is too low.
    #[error("{connections} connections need as many descriptors; the limit is {allowed}")]
    Descriptors {
        /// What was asked for.
        connections: usize,
        /// `RLIMIT_NOFILE`.
        allowed: u64,
    },
    /// The configuration is contradictory.
    #[error("{0}")]
    Invalid(String),
    /// A system call failed that normally succeeds.
    #[error("cannot {what}: {source}")]
    System {
        /// What was tried.
        what: &'static str,
        /// The error of the kernel.
        source: io::Error,
    },
}

impl LoadError {
    /// What would help, where that is known.
    pub fn remedy(&self) -> Option<String> {
        match self {
            LoadError::Unreachable { source, .. } => match source.kind() {
                io::ErrorKind::ConnectionRefused => Some(
                    "no server listens there: start one, such as `tcplab server`, and use the address \
                     that it prints"
                        .into(),
                ),
                io::ErrorKind::TimedOut => Some(
                    "the host does not answer: check that it is up, the route, and firewalls"
                        .into(),
                ),
                _ => None,
            },
            LoadError::Descriptors { .. } => {
                Some("raise it with `ulimit -n`, or use fewer connections".into())
            }
            _ => None,
        }
    }
}

/// Names the call that failed.
pub(crate) fn system<E: Into<io::Error>>(what: &'static str) -> impl FnOnce(E) -> LoadError {
    move |source| LoadError::System { what, source: source.into() }
}

/// Why a request was not answered as it should have been.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// The port was closed.
    Refused,
    /// There was no way there.
    Unreachable,
    /// This machine had no port left: each connection takes one, also a minute after its end.
    NoPort,
    /// This process had no descriptor left.
    NoDescriptor,
    /// The server reset the connection.
    Reset,
    /// The server ended the connection before its answer was whole.
    Closed,
    /// The answer, or the connection, took too long.
    Timeout,
    /// The answer said that something is wrong (its status is 400 or above).
    Status,
    /// The response has the wrong length or content.
    Body,
    /// The response is malformed.
    Protocol,
    /// Something else.
    Other,
}

impl Fault {
    /// All of them.
    pub const ALL: [Fault; 11] = [
        Fault::Refused,
        Fault::Unreachable,
        Fault::NoPort,
        Fault::NoDescriptor,
        Fault::Reset,
        Fault::Closed,
        Fault::Timeout,
        Fault::Status,
        Fault::Body,
        Fault::Protocol,
        Fault::Other,
    ];

    /// As it is shown.
    pub const fn name(self) -> &'static str {
        match self {
            Fault::Refused => "refused",
            Fault::Unreachable => "unreachable",
            Fault::NoPort => "no port left",
            Fault::NoDescriptor => "no descriptor left",
            Fault::Reset => "reset",
            Fault::Closed => "closed early",
            Fault::Timeout => "timeout",
            Fault::Status => "bad status",
            Fault::Body => "wrong body",
            Fault::Protocol => "malformed response",
            Fault::Other => "other",
        }
    }

    pub(crate) fn of(error: Errno) -> Fault {
        match error {
            Errno::CONNREFUSED => Fault::Refused,
            Errno::HOSTUNREACH | Errno::NETUNREACH | Errno::HOSTDOWN | Errno::NETDOWN => {
                Fault::Unreachable
            }
            Errno::ADDRNOTAVAIL | Errno::ADDRINUSE => Fault::NoPort,
            Errno::MFILE | Errno::NFILE => Fault::NoDescriptor,
            Errno::CONNRESET | Errno::PIPE | Errno::CONNABORTED => Fault::Reset,
            Errno::TIMEDOUT => Fault::Timeout,
            _ => Fault::Other,
        }
    }
}
