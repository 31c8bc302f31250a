//! First in, first out; a full queue drops the packet that arrives, or its oldest.

use serde::{Deserialize, Serialize};
use tcplab_units::Instant;

use super::discipline::Discipline;
use super::fifo::{Fifo, Queued};
use super::limit::QueueLimit;
use crate::behaviour::ecn;
use crate::behaviour::{Outbox, Transit};

/// Drop-tail with marks above a threshold, as DCTCP wants it: a packet that finds more than so much
/// waiting is marked, if it allows that (Alizadeh and others, SIGCOMM 2010, §3.1; RFC 8257 §3.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepMarkPlan {
    /// How much may wait.
    pub limit: QueueLimit,
    /// Above how much waiting packets are marked; below the limit.
    pub mark: QueueLimit,
}

impl StepMarkPlan {
    pub(super) fn describe(&self) -> String {
        let StepMarkPlan { limit, mark } = self;
        format!("drop-tail queue {limit}, CE marks above {mark}")
    }
}

/// A drop-tail queue, or a drop-head queue as Linux's `pfifo_head_drop` (net/sched/sch_fifo.c),
/// which drops the oldest packet, so that the sender learns of the loss a queue's length sooner.
#[derive(Debug)]
pub(super) struct DropQueue {
    limit: QueueLimit,
    mark: Option<QueueLimit>,
    drops_oldest: bool,
    waiting: Fifo,
}

impl DropQueue {
    pub(super) fn drop_tail(limit: QueueLimit) -> DropQueue {
        DropQueue { limit, mark: None, drops_oldest: false, waiting: Fifo::default() }
    }
    pub(super) fn marking(plan: &StepMarkPlan) -> DropQueue {
        DropQueue { mark: Some(plan.mark), ..DropQueue::drop_tail(plan.limit) }
    }
    pub(super) fn drop_head(limit: QueueLimit) -> DropQueue {
        DropQueue { drops_oldest: true, ..DropQueue::drop_tail(limit) }
    }

    fn is_above_mark(&self) -> bool {
        match self.mark {
            None => false,
            Some(QueueLimit::Packets(packets)) => self.waiting.len() > packets as usize,
            Some(QueueLimit::Bytes(bytes)) => self.waiting.bytes() > bytes,
        }
    }
}

impl Discipline for DropQueue {
    fn push(&mut self, now: Instant, mut packet: Transit, out: &mut Outbox) {
        let size = packet.packet.size();
        // None gives way to a packet that is larger than the whole queue.
        let gives_way = self.drops_oldest && Fifo::default().has_room(self.limit, size);
        while gives_way && !self.waiting.has_room(self.limit, size) {
            let full = self.waiting.full();
            let Some((_, oldest)) = self.waiting.pop() else { break };
            out.drop(now, oldest, full);
        }
        if self.waiting.has_room(self.limit, size) {
            if self.is_above_mark() {
                ecn::mark(&mut packet);
            }
            self.waiting.push(now, packet);
        } else {
            out.drop(now, packet, self.waiting.full());
        }
    }

    fn pop(&mut self, _now: Instant, _out: &mut Outbox) -> Option<Queued> {
        self.waiting.pop()
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

    use super::super::testing::{Hands, cause, ect, ms, plain};
    use super::*;
    use crate::{Cause, Packet};

    #[test]
    fn packet_above_threshold_is_only_marked() {
        for mark in [QueueLimit::Packets(2), QueueLimit::Bytes(Bytes::new(3000))] {
            let limit = QueueLimit::Packets(5);
            let mut hands = Hands::new(DropQueue::marking(&StepMarkPlan { limit, mark }));
            for id in 0..7 {
                hands.push(ms(0), if id == 3 { plain(id) } else { ect(id) });
            }
            assert_eq!(hands.dropped_ids(), [5, 6]);
            let marked: Vec<_> = hands.queue.held().map(|it| it.marked).collect();
            // Number 2 finds two waiting, which is not more; number 3 does not allow it.
            assert_eq!(marked, [false, false, false, false, true], "{mark}");
            assert_eq!(hands.pop_id(ms(1)), Some(0));
        }
    }

    #[test]
    fn drop_head_drops_oldest_packet() {
        let mut hands = Hands::new(DropQueue::drop_head(QueueLimit::Packets(2)));
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
        let mut hands = Hands::new(DropQueue::drop_head(QueueLimit::Bytes(Bytes::new(2000))));
        for (id, size) in [(0, 500), (1, 500), (2, 500), (3, 500), (4, 1200), (5, 2001), (6, 300)] {
            hands.push(ms(0), Packet::of_size(id, Bytes::new(size)));
        }
        let found: Vec<_> = hands.dropped().iter().map(|it| (it.id, cause(it))).collect();
        let full = |packets, bytes| Cause::QueueFull { packets, bytes: Bytes::new(bytes) };
        assert_eq!(
            found,
            [(0, full(4, 2000)), (1, full(3, 1500)), (2, full(2, 1000)), (5, full(2, 1700))]
        );
        assert_eq!(hands.held(), [3, 4, 6]);
    }
}
