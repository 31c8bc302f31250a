//! Packets in a row, as every discipline keeps them.

use std::collections::VecDeque;

use tcplab_units::{Bytes, Instant};

use super::limit::QueueLimit;
use crate::Cause;
use crate::behaviour::Transit;

/// A packet, and since when it has waited.
pub(crate) type Queued = (Instant, Transit);

/// First in, first out; knows since when each has waited, and how much they are together.
#[derive(Debug, Default)]
pub(super) struct Fifo {
    waiting: VecDeque<Queued>,
    bytes: Bytes,
}

impl Fifo {
    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }
    pub(super) fn bytes(&self) -> Bytes {
        self.bytes
    }
    /// As verdicts count them.
    pub(super) fn packets(&self) -> u32 {
        count(self.len())
    }
    pub(super) fn has_room(&self, limit: QueueLimit, size: Bytes) -> bool {
        limit.has_room(self.len(), self.bytes, size)
    }
    /// Why a packet that comes now is dropped, or another to make room for it.
    pub(super) fn full(&self) -> Cause {
        Cause::QueueFull { packets: self.packets(), bytes: self.bytes }
    }

    pub(super) fn push(&mut self, now: Instant, packet: Transit) {
        self.bytes += packet.packet.size();
        self.waiting.push_back((now, packet));
    }
    /// The one that has waited longest, and since when.
    pub(super) fn pop(&mut self) -> Option<Queued> {
        let (queued, packet) = self.waiting.pop_front()?;
        self.bytes = self.bytes - packet.packet.size();
        Some((queued, packet))
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Transit> {
        self.waiting.iter().map(|(_, packet)| packet)
    }
    pub(super) fn release(&mut self, into: &mut Vec<Transit>) {
        into.extend(self.waiting.drain(..).map(|(_, packet)| packet));
        self.bytes = Bytes::ZERO;
    }
}

/// A number of packets as verdicts have it.
pub(super) fn count(packets: usize) -> u32 {
    u32::try_from(packets).unwrap_or(u32::MAX)
}
