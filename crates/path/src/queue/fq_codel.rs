//! Flow queues with CoDel (RFC 8290): each flow waits for itself, and they take turns.

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tcplab_units::{Bytes, Instant, Rate, Rng, Span};

use super::codel::{Codel, CodelControl};
use super::discipline::Discipline;
use super::fifo::{Fifo, Queued, count};
use super::flow::flow_hash;
use super::limit::QueueLimit;
use super::size::{QueueSize, limit_below};
use crate::behaviour::{Outbox, Transit};
use crate::fault::Fault;
use crate::{Cause, verdict};

/// Flow Queue CoDel, FQ-CoDel (RFC 8290): packets are sorted into queues by a hash of addresses,
/// protocol and ports, each with a CoDel of its own; queues take turns, and one that has just
/// become busy comes first.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "FqCodel")]
pub struct FqCodelSpec {
    /// How much may wait in all queues together; when it is more, the fattest queue loses its
    /// oldest packets: at least one, up to half of it, at most 64 at a time (RFC 8290 §4.1).
    /// Default: `10240 packets` (RFC 8290 §5.2.3).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<QueueSize>,
    /// How many queues there are, 1 to 65536; flows whose hashes meet share one. Default: 1024
    /// (RFC 8290 §5.2.5).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flows: Option<u32>,
    /// How much a queue may send at its turn, in bytes of IP; at least 68 B, the least that every
    /// link carries (RFC 791). Default: `1514 B` (RFC 8290 §5.2.4).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quantum: Option<Bytes>,
    /// The acceptable standing queue delay; above zero and below the interval. Default: `5 ms`
    /// (RFC 8290 §5.2.2).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<Span>,
    /// How long a wait must be above the target before the first drop. Default: `100 ms`
    /// (RFC 8290 §5.2.1).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<Span>,
    /// Whether packets that allow it (ECT) are marked (CE) where CoDel would drop them. Default:
    /// true, as Linux (RFC 8290 §5.2.6).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ecn: Option<bool>,
    /// A second limit, in bytes of IP packets, treated as the first; at least 1514 B. Default:
    /// `32 MiB`, as Linux, which counts its buffers there, somewhat more than the packets in them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<Bytes>,
}

/// FQ-CoDel, checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FqCodelPlan {
    /// How much may wait.
    pub limit: QueueLimit,
    /// How many bytes may wait.
    pub memory: Bytes,
    /// How many queues there are; at least one.
    pub flows: u32,
    /// How much a queue may send at its turn; above zero.
    pub quantum: Bytes,
    /// When a queue's CoDel drops.
    pub control: CodelControl,
}

const MOST_FLOWS: u32 = 65_536;
const SMALLEST_QUANTUM: Bytes = Bytes::new(68);
const LARGEST_QUANTUM: Bytes = Bytes::new(1 << 31);

impl FqCodelSpec {
    pub(super) fn plan(&self, rate: Rate, round_trip: Span) -> Result<FqCodelPlan, Fault> {
        let limit = self.limit.unwrap_or(QueueSize::Packets(10_240));
        let memory = QueueSize::Bytes(self.memory.unwrap_or(Bytes::new(32 << 20)));
        limit_below("fq_codel.memory", memory, rate, round_trip)?;
        let plan = FqCodelPlan {
            limit: limit_below("fq_codel.limit", limit, rate, round_trip)?,
            memory: self.memory.unwrap_or(Bytes::new(32 << 20)),
            flows: self.flows.unwrap_or(1024),
            quantum: self.quantum.unwrap_or(Bytes::new(1514)),
            control: CodelControl {
                target: self.target.unwrap_or(CodelControl::DEFAULT.target),
                interval: self.interval.unwrap_or(CodelControl::DEFAULT.interval),
                ecn: self.ecn.unwrap_or(true),
                ce_threshold: None,
            }
            .checked("fq_codel.target")?,
        };
        if !(1..=MOST_FLOWS).contains(&plan.flows) {
            let what = format!("{} queues: it takes from 1 to {MOST_FLOWS}", plan.flows);
            return Err(Fault::below("fq_codel.flows", what));
        }
        if !(SMALLEST_QUANTUM..=LARGEST_QUANTUM).contains(&plan.quantum) {
            let what = format!(
                "a quantum of {} is out of range: from 68 B, the least that every link carries, to \
                 2 GiB; 1514 B is usual",
                plan.quantum
            );
            return Err(Fault::below("fq_codel.quantum", what));
        }
        Ok(plan)
    }
}

impl FqCodelPlan {
    pub(super) fn describe(&self) -> String {
        let FqCodelPlan { limit, memory, flows, quantum, control } = self;
        let plural = if *flows == 1 { "" } else { "s" };
        format!(
            "FQ-CoDel with {flows} queue{plural}, quantum {quantum}, limit {limit} or {memory}; each \
             {control}"
        )
    }
}

/// Queues that take turns (RFC 8290 §4).
///
/// Each is one to its CoDel, which never takes the last MTU of it. Linux, where CoDel sees the sum
/// of all, may take even the only packet of a flow, when others keep it waiting for an interval.
#[derive(Debug)]
pub(crate) struct FqCodel {
    plan: FqCodelPlan,
    /// Picks the hash, so that the seed decides which flows meet in a queue (RFC 8290 §4.1).
    key: u64,
    flows: Vec<Flow>,
    /// Queues that have just become busy, and the others that are busy; by index.
    new: VecDeque<usize>,
    old: VecDeque<usize>,
    /// What waits in all of them.
    packets: usize,
    bytes: Bytes,
}

