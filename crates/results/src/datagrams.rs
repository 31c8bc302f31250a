//! Datagrams of a trial without a connection.

use tcplab_units::{Endpoint, Instant};
use tcplab_workload::{DatagramMark, RequestReport};

/// What the ends of a trial said to one another in datagrams.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Correspondence {
    /// The client's requests, in order.
    pub requests: Vec<RequestReport>,
    /// Every datagram that was sent or made, in order of time.
    pub datagrams: Vec<DatagramRow>,
}

/// A datagram, and what became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DatagramRow {
    /// Who sent it, or would have sent a copy that the path made.
    pub from: Endpoint,
    /// What it is.
    pub kind: DatagramKind,
    /// Which request and try it is about, where the capture holds so much of it.
    pub mark: Option<DatagramMark>,
    /// Whether the path made it.
    pub is_copy: bool,
    /// When it came to the path.
    pub sent: Instant,
    /// When it came to the other end.
    pub arrived: Option<Instant>,
    /// Why it did not, in words; `not seen at the other end` where the path has no log.
    pub lost: Option<String>,
    /// Its frame in the client's capture, if it passed there.
    pub frame: Option<u64>,
}

/// What a datagram is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum DatagramKind {
    /// Of the client.
    Request,
    /// Of the server.
    Answer,
    /// ICMP "port unreachable", about one of these.
    Unreachable,
}

impl Correspondence {
    /// Those that the path dropped.
    pub fn lost(&self) -> usize {
        self.datagrams.iter().filter(|row| row.lost.is_some()).count()
    }
}
