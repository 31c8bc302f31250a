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

use tcplab_units::Rng;

pub use codel::{CodelControl, CodelPlan, CodelSpec};
pub(crate) use discipline::Discipline;
pub use drop_tail::StepMarkPlan;
pub use fq_codel::{FqCodelPlan, FqCodelSpec};
pub use limit::QueueLimit;
pub use pie::{PiePlan, PieSpec};
pub use plan::QueuePlan;
pub(crate) use plan::Standing;
pub use red::{RedPlan, RedSpec};
pub use size::{BdpMultiple, QueueSize, QueueSizeError, SMALLEST_QUEUE};
pub use spec::{DEFAULT_QUEUE, QueueSpec, QueueTable};

use codel::CodelQueue;
use drop_head::DropHead;
use drop_tail::DropTail;
use fq_codel::FqCodel;
use pie::Pie;
use red::Red;

impl QueuePlan {
    /// The queue at work, drawing from `stream` if its discipline is a random one.
    pub(crate) fn queue(&self, stream: impl FnOnce() -> Rng) -> Box<dyn Discipline> {
        match *self {
            QueuePlan::DropTail(limit) => Box::new(DropTail::new(limit)),
            QueuePlan::StepMark(plan) => Box::new(DropTail::marking(&plan)),
            QueuePlan::DropHead(limit) => Box::new(DropHead::new(limit)),
            QueuePlan::Codel(plan) => Box::new(CodelQueue::new(plan)),
            QueuePlan::FqCodel(plan) => Box::new(FqCodel::new(plan, stream())),
            QueuePlan::Pie(plan) => Box::new(Pie::new(plan, stream())),
            QueuePlan::Red(plan) => Box::new(Red::new(plan, stream())),
        }
    }
}
