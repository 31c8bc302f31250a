//! Where packets wait for a bottleneck.

use std::collections::VecDeque;

use tcplab_units::{Bytes, Instant};

use crate::Cause;
use crate::element::Transit;

/// How a queue decides whom to drop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum QueueLimit {
    /// So many packets of any size.
    Packets(u32),
    /// So many bytes of IP packets.
    Bytes(Bytes),
}

/// A drop-tail queue.
#[derive(Debug)]
pub(crate) struct DropTail {
    limit: QueueLimit,
    /// With the instant each came.
    waiting: VecDeque<(Instant, Transit)>,
    bytes: Bytes,
}

impl DropTail {
    pub(crate) fn new(limit: QueueLimit) -> DropTail {
        DropTail { limit, waiting: VecDeque::new(), bytes: Bytes::ZERO }
    }

    /// Takes the packet if there is room, else gives it back with the cause to drop it for.
    pub(crate) fn push(&mut self, now: Instant, packet: Transit) -> Option<(Transit, Cause)> {
        let size = packet.packet.size();
        let has_room = match self.limit {
            QueueLimit::Packets(limit) => self.waiting.len() < limit as usize,
            QueueLimit::Bytes(limit) => self.bytes + size <= limit,
        };
        if !has_room {
            let packets = u32::try_from(self.waiting.len()).unwrap_or(u32::MAX);
            return Some((packet, Cause::QueueFull { packets, bytes: self.bytes }));
        }
        self.bytes += size;
        self.waiting.push_back((now, packet));
        None
    }

    /// The packet that has waited longest, and since when.
    pub(crate) fn pop(&mut self) -> Option<(Instant, Transit)> {
        let (queued, packet) = self.waiting.pop_front()?;
        self.bytes = self.bytes - packet.packet.size();
        Some((queued, packet))
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Transit> {
        self.waiting.iter().map(|(_, packet)| packet)
    }
}
