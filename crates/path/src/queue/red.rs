//! Random early detection (Floyd and Jacobson 1993): packets that come are dropped with a
//! probability that grows with the average length of the queue.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tcplab_units::{Bytes, Instant, Probability, Rate, Rng, Span};

use super::discipline::Discipline;
use super::fifo::{Fifo, Queued};
use super::limit::QueueLimit;
use super::size::{QueueSize, limit_below};
use crate::behaviour::ecn;
use crate::behaviour::{Outbox, Transit};
use crate::fault::Fault;
use crate::{Cause, verdict};

/// Random Early Detection, RED (Floyd and Jacobson, IEEE/ACM Transactions on Networking, August
/// 1993): drops packets as they come, with a probability that grows with the average of how much
/// waits, and evenly spaced rather than in clusters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Red")]
pub struct RedSpec {
    /// The size of the queue; when full, arriving packets are dropped. Default: `1000 packets`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<QueueSize>,
    /// The average up to which nothing is dropped; less than `max`. In packets, or in bytes,
    /// time or bdp, as `max`.
    pub min: QueueSize,
    /// The average from which on everything is dropped. At most the limit; the paper recommends
    /// at least twice `min`.
    pub max: QueueSize,
    /// The probability where the average reaches `max`; above zero. Drops are spaced evenly, which
    /// doubles it: one in 1 / (2 · `probability`) packets. Default: `2 %`, as in the paper.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probability: Option<Probability>,
    /// What share in the average each packet that comes gives to how much waits then; above zero.
    /// Default: `0.2 %`, as in the paper.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<Probability>,
    /// Whether from `max` on, instead of everything at once, the probability grows on to 100 % at
    /// twice `max` (Floyd 2000). Default: false, as in the paper.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gentle: Option<bool>,
    /// Whether ECT packets are marked (CE) instead of dropped. Default: false, as Linux.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ecn: Option<bool>,
}

/// RED, checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RedPlan {
    /// How much may wait.
    pub limit: QueueLimit,
    /// The average up to which nothing is dropped.
    pub min: QueueLimit,
    /// That from which on everything is; more than `min`, in the same unit.
    pub max: QueueLimit,
    /// The probability at `max`.
    pub probability: Probability,
    /// The share of what waits now in the average.
    pub weight: Probability,
    /// Whether the probability grows on above `max`.
    pub gentle: bool,
    /// Whether it marks packets that allow it.
    pub ecn: bool,
    /// How long the bottleneck takes for a packet of middling size; above zero. In an idle time,
    /// the average falls as if such packets arrived one after the other at an empty queue.
    pub packet_time: Span,
}

/// What `tc-red(8)` recommends for the average packet (`avpkt`).
const MIDDLING_PACKET: Bytes = Bytes::new(1000);

impl RedSpec {
    pub(super) fn plan(&self, rate: Rate, round_trip: Span) -> Result<RedPlan, Fault> {
        let size = |key, size| limit_below(key, size, rate, round_trip);
        let plan = RedPlan {
            limit: size("red.limit", self.limit.unwrap_or(QueueSize::Packets(1000)))?,
            min: size("red.min", self.min)?,
            max: size("red.max", self.max)?,
            probability: self.probability.unwrap_or(Probability::per_million(20_000)),
            weight: self.weight.unwrap_or(Probability::per_million(2_000)),
            gentle: self.gentle.unwrap_or(false),
            ecn: self.ecn.unwrap_or(false),
            packet_time: packet_time(rate),
        };
        let RedPlan { limit, min, max, .. } = plan;
        match min.is_less(max) {
            Some(true) => {}
            Some(false) => {
                let what = format!("`min` ({min}) must be less than `max` ({max})");
                return Err(Fault::below("red.min", what));
            }
            None => {
                let what = format!(
                    "`min` ({min}) and `max` ({max}) must both be in packets, or both in bytes, time or bdp"
                );
                return Err(Fault::below("red.min", what));
            }
        }
        if limit.is_less(max) == Some(true) {
            let what = format!("`max` ({max}) is more than the queue can hold ({limit})");
            return Err(Fault::below("red.max", what));
        }
        for (key, value) in [("red.probability", plan.probability), ("red.weight", plan.weight)] {
            if value == Probability::NEVER {
                let what = "0 % would keep it from ever dropping: give more, or a drop-tail queue";
                return Err(Fault::below(key, what));
            }
        }
        Ok(plan)
    }
}

/// Rounded up to whole nanoseconds.
fn packet_time(rate: Rate) -> Span {
    let bit_nanos = MIDDLING_PACKET.bits() * 1_000_000_000;
    let nanos = bit_nanos.div_ceil(u128::from(rate.bits_per_second()).max(1));
    Span::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
}

