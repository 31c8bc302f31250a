//! Proportional Integral controller Enhanced (RFC 8033): packets that come are dropped with a
//! probability that a controller sets every few milliseconds, so that the wait stays near a target.

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

/// Proportional Integral controller Enhanced, PIE (RFC 8033): drops packets as they come, with a
/// probability that grows while the wait is above the target or grows itself.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Pie")]
pub struct PieSpec {
    /// The size of the queue; when full, arriving packets are dropped. Default: `1000 packets`, as
    /// Linux.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<QueueSize>,
    /// The wait that it aims at; above zero. Default: `15 ms` (QDELAY_REF, RFC 8033 §4.2).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<Span>,
    /// The update interval of the probability; at least 100 µs. Default: `15 ms` (T_UPDATE, RFC
    /// 8033 §4.2).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub update: Option<Span>,
    /// The burst allowance: after idle time, nothing is dropped at random for this long. Default:
    /// `150 ms` (MAX_BURST, RFC 8033 §4.4).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub burst: Option<Span>,
    /// Whether packets that allow it (ECT) are marked (CE) instead of dropped, up to
    /// `mark_threshold`. Default: false, as Linux.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ecn: Option<bool>,
    /// Up to which probability it marks; above it drops even what could be marked. Needs
    /// `ecn = true`. Default: `10 %` (mark_ecnth, RFC 8033 §5.1).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mark_threshold: Option<Probability>,
    /// Whether drops are kept from coming too close together or too far apart (RFC 8033 §5.4).
    /// Default: false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub derandomize: Option<bool>,
}

/// The shortest interval between updates: each takes some work, also while no packet comes.
const LEAST_UPDATE: Span = Span::from_micros(100);
/// The most updates between two packets. Within so many the probability settles, unless the wait
/// is almost the target: then the probability stays what it is after so many.
const MOST_UPDATES: u32 = 100_000;

/// PIE, checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PiePlan {
    /// How much may wait.
    pub limit: QueueLimit,
    /// The wait that it aims at.
    pub target: Span,
    /// The interval between updates of the probability; at least [`LEAST_UPDATE`].
    pub update: Span,
    /// For how long nothing is dropped after an idle time.
    pub burst: Span,
    /// Up to which probability it marks packets that allow it; none: it never does.
    pub mark_threshold: Option<Probability>,
    /// Whether drops are spread evenly.
    pub derandomize: bool,
}

impl PieSpec {
    pub(super) fn plan(&self, rate: Rate, round_trip: Span) -> Result<PiePlan, Fault> {
        let limit = self.limit.unwrap_or(QueueSize::Packets(1000));
        let ecn = self.ecn.unwrap_or(false);
        if self.mark_threshold.is_some() && !ecn {
            let what = "`mark_threshold` needs `ecn = true`";
            return Err(Fault::below("pie.mark_threshold", what));
        }
        let mark_threshold = self.mark_threshold.unwrap_or(Probability::per_million(100_000));
        let target = self.target.unwrap_or(Span::from_millis(15));
        if target.is_zero() {
            let what = "the target is zero: give a time above zero, such as `15 ms`";
            return Err(Fault::below("pie.target", what));
        }
        let update = self.update.unwrap_or(Span::from_millis(15));
        if update < LEAST_UPDATE {
            let what = format!("`update` is {update}: give at least {LEAST_UPDATE}, such as 15 ms");
            return Err(Fault::below("pie.update", what));
        }
        Ok(PiePlan {
            limit: limit_below("pie.limit", limit, rate, round_trip)?,
            target,
            update,
            burst: self.burst.unwrap_or(Span::from_millis(150)),
            mark_threshold: ecn.then_some(mark_threshold),
            derandomize: self.derandomize.unwrap_or(false),
        })
    }
}

