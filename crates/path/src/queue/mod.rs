//! Where packets wait for a bottleneck.

mod drop_tail;
mod spec;

use std::fmt;

use serde::{Deserialize, Serialize};
use tcplab_units::{Bytes, Instant, Rng};

pub use spec::{BdpMultiple, QueueSize, QueueSizeError, QueueSpec, QueueTable, SMALLEST_QUEUE};

use crate::element::{Outbox, Transit};
use drop_tail::DropTail;

/// How a queue decides whom to drop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum QueuePlan {
    /// First in, first out; what finds no room is dropped.
    DropTail(QueueLimit),
}

/// How much may wait.
///
/// Only what waits counts. The packet being sent has left the queue, as it has in Linux, where
/// the queueing discipline hands it to the device: `pfifo_enqueue` takes a packet while fewer
/// than the limit wait, `bfifo_enqueue` while those that wait and the packet together do not
/// exceed the limit in bytes (net/sched/sch_fifo.c).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum QueueLimit {
    /// So many packets of any size.
    Packets(u32),
    /// So many bytes of IP packets.
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
}

impl QueuePlan {
    /// Whether it looks into packets, to tell flows apart, or changes them, to mark them.
    pub(crate) fn reads_packets(&self) -> bool {
        match self {
            QueuePlan::DropTail(_) => false,
        }
    }

    /// Such as `512 packets can wait, what comes then is dropped`.
    pub(crate) fn describe(&self) -> String {
        match self {
            QueuePlan::DropTail(limit) => format!("{limit} can wait, what comes then is dropped"),
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

/// A queue at work. Time never goes backwards between calls.
#[derive(Debug)]
pub(crate) enum Queue {
    DropTail(DropTail),
}

impl Queue {
    /// The queue planned, drawing from `stream` if its discipline is a random one.
    pub(crate) fn new(plan: &QueuePlan, _stream: impl FnOnce() -> Rng) -> Queue {
        match *plan {
            QueuePlan::DropTail(limit) => Queue::DropTail(DropTail::new(limit)),
        }
    }

    /// Takes a packet that arrives now, or drops it or others to make room.
    pub(crate) fn push(&mut self, now: Instant, packet: Transit, out: &mut Outbox) {
        match self {
            Queue::DropTail(queue) => queue.push(now, packet, out),
        }
    }

    /// The packet to send now, and since when it has waited; may drop others on the way.
    pub(crate) fn pop(&mut self, _now: Instant, _out: &mut Outbox) -> Option<(Instant, Transit)> {
        match self {
            Queue::DropTail(queue) => queue.pop(),
        }
    }

    /// What waits, roughly next to be sent first.
    pub(crate) fn held(&self) -> Box<dyn Iterator<Item = &Transit> + '_> {
        match self {
            Queue::DropTail(queue) => Box::new(queue.iter()),
        }
    }

    /// Lets go of all that waits, in the order of [`held`](Self::held).
    pub(crate) fn release(&mut self, into: &mut Vec<Transit>) {
        match self {
            Queue::DropTail(queue) => {
                into.extend(std::iter::from_fn(|| queue.pop()).map(|(_, packet)| packet));
            }
        }
    }
}
