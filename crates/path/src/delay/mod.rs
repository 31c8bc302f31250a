//! Propagation: a packet comes out as it went in, a while later.

mod dist_table;
mod jitter;
mod law;
mod normal;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use serde::{Deserialize, Serialize};
use tcplab_units::{Instant, Span};

use jitter::Jitter;
pub use jitter::{JitterPlan, JitterSpec, JitterTable};
pub use law::{JitterLaw, TableLaw};

use crate::element::{Behaviour, Outbox, Streams, Transit};
use crate::schedule::Schedule;
use crate::spec::Fault;
use crate::text_or_table::text_or_table;

/// A delay as it is written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum DelaySpec {
    /// Always the same.
    Constant(Span),
    /// It changes with time: a packet takes the delay of the moment it enters, and when that falls,
    /// waits for those before it.
    Schedule(Schedule<Span>),
}

text_or_table!(
    DelaySpec, "Delay",
    "How long a packet takes: that of the moment it enters, where it changes with time.",
    "a time such as \"5 ms\", or a table of steps",
    text(Span): |text: &str| text.parse().map(DelaySpec::Constant), table: Schedule<Span>
);

impl From<Schedule<Span>> for DelaySpec {
    fn from(schedule: Schedule<Span>) -> DelaySpec {
        DelaySpec::Schedule(schedule)
    }
}

impl DelaySpec {
    /// The delay at the world's zero.
    pub(crate) fn at_start(&self) -> Span {
        match self {
            DelaySpec::Constant(delay) => *delay,
            DelaySpec::Schedule(schedule) => schedule.at(Instant::ZERO),
        }
    }

    pub(crate) fn plan(&self) -> Result<DelaySpec, Fault> {
        if let DelaySpec::Schedule(schedule) = self {
            schedule.check()?;
        }
        Ok(self.clone())
    }
}

/// A delay and its jitter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DelayPlan {
    /// The delay.
    pub delay: DelaySpec,
    /// By how much it differs from packet to packet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jitter: Option<JitterPlan>,
}

impl DelayPlan {
    /// None when packets pass at once.
    pub(crate) fn of(delay: Option<DelaySpec>, jitter: Option<JitterPlan>) -> Option<DelayPlan> {
        let delay = delay.unwrap_or(DelaySpec::Constant(Span::ZERO));
        let is_constant = matches!(delay, DelaySpec::Constant(_));
        // Jitter of no width lets packets overtake only where the delay itself changes.
        let jitter = jitter.filter(|jitter| !(jitter.is_even() && is_constant));
        let is_nothing = jitter.is_none() && delay == DelaySpec::Constant(Span::ZERO);
        (!is_nothing).then_some(DelayPlan { delay, jitter })
    }

    /// Whether packets may overtake one another.
    pub fn reorders(&self) -> bool {
        self.jitter.as_ref().is_some_and(|jitter| jitter.reorder)
    }

    /// The probability that a packet is given a delay of at most `at`, where the delay is that of
    /// the start. Packets that keep their order take longer where they come more closely than their
    /// delays differ.
    pub fn cdf(&self, at: Span) -> f64 {
        let offset = i128::from(at.as_nanos()) - i128::from(self.delay.at_start().as_nanos());
        match &self.jitter {
            // Delays are rounded up, so this is exact; what would be negative is not above zero.
            Some(jitter) => jitter.law.cdf(offset as f64),
            None => f64::from(u8::from(offset >= 0)),
        }
    }

    pub(crate) fn describe(&self) -> String {
        let delay = match &self.delay {
            DelaySpec::Constant(delay) => delay.to_string(),
            DelaySpec::Schedule(schedule) => schedule.describe(),
        };
        let jitter = self.jitter.as_ref().map(JitterPlan::describe).unwrap_or_default();
        format!("Each packet takes {delay}{jitter}.")
    }
}

/// At work.
#[derive(Debug)]
pub(crate) struct Delay {
    spec: DelaySpec,
    /// What it is now.
    delay: Span,
    /// When it has to be looked up again.
    next_change: Option<Instant>,
    jitter: Option<Jitter>,
    under_way: UnderWay,
}

