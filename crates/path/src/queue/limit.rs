//! How much may wait in a queue.

use std::fmt;

use serde::{Deserialize, Serialize};
use tcplab_units::Bytes;

/// How much may wait.
/// Only waiting packets count. The packet being sent has left the queue, as in Linux, where
/// the queueing discipline hands it to the device: `pfifo_enqueue` takes a packet while fewer
/// than the limit wait, `bfifo_enqueue` while those that wait and the packet together do not
/// exceed the limit in bytes (net/sched/sch_fifo.c).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum QueueLimit {
    /// In packets of any size.
    Packets(u32),
    /// In bytes of IP packets.
    Bytes(Bytes),
}

impl QueueLimit {
    /// Whether one of `size` may join `packets` of `bytes` together.
    pub(crate) fn has_room(self, packets: usize, bytes: Bytes, size: Bytes) -> bool {
        match self {
            QueueLimit::Packets(limit) => packets < limit as usize,
            QueueLimit::Bytes(limit) => bytes + size <= limit,
        }
    }

    /// Whether it is less than another; none where one is in packets and the other in bytes.
    pub(super) fn is_less(self, other: QueueLimit) -> Option<bool> {
        match (self, other) {
            (QueueLimit::Packets(one), QueueLimit::Packets(other)) => Some(one < other),
            (QueueLimit::Bytes(one), QueueLimit::Bytes(other)) => Some(one < other),
            _ => None,
        }
    }

    /// In bytes, where packets are full-sized: 1500 B.
    pub(crate) fn of_full_packets(self) -> Bytes {
        match self {
            QueueLimit::Packets(packets) => Bytes::new(u64::from(packets) * 1500),
            QueueLimit::Bytes(bytes) => bytes,
        }
    }

    /// The number of packets or bytes.
    pub(super) fn as_f64(self) -> f64 {
        match self {
            QueueLimit::Packets(packets) => f64::from(packets),
            QueueLimit::Bytes(bytes) => bytes.as_u64() as f64,
        }
    }
}

impl fmt::Display for QueueLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            QueueLimit::Packets(1) => f.write_str("1 packet"),
            QueueLimit::Packets(n) => write!(f, "{n} packets"),
            QueueLimit::Bytes(bytes) => bytes.fmt(f),
        }
    }
}
