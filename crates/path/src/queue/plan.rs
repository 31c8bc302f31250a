//! A queue, checked.

use serde::{Deserialize, Serialize};
use tcplab_units::{Rng, Span};

use super::codel::{CodelPlan, CodelQueue};
use super::discipline::Discipline;
use super::drop::{DropQueue, StepMarkPlan};
use super::fq_codel::{FqCodel, FqCodelPlan};
use super::limit::QueueLimit;
use super::pie::{Pie, PiePlan};
use super::red::{Red, RedPlan};

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
    /// The queue at work, drawing from `stream` if its discipline is a random one.
    pub(crate) fn at_work(&self, stream: impl FnOnce() -> Rng) -> Box<dyn Discipline> {
        match *self {
            QueuePlan::DropTail(limit) => Box::new(DropQueue::drop_tail(limit)),
            QueuePlan::StepMark(plan) => Box::new(DropQueue::marking(&plan)),
            QueuePlan::DropHead(limit) => Box::new(DropQueue::drop_head(limit)),
            QueuePlan::Codel(plan) => Box::new(CodelQueue::new(plan)),
            QueuePlan::FqCodel(plan) => Box::new(FqCodel::new(plan, stream())),
            QueuePlan::Pie(plan) => Box::new(Pie::new(plan, stream())),
            QueuePlan::Red(plan) => Box::new(Red::new(plan, stream())),
        }
    }

    /// Whether it draws numbers: whom it drops, or which flows share a queue.
    pub(crate) fn leaves_to_chance(&self) -> bool {
        matches!(self, QueuePlan::FqCodel(_) | QueuePlan::Pie(_) | QueuePlan::Red(_))
    }

    /// Whether flows take turns, none of them held up by what others send.
    pub(crate) fn takes_turns(&self) -> bool {
        matches!(self, QueuePlan::FqCodel(plan) if plan.flows > 1)
    }

    /// Whether it drops packets only when one arrives, none at its turn to be sent.
    pub(crate) fn drops_on_arrival_only(&self) -> bool {
        matches!(self, QueuePlan::DropTail(_) | QueuePlan::StepMark(_) | QueuePlan::DropHead(_))
    }

    /// Whether it parses packets, to distinguish flows, or changes them, to mark them.
    pub(crate) fn reads_packets(&self) -> bool {
        !matches!(self, QueuePlan::DropTail(_) | QueuePlan::DropHead(_))
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

    /// How much may wait. An FQ-CoDel queue also has a limit of memory.
    pub fn limit(&self) -> QueueLimit {
        match self {
            QueuePlan::DropTail(limit) | QueuePlan::DropHead(limit) => *limit,
            QueuePlan::StepMark(plan) => plan.limit,
            QueuePlan::Codel(plan) => plan.limit,
            QueuePlan::FqCodel(plan) => plan.limit,
            QueuePlan::Pie(plan) => plan.limit,
            QueuePlan::Red(plan) => plan.limit,
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
