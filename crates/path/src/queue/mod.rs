//! Where packets wait for a bottleneck.

mod codel;
mod discipline;
mod drop;
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

pub use codel::{CodelControl, CodelPlan, CodelSpec};
pub(crate) use discipline::Discipline;
pub use drop::StepMarkPlan;
pub use fq_codel::{FqCodelPlan, FqCodelSpec};
pub use limit::QueueLimit;
pub use pie::{PiePlan, PieSpec};
pub use plan::QueuePlan;
pub(crate) use plan::Standing;
pub use red::{RedPlan, RedSpec};
pub use size::{BdpMultiple, QueueSize, QueueSizeError, SMALLEST_QUEUE};
pub use spec::{DEFAULT_QUEUE, QueueSpec, QueueTable};

/// A queue at work.
pub(crate) type Queue = Box<dyn Discipline>;
