//! The elements of a link at work.

use super::plan::ElementPlan;
use crate::behaviour::{Behaviour, Streams};
use crate::elements::{
    Blackhole, Corruption, CrossTraffic, Delay, DropRules, Duplication, Interruption, Loss, Mark,
    MtuLimit, Policer, Reordering,
};

impl ElementPlan {
    /// The element at work, drawing from `streams` if it is a random one.
    pub(super) fn element(&self, streams: Streams) -> Box<dyn Behaviour> {
        match self {
            ElementPlan::Mtu(plan) => Box::new(MtuLimit::new(plan)),
            ElementPlan::Policer(plan) => Box::new(Policer::new(plan)),
            ElementPlan::CrossTraffic(plan) => Box::new(CrossTraffic::new(plan, streams)),
            ElementPlan::Bottleneck(plan) => plan.element(streams),
            ElementPlan::Interruption(plan) => Box::new(Interruption::new(plan, streams)),
            ElementPlan::Blackhole(plan) => Box::new(Blackhole::new(plan)),
            ElementPlan::Loss(plan) => Box::new(Loss::new(plan, streams)),
            ElementPlan::Drop(plan) => Box::new(DropRules::new(plan, streams)),
            ElementPlan::Mark(plan) => Box::new(Mark::new(plan, streams)),
            ElementPlan::Corruption(plan) => Box::new(Corruption::new(plan, streams)),
            ElementPlan::Duplication(plan) => Box::new(Duplication::new(plan, streams)),
            ElementPlan::Reordering(plan) => Box::new(Reordering::new(plan, streams)),
            ElementPlan::Delay(plan) => Box::new(Delay::new(plan, streams)),
        }
    }
}
