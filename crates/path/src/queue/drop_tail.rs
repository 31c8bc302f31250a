//! First in, first out; what finds no room is dropped.

use std::collections::VecDeque;

use tcplab_units::{Bytes, Instant};

use super::QueueLimit;
use crate::Cause;
use crate::element::{Outbox, Transit};

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

    pub(crate) fn push(&mut self, now: Instant, packet: Transit, out: &mut Outbox) {
        let size = packet.packet.size();
        if self.limit.has_room(self.waiting.len(), self.bytes, size) {
            self.bytes += size;
            self.waiting.push_back((now, packet));
        } else {
            let packets = u32::try_from(self.waiting.len()).unwrap_or(u32::MAX);
            out.drop(now, packet, Cause::QueueFull { packets, bytes: self.bytes });
        }
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
