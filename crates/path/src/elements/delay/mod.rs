//! Propagation delay: a packet leaves unchanged, some time later.

mod agenda;
mod dist_table;
mod jitter;
mod law;
mod normal;
mod of_ports;

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use tcplab_units::{Instant, Span};

use agenda::Agenda;
use jitter::Jitter;
pub use jitter::{JitterPlan, JitterSpec, JitterTable};
pub use law::{JitterLaw, TableLaw};
pub use of_ports::{PortDelay, PortDelayPlan};
pub(crate) use of_ports::{PortDelays, delay_between};

use crate::behaviour::{Behaviour, Outbox, Streams, Transit};
use crate::event::Change;
use crate::fault::Fault;
use crate::schedule::Schedule;
use crate::text_or_table::text_or_table;

text_or_table! {
    DelaySpec, "Delay",
    "The one-way delay; where it changes with time, a packet gets that of its arrival.",
    "a time such as \"5 ms\", or a table of steps",
    /// Always the same.
    Constant(Span),
    /// It changes with time: a packet takes the delay of the moment it enters, and when that falls,
    /// waits for those before it.
    Schedule(Schedule<Span>),
}

impl DelaySpec {
    /// Where it changes, the mean over a repetition if it repeats, else the start.
    pub(crate) fn nominal(&self) -> Span {
        match self {
            DelaySpec::Constant(delay) => *delay,
            DelaySpec::Schedule(schedule) => schedule.nominal(),
        }
    }

    /// The delay at the world's zero.
    pub(crate) fn at_start(&self) -> Span {
        match self {
            DelaySpec::Constant(delay) => *delay,
            DelaySpec::Schedule(schedule) => schedule.at(Instant::ZERO),
        }
    }

    /// From `at` on it is `to`.
    pub(crate) fn set(&mut self, at: Span, to: Span) {
        if let DelaySpec::Constant(delay) = self {
            *self = DelaySpec::Schedule(Schedule::steady(*delay));
        }
        if let DelaySpec::Schedule(schedule) = self {
            schedule.set(at, to);
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

    /// A delay that no packet has less than: none where it varies by chance.
    pub(crate) fn least(&self) -> Span {
        match &self.delay {
            _ if self.jitter.is_some() => Span::ZERO,
            DelaySpec::Constant(delay) => *delay,
            DelaySpec::Schedule(schedule) => {
                let steps = schedule.steps.iter().map(|step| step.to);
                steps.chain([schedule.start]).min().unwrap_or_default()
            }
        }
    }

    /// The mean delay of packets that come at `now` and wait for none before them.
    pub(crate) fn mean_at(&self, now: Instant) -> Span {
        let delay = match &self.delay {
            DelaySpec::Constant(delay) => *delay,
            DelaySpec::Schedule(schedule) => schedule.at(now),
        };
        self.jitter.as_ref().map_or(delay, |jitter| jitter.law.mean_around(delay))
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
        format!("Delay {delay}{jitter}.")
    }
}

/// The element at work.
#[derive(Debug)]
pub(crate) struct Delay {
    spec: DelaySpec,
    /// The delay now, without jitter.
    now: Span,
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
    /// In the order in which they are due.
    AsDue(Agenda),
}

impl Delay {
    pub(crate) fn new(plan: &DelayPlan, streams: Streams) -> Delay {
        let under_way = if plan.reorders() {
            UnderWay::AsDue(Agenda::default())
        } else {
            UnderWay::InOrder(VecDeque::new())
        };
        Delay {
            spec: plan.delay.clone(),
            now: plan.delay.at_start(),
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
            self.now = schedule.at(now);
            self.next_change = schedule.next_change(now);
        }
        match &mut self.jitter {
            Some(jitter) => {
                Span::from_nanos(self.now.as_nanos().saturating_add_signed(jitter.next()))
            }
            None => self.now,
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
            UnderWay::AsDue(agenda) => agenda.push(due, packet),
        }
    }
    fn poll_at(&self) -> Option<Instant> {
        match &self.under_way {
            UnderWay::InOrder(queue) => queue.front().map(|(due, _)| *due),
            UnderWay::AsDue(agenda) => agenda.next_due(),
        }
    }
    fn advance(&mut self, _now: Instant, out: &mut Outbox) {
        let next = match &mut self.under_way {
            UnderWay::InOrder(queue) => queue.pop_front().map(|(_, packet)| packet),
            UnderWay::AsDue(agenda) => agenda.pop(),
        };
        if let Some(packet) = next {
            out.pass(packet);
        }
    }
    fn change(&mut self, at: Instant, change: Change) {
        let Change::Delay(delay) = change else { unreachable!("it has a delay only") };
        self.spec.set(at.since(Instant::ZERO), delay);
        self.next_change = Instant::earlier(self.next_change, Some(at));
    }
    fn held(&self) -> Box<dyn Iterator<Item = &Transit> + '_> {
        match &self.under_way {
            UnderWay::InOrder(queue) => Box::new(queue.iter().map(|(_, packet)| packet)),
            UnderWay::AsDue(agenda) => Box::new(agenda.in_order()),
        }
    }
    fn settled(&self) -> Box<dyn Iterator<Item = (Instant, &Transit)> + '_> {
        match &self.under_way {
            UnderWay::InOrder(queue) => Box::new(queue.iter().map(|(due, packet)| (*due, packet))),
            // Another may overtake them.
            UnderWay::AsDue(_) => Box::new(std::iter::empty()),
        }
    }
    fn release(&mut self, into: &mut Vec<Transit>) {
        match &mut self.under_way {
            UnderWay::InOrder(queue) => into.extend(queue.drain(..).map(|(_, packet)| packet)),
            UnderWay::AsDue(agenda) => into.extend(std::iter::from_fn(|| agenda.pop())),
        }
    }
}

#[cfg(test)]
mod tests;
