//! Where packets wait for a bottleneck.

mod codel;
mod discipline;
mod drop_head;
mod drop_tail;
mod fifo;
mod flow;
mod fq_codel;
mod limit;
mod pie;
mod plan;
mod red;
mod size;
mod spec;
#[cfg(test)]
mod testing;

use tcplab_units::{Instant, Rng};

pub use codel::{CodelControl, CodelPlan, CodelSpec};
pub use drop_tail::StepMarkPlan;
pub use fq_codel::{FqCodelPlan, FqCodelSpec};
pub use limit::QueueLimit;
pub use pie::{PiePlan, PieSpec};
pub use plan::QueuePlan;
pub(crate) use plan::Standing;
pub use red::{RedPlan, RedSpec};
pub use size::{BdpMultiple, QueueSize, QueueSizeError, SMALLEST_QUEUE};
pub use spec::{DEFAULT_QUEUE, QueueSpec, QueueTable};

use crate::behaviour::{Outbox, Transit};
use codel::CodelQueue;
use discipline::Discipline;
use drop_head::DropHead;
use drop_tail::DropTail;
use fq_codel::FqCodel;
use pie::Pie;
use red::Red;

/// A queue at work.
#[derive(Debug)]
pub(crate) enum Queue {
    DropTail(DropTail),
    DropHead(DropHead),
    Codel(CodelQueue),
    FqCodel(FqCodel),
    Pie(Pie),
    Red(Red),
}

/// What the discipline does, whichever it is.
macro_rules! of_discipline {
    ($queue:expr, $discipline:ident => $call:expr) => {
        match $queue {
            Queue::DropTail($discipline) => $call,
            Queue::DropHead($discipline) => $call,
            Queue::Codel($discipline) => $call,
            Queue::FqCodel($discipline) => $call,
            Queue::Pie($discipline) => $call,
            Queue::Red($discipline) => $call,
        }
    };
}

impl Queue {
    /// The queue planned, drawing from `stream` if its discipline is a random one.
    pub(crate) fn new(plan: &QueuePlan, stream: impl FnOnce() -> Rng) -> Queue {
        match *plan {
            QueuePlan::DropTail(limit) => Queue::DropTail(DropTail::new(limit)),
            QueuePlan::StepMark(plan) => Queue::DropTail(DropTail::marking(&plan)),
            QueuePlan::DropHead(limit) => Queue::DropHead(DropHead::new(limit)),
            QueuePlan::Codel(plan) => Queue::Codel(CodelQueue::new(plan)),
            QueuePlan::FqCodel(plan) => Queue::FqCodel(FqCodel::new(plan, stream())),
            QueuePlan::Pie(plan) => Queue::Pie(Pie::new(plan, stream())),
            QueuePlan::Red(plan) => Queue::Red(Red::new(plan, stream())),
        }
    }

    /// Takes a packet that arrives now, or drops it or others to make room.
    pub(crate) fn push(&mut self, now: Instant, packet: Transit, out: &mut Outbox) {
        of_discipline!(self, it => it.push(now, packet, out));
    }

    /// The packet to send when one arrives while nothing waits and the transmitter is ready, and
    /// since when it has waited (not at all); nothing if the discipline drops it even so.
    pub(crate) fn pass(
        &mut self,
        now: Instant,
        packet: Transit,
        out: &mut Outbox,
    ) -> Option<(Instant, Transit)> {
        of_discipline!(self, it => it.pass(now, packet, out))
    }

    /// The packet to send now, and since when it has waited; may drop others on the way. Nothing
    /// only when nothing is left.
    pub(crate) fn pop(&mut self, now: Instant, out: &mut Outbox) -> Option<(Instant, Transit)> {
        of_discipline!(self, it => it.pop(now, out))
    }

    /// What waits, roughly next to be sent first.
    pub(crate) fn held(&self) -> Box<dyn Iterator<Item = &Transit> + '_> {
        of_discipline!(self, it => it.held())
    }

    /// Lets go of all that waits, in the order of [`held`](Self::held).
    pub(crate) fn release(&mut self, into: &mut Vec<Transit>) {
        of_discipline!(self, it => it.release(into));
    }
}
