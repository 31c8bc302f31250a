//! The elements of a link that are neither queue nor bottleneck, a file each.

mod answerer;
mod corruption;
mod cross_traffic;
mod delay;
mod drop_next;
mod drop_rules;
mod duplication;
mod interruption;
mod loss;
mod mark;
mod mtu;
mod nat;
mod policer;
mod reordering;

pub(crate) use corruption::Corruption;
pub use corruption::{CorruptSpec, CorruptionPlan, PacketPart};
pub(crate) use cross_traffic::CrossTraffic;
pub use cross_traffic::{Arrivals, CrossFlow, CrossSpec};
pub(crate) use delay::{Delay, PortDelays, delay_between};
pub use delay::{
    DelayPlan, DelaySpec, JitterLaw, JitterPlan, JitterSpec, JitterTable, PortDelay, PortDelayPlan,
    TableLaw,
};
pub(crate) use drop_next::DropNext;
pub use drop_next::{DropNextEvent, DropNextPlan};
pub(crate) use drop_rules::DropRules;
pub use drop_rules::{DropPlan, DropRule, DropSpec, Nth, PacketKind, RulePlan};
pub use duplication::{DuplicateSpec, DuplicationPlan};
pub(crate) use duplication::{Duplication, MOST_COPIES};
pub(crate) use interruption::Interruption;
pub use interruption::{
    BlackholePlan, BlackholeSpec, BlackholeTable, InterruptionPlan, InterruptionSpec,
    InterruptionTimes, InterruptionsSpec,
};
pub(crate) use loss::Loss;
pub use loss::{
    GilbertElliott, LossBurst, LossChange, LossChangesPlan, LossPlan, LossSpec, LossTable,
};
pub(crate) use mark::Mark;
pub use mark::MarkPlan;
pub(crate) use mtu::MtuLimit;
pub use mtu::{MtuPlan, MtuSpec};
pub(crate) use nat::Nat;
pub use nat::{NatPlan, NatSpec};
pub(crate) use policer::Policer;
pub use policer::PolicerSpec;
pub(crate) use reordering::Reordering;
pub use reordering::{HeldBack, ReorderSpec, ReorderingPlan};