/// One of the queues.
#[derive(Debug, Default)]
struct Flow {
    waiting: Fifo,
    codel: Codel,
    /// How many bytes it may still send before it is another's turn.
    credit: i64,
    /// Whether it is in one of the lists.
    is_busy: bool,
}

impl FqCodel {
    pub(super) fn new(plan: FqCodelPlan, mut stream: Rng) -> FqCodel {
        FqCodel {
            plan,
            key: stream.next_u64(),
            flows: (0..plan.flows).map(|_| Flow::default()).collect(),
            new: VecDeque::new(),
            old: VecDeque::new(),
            packets: 0,
            bytes: Bytes::ZERO,
        }
    }

    /// RFC 8290 §4.1, without its limits.
    fn enqueue(&mut self, now: Instant, packet: Transit) {
        let hash = flow_hash(self.key, &packet);
        let index = ((u128::from(hash) * self.flows.len() as u128) >> 64) as usize;
        self.packets += 1;
        self.bytes += packet.packet.size();
        let flow = &mut self.flows[index];
        flow.waiting.push(now, packet);
        if !flow.is_busy {
            flow.is_busy = true;
            flow.credit = self.plan.quantum.as_u64() as i64;
            self.new.push_back(index);
        }
    }

    fn is_over(&self) -> bool {
        let is_over = match self.plan.limit {
            QueueLimit::Packets(most) => self.packets > most as usize,
            QueueLimit::Bytes(most) => self.bytes > most,
        };
        is_over || self.bytes > self.plan.memory
    }

    /// Drops the oldest packets of the fattest queue, until half of its bytes or 64 packets are
    /// gone: finding it takes a look at all queues, which should be worth it (RFC 8290 §4.1).
    fn drop_from_fattest(&mut self, now: Instant, full: Cause, out: &mut Outbox) {
        const BATCH: u32 = 64;
        let fatness = |flow: &Flow| (flow.waiting.bytes(), flow.waiting.len());
        let Some(fattest) = self.flows.iter_mut().rev().max_by_key(|flow| fatness(flow)) else {
            return;
        };
        let half = fattest.waiting.bytes().as_u64() / 2;
        let mut dropped = 0;
        for _ in 0..BATCH {
            let Some((_, packet)) = fattest.waiting.pop() else { break };
            dropped += packet.packet.size().as_u64();
            self.packets -= 1;
            self.bytes = self.bytes - packet.packet.size();
            out.drop(now, packet, full);
            if dropped >= half {
                break;
            }
        }
    }
}

impl Discipline for FqCodel {
    fn push(&mut self, now: Instant, packet: Transit, out: &mut Outbox) {
        let full = Cause::QueueFull { packets: count(self.packets), bytes: self.bytes };
        self.enqueue(now, packet);
        while self.is_over() {
            self.drop_from_fattest(now, full, out);
        }
    }

    fn pass(&mut self, now: Instant, packet: Transit, out: &mut Outbox) -> Option<Queued> {
        self.enqueue(now, packet);
        self.pop(now, out)
    }

    /// RFC 8290 §4.2.
    fn pop(&mut self, now: Instant, out: &mut Outbox) -> Option<Queued> {
        loop {
            let is_new = !self.new.is_empty();
            let list = if is_new { &mut self.new } else { &mut self.old };
            let index = list.pop_front()?;
            let flow = &mut self.flows[index];
            if flow.credit <= 0 {
                flow.credit += self.plan.quantum.as_u64() as i64;
                self.old.push_back(index);
                continue;
            }
            let (packets, bytes) = (&mut self.packets, &mut self.bytes);
            let drop = |packet: Transit, waited, _| {
                *packets -= 1;
                *bytes = *bytes - packet.packet.size();
                let packets = count(*packets);
                let discipline = verdict::Discipline::FqCodel;
                out.drop(now, packet, Cause::Aqm { discipline, waited, packets });
            };
            let Some((queued, packet)) =
                flow.codel.pop(now, &self.plan.control, &mut flow.waiting, drop)
            else {
                // A new one that has run dry must wait for its turn among the old ones before it
                // may be new again, or it could starve them.
                if is_new && !self.old.is_empty() {
                    self.old.push_back(index);
                } else {
                    flow.is_busy = false;
                }
                continue;
            };
            flow.credit -= packet.packet.size().as_u64() as i64;
            self.packets -= 1;
            self.bytes = self.bytes - packet.packet.size();
            let list = if is_new { &mut self.new } else { &mut self.old };
            list.push_front(index);
            return Some((queued, packet));
        }
    }

    fn held(&self) -> Box<dyn Iterator<Item = &Transit> + '_> {
        let busy = self.new.iter().chain(&self.old);
        Box::new(busy.flat_map(|index| self.flows[*index].waiting.iter()))
    }

    fn release(&mut self, into: &mut Vec<Transit>) {
        for index in self.new.drain(..).chain(self.old.drain(..)) {
            let flow = &mut self.flows[index];
            flow.waiting.release(into);
            *flow = Flow::default();
        }
        (self.packets, self.bytes) = (0, Bytes::ZERO);
    }
}

#[cfg(test)]
mod tests;
