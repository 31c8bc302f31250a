//! Errors: of the whole load, and of one request.

use std::fmt;
use std::io;
use std::net::SocketAddr;

use rustix::io::Errno;
use tcplab_units::MORE_PROCESSES;

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
    /// No server answers probes.
    #[error("no answer to probes from {address} (UDP)")]
    Silent {
        /// Who was tried.
        address: SocketAddr,
    },
    /// A server sends back what a discard server throws away.
    #[error("{address} sends data during an upload: it is no discard server")]
    NoDiscard {
        /// Who was tried.
        address: SocketAddr,
    },
    /// A server takes nothing of an upload, and does not close.
    #[error("{address} acknowledged no data of the upload in 30 s")]
    TakesNothing {
        /// Who was tried.
        address: SocketAddr,
    },
    /// The kernel does not have a congestion control, or this user may not choose it.
    #[error("cannot use the congestion control `{name}`: {}", refusal(refused))]
    Congestion {
        /// What was asked for.
        name: String,
        /// The error of the kernel, which the message words.
        refused: io::Error,
    },
    /// A server sends nothing where a chargen server sends without end.
    #[error("{address} sent no data to download: it is no chargen server")]
    NoChargen {
        /// Who was tried.
        address: SocketAddr,
    },
    /// All connections were reset before they carried anything.
    #[error("{address} reset all connections before they carried data, or the path broke")]
    Broken {
        /// Who was tried.
        address: SocketAddr,
        /// The service that this needs.
        service: &'static str,
    },
    /// The limit on descriptors is too low.
    #[error("{connections} connections need {needed} descriptors; the limit is {allowed}")]
    Descriptors {
        /// What was asked for.
        connections: usize,
        /// With those of threads, and some for the rest.
        needed: u64,
        /// `RLIMIT_NOFILE`.
        allowed: u64,
    },
    /// The configuration is contradictory.
    #[error("{0}")]
    Invalid(String),
    /// There are as many processes and threads as there may be, or no memory for another.
    #[error("cannot start a thread: {source}")]
    Process {
        /// The error of the kernel.
        source: io::Error,
    },
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
            LoadError::Silent { address } => Some(format!(
                "start `tcplab server --service latency --address ADDRESS --port {}` on that host, \
                 and let UDP pass its firewall",
                address.port()
            )),
            LoadError::TakesNothing { .. } => Some(
                "check the path to it; `tcplab server --service discard` makes a server for this"
                    .into(),
            ),
            LoadError::Broken { service, .. } => Some(format!(
                "see what that server says; `tcplab server --service {service}` makes one for this"
            )),
            LoadError::NoDiscard { .. } => {
                Some("start one with `tcplab server --service discard`".into())
            }
            LoadError::Congestion { refused, .. } => {
                congestion_controls(refused).map(|it| format!("there are {it}"))
            }
            LoadError::NoChargen { .. } => {
                Some("start one with `tcplab server --service chargen`".into())
            }
            LoadError::Descriptors { .. } => {
                Some("raise it with `ulimit -n`, or use fewer connections".into())
            }
            LoadError::Process { .. } => Some(MORE_PROCESSES.into()),
            _ => None,
        }
    }
}

/// Why a congestion control cannot be chosen (tcp(7), `TCP_CONGESTION`).
fn refusal(refused: &io::Error) -> String {
    match refused.kind() {
        io::ErrorKind::NotFound => "this kernel does not have it".into(),
        io::ErrorKind::PermissionDenied => "this kernel allows it to root alone".into(),
        _ => refused.to_string(),
    }
}

/// Those that this kernel has, or that it allows any user (ip-sysctl).
fn congestion_controls(refused: &io::Error) -> Option<String> {
    let which = match refused.kind() {
        io::ErrorKind::PermissionDenied => "allowed",
        _ => "available",
    };
    let text =
        std::fs::read_to_string(format!("/proc/sys/net/ipv4/tcp_{which}_congestion_control"));
    text.ok().map(|text| text.split_whitespace().collect::<Vec<_>>().join(", "))
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Fault::Refused => "refused",
            Fault::Unreachable => "unreachable",
            Fault::NoPort => "no port left",
            Fault::NoDescriptor => "no descriptor left",
            Fault::Reset => "reset",
            Fault::Closed => "closed early",
            Fault::Timeout => "timeout",
            Fault::Status(code) => return write!(f, "status {code}"),
            Fault::Body => "wrong body",
            Fault::Protocol => "malformed response",
            Fault::Other => "other",
        })
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
    /// The answer said that something is wrong: its status, which is not one of 200 to 399.
    Status(u16),
    /// The response has the wrong length or content.
    Body,
    /// The response is malformed.
    Protocol,
    /// Something else.
    Other,
}

impl Fault {
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
