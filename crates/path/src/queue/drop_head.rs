//! First in, first out; the one that has waited longest gives way to what finds no room.

use tcplab_units::Instant;

use super::fifo::Fifo;
use super::{Discipline, QueueLimit};
use crate::element::{Outbox, Transit};

/// A drop-head queue, as Linux's `pfifo_head_drop` (net/sched/sch_fifo.c): what is lost is old, and
/// the sender learns of it a queue's length sooner.
#[derive(Debug)]
pub(crate) struct DropHead {
    limit: QueueLimit,
    waiting: Fifo,
}

impl DropHead {
    pub(super) fn new(limit: QueueLimit) -> DropHead {
        DropHead { limit, waiting: Fifo::default() }
    }
}

impl Discipline for DropHead {
    fn push(&mut self, now: Instant, packet: Transit, out: &mut Outbox) {
        let size = packet.packet.size();
        // For one that is larger than the whole queue nobody needs to give way.
        if !Fifo::default().has_room(self.limit, size) {
            out.drop(now, packet, self.waiting.full());
            return;
        }
        while !self.waiting.has_room(self.limit, size) {
            let full = self.waiting.full();
            let Some((_, oldest)) = self.waiting.pop() else { break };
            out.drop(now, oldest, full);
        }
        self.waiting.push(now, packet);
    }

    fn pop(&mut self, _now: Instant, _out: &mut Outbox) -> Option<(Instant, Transit)> {
        self.waiting.pop()
    }

    fn held(&self) -> Box<dyn Iterator<Item = &Transit> + '_> {
        Box::new(self.waiting.iter())
    }
    fn release(&mut self, into: &mut Vec<Transit>) {
        self.waiting.release(into);
    }
}
