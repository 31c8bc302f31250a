//! Interruptions: times in which no packet passes.

mod blackhole;
mod spec;

use serde::{Deserialize, Serialize};
use tcplab_units::{Bytes, Instant, Rng, Span};

pub use blackhole::{BlackholePlan, BlackholeSpec, BlackholeTable};
pub use spec::{InterruptionSpec, InterruptionsSpec};

use crate::Cause;
use crate::behaviour::{Gate, Streams, exponential};
use crate::event::Change;

/// When a link is interrupted, and for how long.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InterruptionPlan {
    /// When.
    pub times: InterruptionTimes,
    /// The length of each, above zero; the mean length, where they come at random; the greatest,
    /// where each has its own.
    pub lasting: Span,
}

/// When interruptions start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum InterruptionTimes {
    /// At `offset` + k · `every` for k = 0, 1, 2...
    Periodic {
        /// From the start of one to the start of the next; longer than each lasts.
        every: Span,
        /// From the world's zero to the start of the first.
        offset: Span,
    },
    /// As listed.
    Listed {
        /// From the world's zero; in order, and none before the one before it has ended.
        at: Vec<Span>,
    },
    /// When events say so.
    Events {
        /// From the world's zero, and for how long; in order of their starts. They may overlap.
        each: Vec<(Span, Span)>,
    },
    /// After exponentially distributed times; they last as randomly.
    Random {
        /// The mean time from the end of one to the start of the next.
        up: Span,
        /// From the world's zero to the start of the first, if that is not random too.
        offset: Option<Span>,
        /// The name of the stream of random numbers. Links with the same share the times.
        stream: String,
    },
}

/// An interruption: its number, counted from 1, its start, and the first instant after it.
type Window = (u64, Instant, Instant);

impl InterruptionPlan {
    /// No interruptions, until [`add`](Self::add).
    pub(crate) fn by_events() -> InterruptionPlan {
        let times = InterruptionTimes::Events { each: Vec::new() };
        InterruptionPlan { times, lasting: Span::ZERO }
    }

    /// Adds an interruption to those of events.
    pub(crate) fn add(&mut self, at: Span, lasting: Span) {
        if let InterruptionTimes::Events { each } = &mut self.times {
            each.insert(each.partition_point(|(other, _)| *other <= at), (at, lasting));
            self.lasting = self.lasting.max(lasting);
        }
    }

    /// All that start before `until`, as start and end, in a trial with this `seed`; in order.
    pub fn windows(
        &self,
        until: Instant,
        seed: u64,
    ) -> Box<dyn Iterator<Item = (Instant, Instant)> + '_> {
        let lasting = self.lasting;
        match &self.times {
            InterruptionTimes::Periodic { every, offset } => {
                let first = Instant::ZERO + *offset;
                let count = until.since(first).as_nanos().div_ceil(every.as_nanos());
                Box::new((0..count).map(move |index| {
                    let from = first + *every * index;
                    (from, from + lasting)
                }))
            }
            InterruptionTimes::Listed { at } => {
                let starts = at.iter().map(|at| Instant::ZERO + *at);
                let starts = starts.take_while(move |from| *from < until);
                Box::new(starts.map(move |from| (from, from + lasting)))
            }
            InterruptionTimes::Events { each } => {
                let windows = each.iter().map(window).take_while(move |(from, _)| *from < until);
                Box::new(windows)
            }
            InterruptionTimes::Random { up, offset, stream } => {
                let mut drawn = Drawn::new(*up, lasting, *offset, Rng::new(seed, stream));
                Box::new(std::iter::from_fn(move || {
                    let (_, from, to) = drawn.next();
                    (from < until).then_some((from, to))
                }))
            }
        }
    }

    /// How many begin in so long; in the mean, where they come at random.
    pub(crate) fn count_in(&self, span: Span) -> u64 {
        let apart = match &self.times {
            InterruptionTimes::Periodic { every, .. } => *every,
            InterruptionTimes::Random { up, .. } => *up + self.lasting,
            InterruptionTimes::Listed { at } => return at.len() as u64,
            InterruptionTimes::Events { each } => return each.len() as u64,
        };
        span.as_nanos() / apart.as_nanos().max(1)
    }

    pub(crate) fn describe(&self) -> String {
        let lasting = self.lasting;
        match &self.times {
            InterruptionTimes::Periodic { every, offset } => {
                format!("All packets are dropped for {lasting} every {every}, first at {offset}.")
            }
            InterruptionTimes::Listed { at } => {
                let at: Vec<_> = at.iter().map(ToString::to_string).collect();
                let at = listed(&at);
                format!("All packets are dropped for {lasting} at {at}.")
            }
            InterruptionTimes::Events { each } => {
                let each = each.iter().map(|(at, lasting)| format!("for {lasting} at {at}"));
                let each: Vec<_> = each.collect();
                format!("All packets are dropped {}.", listed(&each))
            }
            InterruptionTimes::Random { up, offset, .. } => {
                let first = offset.map(|at| format!(", first at {at}")).unwrap_or_default();
                format!(
                    "All packets are dropped at random times{first}: mean length {lasting}, mean \
                     time between {up}."
                )
            }
        }
    }
}