impl PiePlan {
    pub(super) fn describe(&self) -> String {
        let PiePlan { limit, target, update, burst, mark_threshold, derandomize } = self;
        let evenly = if *derandomize { ", derandomized" } else { "" };
        let marks = mark_threshold.map_or_else(String::new, |most| {
            format!("; marks ECT packets (CE) up to a probability of {most}")
        });
        format!(
            "PIE queue {limit}: target wait {target}, updated every {update}, burst allowance \
             {burst}{evenly}{marks}"
        )
    }
}

/// A queue with PIE.
#[derive(Debug)]
pub(crate) struct Pie {
    plan: PiePlan,
    waiting: Fifo,
    rng: Rng,
    controller: Controller,
    /// The probabilities since the last drop, added up; only for spreading drops evenly.
    accumulated: f64,
}

impl Pie {
    pub(super) fn new(plan: PiePlan, rng: Rng) -> Pie {
        let controller = Controller::new(&plan);
        Pie { plan, waiting: Fifo::default(), rng, controller, accumulated: 0.0 }
    }

    /// Takes a packet for which there is room, or drops it.
    fn admit(&mut self, now: Instant, mut packet: Transit, out: &mut Outbox) {
        self.controller.catch_up(now);
        if self.is_hit() {
            self.accumulated = 0.0;
            let may_mark = self
                .plan
                .mark_threshold
                .is_some_and(|most| self.controller.probability <= most.as_f64());
            if !(may_mark && ecn::mark(&mut packet)) {
                let cause = Cause::Aqm {
                    discipline: verdict::Discipline::Pie,
                    waited: Span::ZERO,
                    packets: self.waiting.packets(),
                };
                out.drop(now, packet, cause);
                return;
            }
        }
        self.waiting.push(now, packet);
    }

    /// Whether the packet that comes is dropped or marked (RFC 8033 §4.1, §4.4, §5.4).
    fn is_hit(&mut self) -> bool {
        // A draw for every packet, so that what is hit later does not depend on what may be now.
        let draw = self.rng.open_unit();
        let Controller { probability, .. } = self.controller;
        if self.controller.is_bursting() || self.controller.is_calm() {
            return false;
        }
        if self.waiting.bytes() <= TWO_PACKETS {
            return false;
        }
        if !self.plan.derandomize {
            return draw < probability;
        }
        self.accumulated = if probability == 0.0 { 0.0 } else { self.accumulated + probability };
        match self.accumulated {
            ..0.85 => false,
            8.5.. => true,
            _ => draw < probability,
        }
    }

    /// Measures the queue delay of the departing packet (RFC 8033 §4.3 allows for
    /// timestamps, which Linux has by default). An empty queue has no wait (`pie_process_dequeue`,
    /// net/sched/sch_pie.c).
    fn learn(&mut self, now: Instant, queued: Instant) {
        self.controller.catch_up(now);
        let is_empty = self.waiting.len() == 0;
        self.controller.wait = if is_empty { Span::ZERO } else { now.since(queued) };
    }
}

impl Discipline for Pie {
    fn push(&mut self, now: Instant, packet: Transit, out: &mut Outbox) {
        if self.waiting.has_room(self.plan.limit, packet.packet.size()) {
            self.admit(now, packet, out);
        } else {
            self.controller.catch_up(now);
            self.accumulated = 0.0;
            out.drop(now, packet, self.waiting.full());
        }
        self.controller.allow_burst();
    }

    fn pass(&mut self, now: Instant, packet: Transit, out: &mut Outbox) -> Option<Queued> {
        self.admit(now, packet, out);
        self.controller.allow_burst();
        self.pop(now, out)
    }

    fn pop(&mut self, now: Instant, _out: &mut Outbox) -> Option<Queued> {
        let (queued, packet) = self.waiting.pop()?;
        self.learn(now, queued);
        Some((queued, packet))
    }

    fn held(&self) -> Box<dyn Iterator<Item = &Transit> + '_> {
        Box::new(self.waiting.iter())
    }
    fn release(&mut self, into: &mut Vec<Transit>) {
        self.waiting.release(into);
    }
}

