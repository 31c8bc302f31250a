//! Datagrams of a trial without a connection.

use std::collections::BTreeSet;

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
    /// The same number for a datagram and all copies that the path made of it.
    pub packet: u64,
    /// Whether the path made it.
    pub is_copy: bool,
    /// When it came to the path.
    pub sent: Instant,
    /// When it came to the other end, though perhaps damaged.
    pub arrived: Option<Instant>,
    /// Why it did not, or not intact, in words; `not seen at the other end` where the path has no
    /// log.
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
    /// Those of which no copy arrived intact.
    pub fn lost(&self) -> usize {
        let of = |keep: fn(&&DatagramRow) -> bool| -> BTreeSet<u64> {
            self.datagrams.iter().filter(keep).map(|row| row.packet).collect()
        };
        of(|_| true).len() - of(|row| row.lost.is_none()).len()
    }
}
