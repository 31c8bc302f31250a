//! Where packets wait for a bottleneck.

mod codel;
mod drop_head;
mod drop_tail;
mod fifo;
mod flow;
mod fq_codel;
mod pie;
mod red;
mod spec;
#[cfg(test)]
mod testing;

use std::fmt;

use serde::{Deserialize, Serialize};
use tcplab_units::{Bytes, Instant, Rng};

pub use codel::{CodelControl, CodelPlan, CodelSpec};
pub use drop_tail::StepMarkPlan;
pub use fq_codel::{FqCodelPlan, FqCodelSpec};
pub use pie::{PiePlan, PieSpec};
pub use red::{RedPlan, RedSpec};
use spec::limit_below;
pub use spec::{BdpMultiple, QueueSize, QueueSizeError, QueueSpec, QueueTable, SMALLEST_QUEUE};

use crate::element::{Outbox, Transit};
use codel::CodelQueue;
use drop_head::DropHead;
use drop_tail::DropTail;
use fq_codel::FqCodel;
use pie::Pie;
use red::Red;

/// How a queue decides whom to drop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum QueuePlan {
    /// First in, first out; what finds no room is dropped.
    DropTail(QueueLimit),
    /// The same, and what finds much waiting is marked.
    StepMark(StepMarkPlan),
    /// First in, first out; the oldest gives way to what finds no room.
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

/// How much may wait.
///
/// Only what waits counts. The packet being sent has left the queue, as it has in Linux, where
/// the queueing discipline hands it to the device: `pfifo_enqueue` takes a packet while fewer
/// than the limit wait, `bfifo_enqueue` while those that wait and the packet together do not
/// exceed the limit in bytes (net/sched/sch_fifo.c).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum QueueLimit {
    /// So many packets of any size.
    Packets(u32),
    /// So many bytes of IP packets.
    Bytes(Bytes),
}

impl QueueLimit {
    /// Whether one of `size` may join `packets` of `bytes` together.
    pub(crate) fn has_room(self, packets: usize, bytes: Bytes, size: Bytes) -> bool {
        match self {
            QueueLimit::Packets(limit) => packets < limit as usize,
            QueueLimit::Bytes(limit) => bytes + size <= limit,
        }
    }

    /// Whether it is less than another; none where one is in packets and the other in bytes.
    fn is_less(self, other: QueueLimit) -> Option<bool> {
        match (self, other) {
            (QueueLimit::Packets(one), QueueLimit::Packets(other)) => Some(one < other),
            (QueueLimit::Bytes(one), QueueLimit::Bytes(other)) => Some(one < other),
            _ => None,
        }
    }

    /// The number of packets or bytes.
    fn as_f64(self) -> f64 {
        match self {
            QueueLimit::Packets(packets) => f64::from(packets),
            QueueLimit::Bytes(bytes) => bytes.as_u64() as f64,
        }
    }
}

impl QueuePlan {
    /// Whether it looks into packets, to tell flows apart, or changes them, to mark them.
    pub(crate) fn reads_packets(&self) -> bool {
        match self {
            QueuePlan::DropTail(_) | QueuePlan::DropHead(_) => false,
            // To mark them, or to tell flows apart.
            QueuePlan::StepMark(_)
            | QueuePlan::Codel(_)
            | QueuePlan::FqCodel(_)
            | QueuePlan::Pie(_)
            | QueuePlan::Red(_) => true,
        }
    }

    /// Such as `512 packets can wait, what comes then is dropped`.
    pub(crate) fn describe(&self) -> String {
        match self {
            QueuePlan::DropTail(limit) => format!("{limit} can wait, what comes then is dropped"),
            QueuePlan::StepMark(plan) => plan.describe(),
            QueuePlan::DropHead(limit) => {
                format!("{limit} can wait, the oldest gives way to what comes then")
            }
            QueuePlan::Codel(plan) => plan.describe(),
            QueuePlan::FqCodel(plan) => plan.describe(),
            QueuePlan::Pie(plan) => plan.describe(),
            QueuePlan::Red(plan) => plan.describe(),
        }
    }
}

impl fmt::Display for QueueLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            QueueLimit::Packets(1) => f.write_str("1 packet"),
            QueueLimit::Packets(n) => write!(f, "{n} packets"),
            QueueLimit::Bytes(bytes) => bytes.fmt(f),
        }
    }
}