/// Two packets of the usual size (2 · MEAN_PKTSIZE, RFC 8033 §4.1, which leaves it open; Linux
/// takes its MTU): with no more than that waiting nothing is dropped at random.
const TWO_PACKETS: Bytes = Bytes::new(2 * 1500);
/// Per second (RFC 8033 §4.2).
const ALPHA: f64 = 0.125;
const BETA: f64 = 1.25;

/// Sets the probability (RFC 8033 §4.2). Sums, products and quotients of `f64` alone, which are
/// the same on every machine.
#[derive(Debug)]
struct Controller {
    target: Span,
    period: Span,
    burst: Span,
    probability: f64,
    /// The last measured queue delay, and that of the last update.
    wait: Span,
    wait_before: Span,
    /// How much of the grace is left.
    burst_left: Span,
    next_update: Instant,
}

impl Controller {
    fn new(plan: &PiePlan) -> Controller {
        Controller {
            target: plan.target,
            period: plan.update,
            burst: plan.burst,
            probability: 0.0,
            wait: Span::ZERO,
            wait_before: Span::ZERO,
            burst_left: plan.burst,
            next_update: Instant::ZERO + plan.update,
        }
    }

    /// Does the updates due until now, each as it would have been in time: what they look at only
    /// changes when packets come and go, and then they have been caught up before. When the
    /// probability has settled, those that are left only use up the grace.
    fn catch_up(&mut self, now: Instant) {
        let mut updates = 0;
        while self.next_update <= now && self.next_update < Instant::MAX {
            let before = (self.probability, self.wait_before);
            self.update();
            self.pass(1);
            updates += 1;
            let is_settled = before == (self.probability, self.wait_before);
            if (is_settled || updates == MOST_UPDATES) && self.next_update <= now {
                self.pass(1 + now.since(self.next_update).as_nanos() / self.period.as_nanos());
            }
        }
    }

    /// So many periods have passed.
    fn pass(&mut self, periods: u64) {
        let passed = Span::from_nanos(self.period.as_nanos().saturating_mul(periods));
        self.next_update += passed;
        self.burst_left = self.burst_left.saturating_sub(passed);
    }

    /// RFC 8033 §4.2 and §5.5.
    fn update(&mut self) {
        let [wait, before, target] =
            [self.wait, self.wait_before, self.target].map(Span::as_secs_f64);
        let mut step = ALPHA * (wait - target) + BETA * (wait - before);
        // The smaller the probability, the smaller the steps.
        step /= match self.probability {
            ..0.000_001 => 2048.0,
            ..0.000_01 => 512.0,
            ..0.000_1 => 128.0,
            ..0.001 => 32.0,
            ..0.01 => 8.0,
            ..0.1 => 2.0,
            _ => 1.0,
        };
        // Where it is large already it grows by 2 % at most (§5.5).
        if self.probability >= 0.1 {
            step = step.min(0.02);
        }
        self.probability += step;
        // So §4.2, and Linux; the appendix of the RFC decays it below half the target already.
        if self.wait.is_zero() && self.wait_before.is_zero() {
            self.probability *= 0.98;
        }
        self.probability = self.probability.clamp(0.0, 1.0);
        self.wait_before = self.wait;
    }

    /// Whether the grace holds (RFC 8033 §4.4).
    fn is_bursting(&self) -> bool {
        !self.burst_left.is_zero()
    }

    /// Whether the wait is so short and the probability so low that dropping would cost throughput
    /// (RFC 8033 §4.1).
    fn is_calm(&self) -> bool {
        self.is_short(self.wait_before) && self.probability < 0.2
    }

    /// A time without congestion earns a new grace (RFC 8033 §4.4).
    fn allow_burst(&mut self) {
        if self.probability == 0.0 && self.is_short(self.wait) && self.is_short(self.wait_before) {
            self.burst_left = self.burst;
        }
    }

    /// Below half the target.
    fn is_short(&self, wait: Span) -> bool {
        wait.as_nanos().saturating_mul(2) < self.target.as_nanos()
    }
}

#[cfg(test)]
mod tests;