impl RedPlan {
    pub(super) fn describe(&self) -> String {
        let RedPlan { limit, min, max, probability, weight, gentle, ecn, .. } = self;
        let what = if *ecn { "mark or drop" } else { "drop" };
        let above = if *gentle { "100 % at twice that" } else { "100 % above" };
        format!(
            "RED queue {limit}: {what} probability 0 % at an average of {min}, {probability} at \
             {max}, {above} (weight {weight})"
        )
    }
}

/// A queue with RED.
#[derive(Debug)]
pub(crate) struct Red {
    plan: RedPlan,
    waiting: Fifo,
    rng: Rng,
    average: Average,
    /// Packets since the last that was dropped or marked, while the average is above `min`; −1
    /// when it was not.
    since_hit: i64,
}

impl Red {
    pub(super) fn new(plan: RedPlan, rng: Rng) -> Red {
        Red {
            plan,
            waiting: Fifo::default(),
            rng,
            average: Average {
                weight: plan.weight.as_f64(),
                packet_time: plan.packet_time,
                value: 0.0,
                idle_since: Some(Instant::ZERO),
            },
            since_hit: -1,
        }
    }

    /// Takes a packet into the average, and then drops it or, if there is room for it, takes it
    /// itself.
    fn admit(&mut self, now: Instant, mut packet: Transit, has_room: bool, out: &mut Outbox) {
        let waiting = match self.plan.min {
            QueueLimit::Packets(_) => self.waiting.len() as f64,
            QueueLimit::Bytes(_) => self.waiting.bytes().as_u64() as f64,
        };
        self.average.sample(now, waiting);
        let is_hit = self.is_hit();
        if !has_room {
            out.drop(now, packet, self.waiting.full());
        } else if is_hit && !(self.plan.ecn && ecn::mark(&mut packet)) {
            let cause = Cause::Aqm {
                discipline: verdict::Discipline::Red,
                waited: Span::ZERO,
                packets: self.waiting.packets(),
            };
            out.drop(now, packet, cause);
        } else {
            self.waiting.push(now, packet);
        }
    }

    /// Whether the packet that comes is dropped or marked (the paper's figure 2).
    fn is_hit(&mut self) -> bool {
        // A draw for every packet, so that what is hit later does not depend on what may be now.
        let draw = self.rng.open_unit();
        let Some(share) = self.plan.share(self.average.value) else {
            self.since_hit = -1;
            return false;
        };
        self.since_hit += 1;
        // So spaced, the number of packets from one hit to the next is uniform, not geometric
        // (§7 of the paper, method 2).
        let left = 1.0 - self.since_hit as f64 * share;
        let is_hit = left <= 0.0 || draw < share / left;
        if is_hit {
            self.since_hit = 0;
        }
        is_hit
    }
}

impl RedPlan {
    /// The probability at this average, before spacing; none below `min`.
    fn share(&self, average: f64) -> Option<f64> {
        let [min, max] = [self.min, self.max].map(QueueLimit::as_f64);
        let at_max = self.probability.as_f64();
        if average < min {
            None
        } else if average < max {
            Some(at_max * (average - min) / (max - min))
        } else if self.gentle && average < 2.0 * max {
            Some(at_max + (1.0 - at_max) * (average - max) / max)
        } else {
            Some(1.0)
        }
    }
}

/// The average of how much waits (§4 of the paper).
#[derive(Debug)]
struct Average {
    weight: f64,
    packet_time: Span,
    value: f64,
    /// Since when nothing has been waiting or sent, if so.
    idle_since: Option<Instant>,
}

impl Average {
    /// Takes in how much waits when a packet comes. `libm`'s power is the same on every machine.
    fn sample(&mut self, now: Instant, waiting: f64) {
        match self.idle_since.take() {
            None => self.value += self.weight * (waiting - self.value),
            Some(since) => {
                let packets =
                    now.since(since).as_nanos() as f64 / self.packet_time.as_nanos() as f64;
                self.value *= libm::pow(1.0 - self.weight, packets);
            }
        }
    }
}

impl Discipline for Red {
    fn push(&mut self, now: Instant, packet: Transit, out: &mut Outbox) {
        let has_room = self.waiting.has_room(self.plan.limit, packet.packet.size());
        self.admit(now, packet, has_room, out);
    }

    fn pass(&mut self, now: Instant, packet: Transit, out: &mut Outbox) -> Option<Queued> {
        self.admit(now, packet, true, out);
        self.pop(now, out)
    }

    fn pop(&mut self, now: Instant, _out: &mut Outbox) -> Option<Queued> {
        let next = self.waiting.pop();
        if next.is_none() {
            self.average.idle_since = Some(now);
        }
        next
    }

    fn held(&self) -> Box<dyn Iterator<Item = &Transit> + '_> {
        Box::new(self.waiting.iter())
    }
    fn release(&mut self, into: &mut Vec<Transit>) {
        self.waiting.release(into);
    }
}

#[cfg(test)]
mod tests;
