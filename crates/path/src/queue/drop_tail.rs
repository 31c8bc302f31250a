//! First in, first out; what finds no room is dropped.

use serde::{Deserialize, Serialize};
use tcplab_units::Instant;

use super::discipline::Discipline;
use super::fifo::Fifo;
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

/// A drop-tail queue.
#[derive(Debug)]
pub(crate) struct DropTail {
    limit: QueueLimit,
    mark: Option<QueueLimit>,
    waiting: Fifo,
}

impl DropTail {
    pub(super) fn new(limit: QueueLimit) -> DropTail {
        DropTail { limit, mark: None, waiting: Fifo::default() }
    }
    pub(super) fn marking(plan: &StepMarkPlan) -> DropTail {
        DropTail { mark: Some(plan.mark), ..DropTail::new(plan.limit) }
    }

    fn is_above_mark(&self) -> bool {
        match self.mark {
            None => false,
            Some(QueueLimit::Packets(packets)) => self.waiting.len() > packets as usize,
            Some(QueueLimit::Bytes(bytes)) => self.waiting.bytes() > bytes,
        }
    }
}

impl Discipline for DropTail {
    fn push(&mut self, now: Instant, mut packet: Transit, out: &mut Outbox) {
        if self.waiting.has_room(self.limit, packet.packet.size()) {
            if self.is_above_mark() {
                ecn::mark(&mut packet);
            }
            self.waiting.push(now, packet);
        } else {
            out.drop(now, packet, self.waiting.full());
        }
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

    use super::super::testing::{Hands, ect, ms, plain};
    use super::*;

    #[test]
    fn what_finds_more_than_the_threshold_is_marked_and_nothing_else_changes() {
        for mark in [QueueLimit::Packets(2), QueueLimit::Bytes(Bytes::new(3000))] {
            let limit = QueueLimit::Packets(5);
            let mut hands = Hands::new(DropTail::marking(&StepMarkPlan { limit, mark }));
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
}
