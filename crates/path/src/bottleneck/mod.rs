//! The bottleneck: a queue, and what sends the packets in it.

mod opportunities;
mod rate;
mod serial;
mod supply;
mod token_bucket;

use serde::{Deserialize, Serialize};
use tcplab_units::{Bytes, Instant, Rate, Span};

pub use opportunities::TracePlan;
pub use rate::{RateSpec, RateTable};
pub use token_bucket::TokenBucketPlan;
pub(crate) use token_bucket::check_burst;

use crate::element::{Behaviour, Outbox, Streams, Transit};
use crate::queue::{Queue, QueuePlan};
use crate::schedule::Schedule;
use crate::wifi::{Wifi, WifiPlan};
use opportunities::Opportunities;
use serial::Serial;
pub(crate) use serial::work;
pub(crate) use supply::Supply;

/// A billion: the nanoseconds of a second, and the parts of a bit in which work is counted, so that
/// a rate in bits per second does a whole number of them in each nanosecond.
pub(crate) const BILLION: u128 = 1_000_000_000;

/// A queue and what empties it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BottleneckPlan {
    /// What sends.
    pub server: ServerPlan,
    /// Where packets wait.
    pub queue: QueuePlan,
}

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
    /// Its rate; queues in bdp count with it. Where it changes with time: the mean over a
    /// repetition if it repeats, else what it starts with. Of a trace the mean in packets of 1500
    /// B, of a wireless link what it sends of such packets alone and without errors.
    pub fn rate(&self) -> Rate {
        match self {
            ServerPlan::Rate(rate) => *rate,
            ServerPlan::Varying(schedule) => rate::nominal(schedule),
            ServerPlan::TokenBucket(plan) => rate::nominal(&plan.rate),
            ServerPlan::Trace(plan) => plan.rate(),
            ServerPlan::Wifi(plan) => plan.saturation(),
        }
    }

    /// The most it ever sends for a while: what moves its packets has to keep up with that. Of a
    /// trace in the busiest 100 ms, of a wireless link as with [`rate`](Self::rate); what a token
    /// bucket lets pass at once has no rate.
    pub fn peak(&self) -> Rate {
        match self {
            ServerPlan::Varying(schedule) => rate::peak(schedule),
            ServerPlan::TokenBucket(plan) => rate::peak(&plan.rate),
            ServerPlan::Trace(plan) => plan.peak(),
            ServerPlan::Rate(_) | ServerPlan::Wifi(_) => self.rate(),
        }
    }

    /// What it can send from one instant to a later one, in the mean; of a trace and of a wireless
    /// link as with [`rate`](Self::rate). None where there are more opportunities than a number
    /// tells.
    pub(crate) fn mean(&self, from: Instant, until: Instant) -> Option<Rate> {
        match self {
            ServerPlan::Rate(rate) => Some(*rate),
            ServerPlan::Varying(schedule) => Some(schedule.mean(from, until)),
            ServerPlan::TokenBucket(plan) => Some(plan.rate.mean(from, until)),
            ServerPlan::Trace(plan) => plan.mean(from, until),
            ServerPlan::Wifi(plan) => Some(plan.saturation()),
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
                let steady = Schedule { start: self.rate(), steps: Vec::new(), repeat: None };
                drained(&steady, now, bytes)
            }
        };
        end.since(now)
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
            ServerPlan::Rate(rate) => format!("A bottleneck sends {rate}"),
            ServerPlan::Varying(schedule) => format!("A bottleneck sends {}", schedule.describe()),
            ServerPlan::TokenBucket(plan) => plan.describe(),
            ServerPlan::Trace(plan) => plan.describe(),
            ServerPlan::Wifi(plan) => plan.describe(),
        }
    }
}

impl BottleneckPlan {
    pub(crate) fn describe(&self) -> String {
        format!("{}; {}.", self.server.describe(), self.queue.describe())
    }
}

fn drained(rate: &Schedule<Rate>, now: Instant, bytes: Bytes) -> Instant {
    let mut supply = Supply::new(rate.clone());
    supply.go_to(now);
    supply.spend(serial::work(bytes));
    supply.whole()
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
}

impl Bottleneck {
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

/// Lets a packet that has been sent go on; cross traffic ends here.
pub(crate) fn hand_on(now: Instant, packet: Transit, out: &mut Outbox) {
    if packet.is_background {
        out.absorb(now, packet);
    } else {
        out.pass(packet);
    }
}
