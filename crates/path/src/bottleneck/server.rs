//! What sends the packets of a queue.

use serde::{Deserialize, Serialize};
use tcplab_units::{Bytes, Instant, Rate, Span};

use super::opportunities::TracePlan;
use super::supply::Supply;
use super::token_bucket::TokenBucketPlan;
use super::wifi::WifiPlan;
use super::work::work;
use crate::schedule::Schedule;

/// What sends the packets of a queue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ServerPlan {
    /// One packet after the other, at that rate; above zero.
    Rate(Rate),
    /// One packet after the other, at a rate that changes with time.
    Varying(Schedule<Rate>),
    /// At once while there are tokens, else as these come.
    TokenBucket(TokenBucketPlan),
    /// At the moments that a trace names.
    Trace(TracePlan),
    /// Over a wireless link.
    Wifi(WifiPlan),
}

impl ServerPlan {
    /// Its rate; queues in bdp or time count with it. Where it changes with time: the mean over a
    /// repetition if it repeats, else what it starts with. Of a trace the mean in packets of 1500
    /// B, of a wireless link the mean of what it delivers of such packets beside the other stations
    /// and with errors.
    pub fn rate(&self) -> Rate {
        match self {
            ServerPlan::Rate(rate) => *rate,
            ServerPlan::Varying(schedule) => schedule.nominal(),
            ServerPlan::TokenBucket(plan) => plan.rate.nominal(),
            ServerPlan::Trace(plan) => plan.rate(),
            ServerPlan::Wifi(plan) => plan.mean_rate(),
        }
    }

    /// Its peak rate, with which whatever moves its packets has to keep up. Of a
    /// trace in the busiest 100 ms, of a wireless link alone and without errors; what a token
    /// bucket lets pass at once has no rate.
    pub fn peak(&self) -> Rate {
        match self {
            ServerPlan::Varying(schedule) => peak(schedule),
            ServerPlan::TokenBucket(plan) => peak(&plan.rate),
            ServerPlan::Trace(plan) => plan.peak(),
            ServerPlan::Rate(rate) => *rate,
            ServerPlan::Wifi(plan) => plan.saturation(),
        }
    }

    /// The mean rate from one instant to a later one; of a trace and of a wireless
    /// link as with [`rate`](Self::rate). None where the number of opportunities overflows.
    pub(crate) fn mean(&self, from: Instant, until: Instant) -> Option<Rate> {
        match self {
            ServerPlan::Rate(rate) => Some(*rate),
            ServerPlan::Varying(schedule) => Some(schedule.mean(from, until)),
            ServerPlan::TokenBucket(plan) => Some(plan.rate.mean(from, until)),
            ServerPlan::Trace(plan) => plan.mean(from, until),
            ServerPlan::Wifi(plan) => Some(plan.mean_rate()),
        }
    }

    /// How long it takes, from `now` on, to send so much that waits, with all that happens to its
    /// rate in the meantime, and without tokens of before.
    pub(crate) fn drain(&self, now: Instant, bytes: Bytes) -> Span {
        let end = match self {
            ServerPlan::Varying(schedule) => drained(schedule, now, bytes),
            ServerPlan::TokenBucket(plan) => drained(&plan.rate, now, bytes),
            ServerPlan::Trace(plan) => plan.sent(now, bytes),
            ServerPlan::Rate(_) | ServerPlan::Wifi(_) => {
                let steady = Schedule::steady(self.rate());
                drained(&steady, now, bytes)
            }
        };
        end.since(now)
    }

    /// How long a packet takes that comes at `now` and finds it idle, in the mean. A token bucket
    /// has its tokens by then.
    pub(crate) fn lone(&self, now: Instant, size: Bytes) -> Span {
        match self {
            ServerPlan::TokenBucket(_) => Span::ZERO,
            ServerPlan::Wifi(plan) => plan.lone(size),
            ServerPlan::Rate(_) | ServerPlan::Varying(_) | ServerPlan::Trace(_) => {
                self.drain(now, size)
            }
        }
    }

    /// What changes its rate, if that changes evenly or in steps.
    pub(crate) fn schedule(&self) -> Option<&Schedule<Rate>> {
        match self {
            ServerPlan::Varying(schedule) => Some(schedule),
            ServerPlan::TokenBucket(plan) => Some(&plan.rate),
            ServerPlan::Rate(_) | ServerPlan::Trace(_) | ServerPlan::Wifi(_) => None,
        }
    }

    pub(crate) fn describe(&self) -> String {
        match self {
            ServerPlan::Rate(rate) => format!("Bottleneck {rate}"),
            ServerPlan::Varying(schedule) => format!("Bottleneck {}", schedule.describe()),
            ServerPlan::TokenBucket(plan) => plan.describe(),
            ServerPlan::Trace(plan) => plan.describe(),
            ServerPlan::Wifi(plan) => plan.describe(),
        }
    }
}

fn drained(rate: &Schedule<Rate>, now: Instant, bytes: Bytes) -> Instant {
    let mut supply = Supply::new(rate.clone());
    supply.go_to(now);
    supply.spend(work(bytes));
    supply.whole()
}

/// The highest rate: a ramp ends at it or begins there.
fn peak(schedule: &Schedule<Rate>) -> Rate {
    let later = schedule.steps.iter().map(|step| step.to);
    later.chain([schedule.start]).max().expect("there is a start")
}
