//! A queue, checked.

use serde::{Deserialize, Serialize};
use tcplab_units::Span;

use super::codel::CodelPlan;
use super::drop_tail::StepMarkPlan;
use super::fq_codel::FqCodelPlan;
use super::limit::QueueLimit;
use super::pie::PiePlan;
use super::red::RedPlan;

/// A queueing discipline with its parameters, checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum QueuePlan {
    /// First in, first out; what finds no room is dropped.
    DropTail(QueueLimit),
    /// Drop-tail with CE marks above a threshold.
    StepMark(StepMarkPlan),
    /// FIFO that drops its oldest packet when full.
    DropHead(QueueLimit),
    /// Drops by how long packets waited.
    Codel(CodelPlan),
    /// Flows take turns, each with a CoDel.
    FqCodel(FqCodelPlan),
    /// Drops at random by how long packets waited.
    Pie(PiePlan),
    /// Drops at random by how much waits on average.
    Red(RedPlan),
}

/// The standing queue under constant overload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    /// The whole limit.
    Full(QueueLimit),
    /// The wait that the discipline steers to.
    Target(Span),
}

impl QueuePlan {
    /// Whether it looks into packets, to tell flows apart, or changes them, to mark them.
    pub(crate) fn reads_packets(&self) -> bool {
        match self {
            QueuePlan::DropTail(_) | QueuePlan::DropHead(_) => false,
            // To mark them, or to tell flows apart.
            QueuePlan::StepMark(_)
            | QueuePlan::Codel(_)
            | QueuePlan::FqCodel(_)
            | QueuePlan::Pie(_)
            | QueuePlan::Red(_) => true,
        }
    }

    /// The standing queue when packets arrive faster than they are sent.
    pub(crate) fn standing(&self) -> Standing {
        match self {
            QueuePlan::DropTail(limit) | QueuePlan::DropHead(limit) => Standing::Full(*limit),
            QueuePlan::StepMark(plan) => Standing::Full(plan.limit),
            QueuePlan::Red(plan) => Standing::Full(plan.limit),
            QueuePlan::Codel(plan) => Standing::Target(plan.control.target),
            QueuePlan::FqCodel(plan) => Standing::Target(plan.control.target),
            QueuePlan::Pie(plan) => Standing::Target(plan.target),
        }
    }

    /// Such as `drop-tail queue 512 packets`.
    pub(crate) fn describe(&self) -> String {
        match self {
            QueuePlan::DropTail(limit) => format!("drop-tail queue {limit}"),
            QueuePlan::StepMark(plan) => plan.describe(),
            QueuePlan::DropHead(limit) => format!("drop-head queue {limit}"),
            QueuePlan::Codel(plan) => plan.describe(),
            QueuePlan::FqCodel(plan) => plan.describe(),
            QueuePlan::Pie(plan) => plan.describe(),
            QueuePlan::Red(plan) => plan.describe(),
        }
    }
}
