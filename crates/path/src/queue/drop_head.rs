//! First in, first out; the one that has waited longest gives way to what finds no room.

use tcplab_units::Instant;

use super::discipline::Discipline;
use super::fifo::Fifo;
use super::limit::QueueLimit;
use crate::behaviour::{Outbox, Transit};

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

    fn keeps_what_waits(&self) -> bool {
        true
    }

    fn held(&self) -> Box<dyn Iterator<Item = &Transit> + '_> {
        Box::new(self.waiting.iter())
    }
    fn release(&mut self, into: &mut Vec<Transit>) {
        self.waiting.release(into);
    }
}

#[cfg(test)]
mod tests {
    use tcplab_units::Bytes;

    use super::super::testing::{Hands, cause, ms, plain};
    use super::*;
    use crate::{Cause, Packet};

    #[test]
    fn the_oldest_gives_way() {
        let mut hands = Hands::new(DropHead::new(QueueLimit::Packets(2)));
        for id in 0..3 {
            hands.push(ms(id), plain(id));
        }
        let [dropped] = hands.dropped()[..] else { panic!() };
        assert_eq!((dropped.id, dropped.entered, dropped.left), (0, ms(0), ms(2)));
        assert_eq!(cause(&dropped), Cause::QueueFull { packets: 2, bytes: Bytes::new(3000) });
        assert_eq!((hands.held(), hands.pop_id(ms(3))), (vec![1, 2], Some(1)));
    }

    #[test]
    fn several_small_ones_give_way_to_a_large_one_and_none_to_one_too_large() {
        let mut hands = Hands::new(DropHead::new(QueueLimit::Bytes(Bytes::new(2000))));
        for (id, size) in [(0, 500), (1, 500), (2, 500), (3, 500), (4, 1200), (5, 2001), (6, 300)] {
            hands.push(ms(0), Packet::of_size(id, Bytes::new(size)));
        }
        let told: Vec<_> = hands.dropped().iter().map(|it| (it.id, cause(it))).collect();
        let full = |packets, bytes| Cause::QueueFull { packets, bytes: Bytes::new(bytes) };
        assert_eq!(
            told,
            [(0, full(4, 2000)), (1, full(3, 1500)), (2, full(2, 1000)), (5, full(2, 1700))]
        );
        assert_eq!(hands.held(), [3, 4, 6]);
    }
}
