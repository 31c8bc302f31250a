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
use tcplab_units::Instant;

pub use opportunities::TracePlan;
pub use rate::{RateSpec, RateTable};
pub use server::ServerPlan;
pub(crate) use supply::Supply;
pub use token_bucket::TokenBucketPlan;
pub(crate) use token_bucket::check_burst;
pub use wifi::{WifiPlan, WifiSpec, WifiStandard};
pub(crate) use work::{BILLION, work};

use crate::behaviour::{Behaviour, Outbox, Streams, Transit};
use crate::queue::{Queue, QueuePlan};
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
}

/// A bottleneck at work.
#[derive(Debug)]
pub(crate) enum Bottleneck {
    /// One packet is sent after the other.
    Serial(Serial),
    /// Packets are sent at given moments.
    Opportunities(Opportunities),
    /// Packets are sent in frames, several times if need be.
    Wifi(Box<Wifi>),
}

impl Bottleneck {
    pub(crate) fn new(plan: &BottleneckPlan, streams: Streams) -> Bottleneck {
        let queue = Queue::new(&plan.queue, || streams.own());
        match &plan.server {
            ServerPlan::Rate(rate) => Bottleneck::Serial(Serial::at_rate(*rate, queue)),
            ServerPlan::Varying(schedule) => Bottleneck::Serial(Serial::varying(schedule, queue)),
            ServerPlan::TokenBucket(plan) => Bottleneck::Serial(Serial::token_bucket(plan, queue)),
            ServerPlan::Trace(plan) => Bottleneck::Opportunities(Opportunities::new(plan, queue)),
            ServerPlan::Wifi(plan) => {
                // A stream of its own beside that of the queue.
                let stream = Streams { kind: "wifi", ..streams }.own();
                Bottleneck::Wifi(Box::new(Wifi::new(plan, queue, stream)))
            }
        }
    }

    /// Whether what it does of its own accord is to hand packets on: none is dropped when its turn
    /// has come.
    pub(crate) fn only_hands_on(&self) -> bool {
        matches!(self, Bottleneck::Serial(serial) if serial.only_hands_on())
    }
}

impl Behaviour for Bottleneck {
    fn accept(&mut self, now: Instant, packet: Transit, out: &mut Outbox) {
        match self {
            Bottleneck::Serial(it) => it.accept(now, packet, out),
            Bottleneck::Opportunities(it) => it.accept(now, packet, out),
            Bottleneck::Wifi(it) => it.accept(now, packet, out),
        }
    }
    fn poll_at(&self) -> Option<Instant> {
        match self {
            Bottleneck::Serial(it) => it.poll_at(),
            Bottleneck::Opportunities(it) => it.poll_at(),
            Bottleneck::Wifi(it) => it.poll_at(),
        }
    }
    fn advance(&mut self, now: Instant, out: &mut Outbox) {
        match self {
            Bottleneck::Serial(it) => it.advance(now, out),
            Bottleneck::Opportunities(it) => it.advance(now, out),
            Bottleneck::Wifi(it) => it.advance(now, out),
        }
    }
    fn held(&self) -> Box<dyn Iterator<Item = &Transit> + '_> {
        match self {
            Bottleneck::Serial(it) => it.held(),
            Bottleneck::Opportunities(it) => it.held(),
            Bottleneck::Wifi(it) => it.held(),
        }
    }
    fn release(&mut self, into: &mut Vec<Transit>) {
        match self {
            Bottleneck::Serial(it) => it.release(into),
            Bottleneck::Opportunities(it) => it.release(into),
            Bottleneck::Wifi(it) => it.release(into),
        }
    }
}