/// The packets under way.
#[derive(Debug)]
enum UnderWay {
    /// Each with the instant it is due, which is never before that of the one ahead of it.
    InOrder(VecDeque<(Instant, Transit)>),
    /// By when they are due, and how many have come.
    AsDue(BinaryHeap<Reverse<Due>>, u64),
}

/// A packet that may overtake others. Of two that are due at once, the one that came first goes
/// first.
#[derive(Debug)]
struct Due {
    at: Instant,
    number: u64,
    packet: Transit,
}

impl Delay {
    pub(crate) fn new(plan: &DelayPlan, streams: Streams) -> Delay {
        let under_way = if plan.reorders() {
            UnderWay::AsDue(BinaryHeap::new(), 0)
        } else {
            UnderWay::InOrder(VecDeque::new())
        };
        Delay {
            spec: plan.delay.clone(),
            delay: plan.delay.at_start(),
            next_change: match &plan.delay {
                DelaySpec::Constant(_) => None,
                DelaySpec::Schedule(schedule) => schedule.next_change(Instant::ZERO),
            },
            jitter: plan.jitter.as_ref().map(|plan| Jitter::new(plan, streams)),
            under_way,
        }
    }

    /// The delay of a packet that enters now.
    fn next_delay(&mut self, now: Instant) -> Span {
        if let DelaySpec::Schedule(schedule) = &self.spec
            && self.next_change.is_some_and(|change| change <= now)
        {
            self.delay = schedule.at(now);
            self.next_change = schedule.next_change(now);
        }
        match &mut self.jitter {
            Some(jitter) => {
                Span::from_nanos(self.delay.as_nanos().saturating_add_signed(jitter.next()))
            }
            None => self.delay,
        }
    }
}

impl Behaviour for Delay {
    fn accept(&mut self, now: Instant, packet: Transit, _out: &mut Outbox) {
        let due = now + self.next_delay(now);
        match &mut self.under_way {
            UnderWay::InOrder(queue) => {
                let due = queue.back().map_or(due, |(ahead, _)| due.max(*ahead));
                queue.push_back((due, packet));
            }
            UnderWay::AsDue(heap, come) => {
                heap.push(Reverse(Due { at: due, number: *come, packet }));
                *come += 1;
            }
        }
    }
    fn poll_at(&self) -> Option<Instant> {
        match &self.under_way {
            UnderWay::InOrder(queue) => queue.front().map(|(due, _)| *due),
            UnderWay::AsDue(heap, _) => heap.peek().map(|Reverse(due)| due.at),
        }
    }
    fn advance(&mut self, _now: Instant, out: &mut Outbox) {
        let next = match &mut self.under_way {
            UnderWay::InOrder(queue) => queue.pop_front().map(|(_, packet)| packet),
            UnderWay::AsDue(heap, _) => heap.pop().map(|Reverse(due)| due.packet),
        };
        if let Some(packet) = next {
            out.pass(packet);
        }
    }
    fn held(&self) -> Box<dyn Iterator<Item = &Transit> + '_> {
        match &self.under_way {
            UnderWay::InOrder(queue) => Box::new(queue.iter().map(|(_, packet)| packet)),
            UnderWay::AsDue(heap, _) => {
                let mut held: Vec<&Due> = heap.iter().map(|Reverse(due)| due).collect();
                held.sort_unstable();
                Box::new(held.into_iter().map(|due| &due.packet))
            }
        }
    }
    fn release(&mut self, into: &mut Vec<Transit>) {
        match &mut self.under_way {
            UnderWay::InOrder(queue) => into.extend(queue.drain(..).map(|(_, packet)| packet)),
            UnderWay::AsDue(heap, _) => {
                while let Some(Reverse(due)) = heap.pop() {
                    into.push(due.packet);
                }
            }
        }
    }
}

impl PartialEq for Due {
    fn eq(&self, other: &Due) -> bool {
        self.cmp(other).is_eq()
    }
}
impl Eq for Due {}
impl PartialOrd for Due {
    fn partial_cmp(&self, other: &Due) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Due {
    fn cmp(&self, other: &Due) -> std::cmp::Ordering {
        (self.at, self.number).cmp(&(other.at, other.number))
    }
}

#[cfg(test)]
mod tests;
