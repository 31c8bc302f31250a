//! What a server is to be.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use tcplab_units::ServerDesign;

/// What is served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject {
    /// What comes goes back (RFC 862).
    Echo,
    /// The time of day as text, and the end (RFC 867).
    Daytime,
    /// What comes is thrown away (RFC 863).
    Discard,
    /// Characters without end (RFC 864).
    Chargen,
    /// A file, or the files of a folder, over HTTP/1.1.
    Http(PathBuf),
    /// UDP only: the client sends its time, the server answers with its own.
    Time,
    /// UDP only: probes of `tcplab latency` are answered with the times of this host.
    Latency,
    /// UDP only: the client names a user, the server says whether that user is logged in.
    Users,
}

/// What carries it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transport {
    /// Connections.
    Tcp,
    /// Datagrams.
    Udp,
}

/// How much one client, or all together, may ask of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Open connections; more wait in the kernel's queue.
    pub connections: usize,
    /// How long nothing may happen on a connection.
    pub idle: Duration,
    /// How long a request may take to arrive, from its first byte to its last: a client that sends
    /// a byte now and then ("slow loris") is never idle.
    pub request: Duration,
    /// Once asked to stop: how long what was accepted has to be finished.
    pub drain: Duration,
}

impl Limits {
    /// Once asked to stop: how long a connection on which nothing is going on stays open, as its
    /// next request may be on its way.
    pub const LAST_REQUEST: Duration = Duration::from_millis(500);
    /// How long a client is listened to after the last answer, so that what it still sends does
    /// not reset the connection before it has read that answer (RFC 9112, section 9.6).
    pub const LINGER: Duration = Duration::from_secs(2);
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            connections: 20_000,
            idle: Duration::from_secs(60),
            request: Duration::from_secs(10),
            drain: Duration::from_secs(5),
        }
    }
}

/// The configuration of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// How connections are carried.
    pub design: ServerDesign,
    /// Processes, threads or event loops of the designs that have a fixed number; from 1 to 1024.
    pub workers: usize,
    /// What is served.
    pub subject: Subject,
    /// What carries it.
    pub transport: Transport,
    /// Where it listens; port 0 lets the kernel choose.
    pub address: SocketAddr,
    /// Connections that may wait to be accepted; the kernel takes at most `net.core.somaxconn`.
    pub backlog: u32,
    /// How much clients may ask.
    pub limits: Limits,
}

impl Config {
    /// More workers than anybody has a use for.
    pub const MOST_WORKERS: usize = 1024;

    /// Whether a design has a fixed number of workers, which can be chosen.
    pub fn has_workers(design: ServerDesign) -> bool {
        !matches!(design, ServerDesign::Iterative | ServerDesign::Fork | ServerDesign::Thread)
    }

    /// The default number of workers: one per processor for event loops, some more where each waits
    /// for its connection, one where more make no sense.
    pub fn default_workers(design: ServerDesign) -> usize {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        match design {
            ServerDesign::Iterative | ServerDesign::Fork | ServerDesign::Thread => 1,
            ServerDesign::Prefork | ServerDesign::ThreadPool => 8,
            ServerDesign::Epoll | ServerDesign::IoUring => processors.min(64),
        }
    }

    /// A server on this machine only, on a port that the kernel chooses.
    pub fn new(design: ServerDesign, subject: Subject) -> Config {
        let transport = match subject {
            Subject::Time | Subject::Users | Subject::Latency => Transport::Udp,
            _ => Transport::Tcp,
        };
        Config {
            design,
            workers: Config::default_workers(design),
            subject,
            transport,
            address: SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0),
            backlog: 4096,
            limits: Limits::default(),
        }
    }
}