/// What a queueing discipline does. Time never goes backwards between calls.
trait Discipline {
    /// Takes a packet that arrives now, or drops it or others to make room.
    fn push(&mut self, now: Instant, packet: Transit, out: &mut Outbox);

    /// The packet to send when one arrives while nothing waits and the transmitter is ready: as
    /// [`push`](Self::push) and [`pop`](Self::pop) in one, but there is always room. Nothing if the
    /// packet was dropped.
    fn pass(
        &mut self,
        now: Instant,
        packet: Transit,
        _out: &mut Outbox,
    ) -> Option<(Instant, Transit)> {
        Some((now, packet))
    }

    /// The packet to send now, and since when it has waited; may drop others on the way. Nothing
    /// only when nothing is left.
    fn pop(&mut self, now: Instant, out: &mut Outbox) -> Option<(Instant, Transit)>;

    /// What waits, roughly next to be sent first.
    fn held(&self) -> Box<dyn Iterator<Item = &Transit> + '_>;

    /// Lets go of all that waits, in the order of [`held`](Self::held).
    fn release(&mut self, into: &mut Vec<Transit>);
}

/// A queue at work.
#[derive(Debug)]
pub(crate) enum Queue {
    DropTail(DropTail),
    DropHead(DropHead),
    Codel(CodelQueue),
    FqCodel(FqCodel),
    Pie(Pie),
    Red(Red),
}

/// What the discipline does, whichever it is.
macro_rules! of_discipline {
    ($queue:expr, $discipline:ident => $call:expr) => {
        match $queue {
            Queue::DropTail($discipline) => $call,
            Queue::DropHead($discipline) => $call,
            Queue::Codel($discipline) => $call,
            Queue::FqCodel($discipline) => $call,
            Queue::Pie($discipline) => $call,
            Queue::Red($discipline) => $call,
        }
    };
}

impl Queue {
    /// The queue planned, drawing from `stream` if its discipline is a random one.
    pub(crate) fn new(plan: &QueuePlan, stream: impl FnOnce() -> Rng) -> Queue {
        match *plan {
            QueuePlan::DropTail(limit) => Queue::DropTail(DropTail::new(limit)),
            QueuePlan::StepMark(plan) => Queue::DropTail(DropTail::marking(&plan)),
            QueuePlan::DropHead(limit) => Queue::DropHead(DropHead::new(limit)),
            QueuePlan::Codel(plan) => Queue::Codel(CodelQueue::new(plan)),
            QueuePlan::FqCodel(plan) => Queue::FqCodel(FqCodel::new(plan, stream())),
            QueuePlan::Pie(plan) => Queue::Pie(Pie::new(plan, stream())),
            QueuePlan::Red(plan) => Queue::Red(Red::new(plan, stream())),
        }
    }

    /// Takes a packet that arrives now, or drops it or others to make room.
    pub(crate) fn push(&mut self, now: Instant, packet: Transit, out: &mut Outbox) {
        of_discipline!(self, it => it.push(now, packet, out));
    }

    /// The packet to send when one arrives while nothing waits and the transmitter is ready, and
    /// since when it has waited (not at all); nothing if the discipline drops it even so.
    pub(crate) fn pass(
        &mut self,
        now: Instant,
        packet: Transit,
        out: &mut Outbox,
    ) -> Option<(Instant, Transit)> {
        of_discipline!(self, it => it.pass(now, packet, out))
    }

    /// The packet to send now, and since when it has waited; may drop others on the way. Nothing
    /// only when nothing is left.
    pub(crate) fn pop(&mut self, now: Instant, out: &mut Outbox) -> Option<(Instant, Transit)> {
        of_discipline!(self, it => it.pop(now, out))
    }

    /// What waits, roughly next to be sent first.
    pub(crate) fn held(&self) -> Box<dyn Iterator<Item = &Transit> + '_> {
        of_discipline!(self, it => it.held())
    }

    /// Lets go of all that waits, in the order of [`held`](Self::held).
    pub(crate) fn release(&mut self, into: &mut Vec<Transit>) {
        of_discipline!(self, it => it.release(into));
    }
}