/// Such as `1 s, 2 s and 3 s`.
fn listed(texts: &[String]) -> String {
    match texts {
        [one] => one.clone(),
        [others @ .., last] => format!("{} and {last}", others.join(", ")),
        [] => "no time".into(),
    }
}

/// Start and end of an interruption by an event.
fn window((at, lasting): &(Span, Span)) -> (Instant, Instant) {
    let from = Instant::ZERO + *at;
    (from, from + *lasting)
}

/// Drops the packets that arrive during an interruption, and holds none.
#[derive(Debug)]
pub(crate) struct Interruption {
    plan: InterruptionPlan,
    /// Where interruptions come at random, the next one to end, and those to come.
    drawn: Option<(Window, Drawn)>,
}

impl Interruption {
    /// # Panics
    /// When `every` is zero.
    pub(crate) fn new(plan: &InterruptionPlan, streams: Streams) -> Interruption {
        let drawn = match &plan.times {
            InterruptionTimes::Periodic { every, .. } => {
                assert!(!every.is_zero(), "interruptions need a time between them");
                None
            }
            InterruptionTimes::Listed { .. } | InterruptionTimes::Events { .. } => None,
            InterruptionTimes::Random { up, offset, stream } => {
                let mut drawn = Drawn::new(*up, plan.lasting, *offset, streams.shared(stream));
                Some((drawn.next(), drawn))
            }
        };
        Interruption { plan: plan.clone(), drawn }
    }

    /// The interruption at `now`, which never decreases.
    fn at(&mut self, now: Instant) -> Option<Window> {
        let (number, from, to) = match (&self.plan.times, &mut self.drawn) {
            (InterruptionTimes::Periodic { every, offset }, _) => {
                let first = Instant::ZERO + *offset;
                let index = now.since(first).as_nanos() / every.as_nanos();
                let from = first + *every * index;
                (index + 1, from, from + self.plan.lasting)
            }
            (InterruptionTimes::Listed { at }, _) => {
                let begun = at.partition_point(|at| Instant::ZERO + *at <= now);
                let from = Instant::ZERO + *at.get(begun.checked_sub(1)?)?;
                (begun as u64, from, from + self.plan.lasting)
            }
            (InterruptionTimes::Events { each }, _) => {
                // The latest that has begun and lasts.
                let begun = each.partition_point(|(at, _)| Instant::ZERO + *at <= now);
                let lasts = |one: &(Span, Span)| now < window(one).1;
                let index = each[..begun].iter().rposition(lasts)?;
                let (from, to) = window(&each[index]);
                (index as u64 + 1, from, to)
            }
            (InterruptionTimes::Random { .. }, drawn) => {
                let (window, drawn) = drawn.as_mut()?;
                // The last one lasts to the end of time.
                while window.2 <= now && window.2 < Instant::MAX {
                    *window = drawn.next();
                }
                *window
            }
        };
        (from <= now && now < to).then_some((number, from, to))
    }
}

impl Gate for Interruption {
    fn refuse(&mut self, now: Instant, _size: Bytes) -> Option<Cause> {
        self.at(now).map(|(number, from, to)| Cause::Interruption { number, from, to })
    }
    fn change(&mut self, at: Instant, change: Change) {
        let Change::Interrupt(lasting) = change else { unreachable!("it interrupts only") };
        self.plan.add(at.since(Instant::ZERO), lasting);
    }
}

/// Interruptions at random: times up and times down in turn, two draws each round, so that their
/// means do not shift the draws that follow.
#[derive(Debug)]
struct Drawn {
    up: Span,
    lasting: Span,
    offset: Option<Span>,
    rng: Rng,
    /// How many have been drawn, and when the last of them ended.
    number: u64,
    end: Instant,
}

impl Drawn {
    fn new(up: Span, lasting: Span, offset: Option<Span>, rng: Rng) -> Drawn {
        Drawn { up, lasting, offset, rng, number: 0, end: Instant::ZERO }
    }

    fn next(&mut self) -> Window {
        let up = exponential(self.up, &mut self.rng);
        let down = exponential(self.lasting, &mut self.rng);
        let from = self.end + self.offset.take().unwrap_or(up);
        self.end = from + down;
        self.number += 1;
        (self.number, from, self.end)
    }
}

#[cfg(test)]
mod tests;
