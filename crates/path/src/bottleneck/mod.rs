//! The bottleneck: a queue, and what sends the packets in it.

mod opportunities;
mod rate;
mod serial;
mod server;
mod supply;
mod token_bucket;
mod wifi;
mod work;

use serde::{Deserialize, Serialize};

pub use opportunities::TracePlan;
pub use rate::{RateSpec, RateTable};
pub use server::ServerPlan;
pub(crate) use supply::Supply;
pub use token_bucket::TokenBucketPlan;
pub(crate) use token_bucket::check_burst;
pub use wifi::{WifiPlan, WifiSpec, WifiStandard};
pub(crate) use work::{BILLION, work};

use crate::behaviour::{Behaviour, Streams};
use crate::queue::QueuePlan;
use opportunities::Opportunities;
use serial::Serial;
use wifi::Wifi;

/// A queue and what empties it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BottleneckPlan {
    /// What sends.
    pub server: ServerPlan,
    /// Where packets wait.
    pub queue: QueuePlan,
}

impl BottleneckPlan {
    pub(crate) fn describe(&self) -> String {
        format!("{}, {}.", self.server.describe(), self.queue.describe())
    }

    /// Whether what it does without an arrival is to send packets: it drops none at their turn.
    pub(crate) fn only_sends(&self) -> bool {
        let is_serial = !matches!(self.server, ServerPlan::Trace(_) | ServerPlan::Wifi(_));
        is_serial && self.queue.drops_on_arrival_only()
    }
}

/// The bottleneck at work: what sends, with its queue.
pub(crate) fn bottleneck(plan: &BottleneckPlan, streams: Streams) -> Box<dyn Behaviour> {
    let queue = plan.queue.at_work(|| streams.own());
    match &plan.server {
        ServerPlan::Rate(rate) => Box::new(Serial::at_rate(*rate, queue)),
        ServerPlan::Varying(schedule) => Box::new(Serial::varying(schedule, queue)),
        ServerPlan::TokenBucket(plan) => Box::new(Serial::token_bucket(plan, queue)),
        ServerPlan::Trace(plan) => Box::new(Opportunities::new(plan, queue)),
        ServerPlan::Wifi(plan) => {
            // A stream of its own beside that of the queue.
            let stream = Streams { kind: "wifi", ..streams }.own();
            Box::new(Wifi::new(plan, queue, stream))
        }
    }
}
