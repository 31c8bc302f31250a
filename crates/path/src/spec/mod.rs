//! A path as it is written in a scenario, and the plan it comes to.

mod keys;

use tcplab_units::{Probability, Rate, Span};

pub(crate) use keys::Table;
pub use keys::{Backend, LinkSpec, PathSpec, StageSpec};
use keys::{Given, Keys};

use crate::bottleneck::{BottleneckPlan, ServerPlan, check_burst};
use crate::delay::DelayPlan;
use crate::mark::MarkPlan;
use crate::{Direction, ElementPlan, LinkPlan, QueueSpec};

/// The queue of a bottleneck whose scenario names none: Linux's `txqueuelen` of an Ethernet
/// device (`DEFAULT_TX_QUEUE_LEN`), which is what its `pfifo` takes for a limit.
pub const DEFAULT_QUEUE: QueueSpec = QueueSpec::Size(crate::QueueSize::Packets(1000));

/// A path that cannot be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct PathError {
    /// The key at fault, relative to the path: `queue`, `forward.interruption.lasting`,
    /// `stages.0.rate`.
    pub key: String,
    /// What is wrong with it, and what would be right.
    pub what: String,
}

/// What is wrong with the value of a key: the key below its own (empty for itself) and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) below: &'static str,
    pub(crate) what: String,
}

impl Fault {
    /// The value itself is wrong.
    pub(crate) fn here(what: impl Into<String>) -> Fault {
        Fault { below: "", what: what.into() }
    }
    /// The value of the key `below` in it is.
    pub(crate) fn below(below: &'static str, what: impl Into<String>) -> Fault {
        Fault { below, what: what.into() }
    }
}

impl From<(&'static str, String)> for Fault {
    fn from((below, what): (&'static str, String)) -> Fault {
        Fault { below, what }
    }
}

impl PathSpec {
    /// The plan of one direction: its own keys before the path's, checked, in the order that
    /// [`LinkPlan`] explains, and then its stages. Elements that would do nothing (a delay of zero)
    /// are left out.
    ///
    /// # Errors
    /// When a value, alone or beside others, makes no sense.
    pub fn link(&self, direction: Direction) -> Result<LinkPlan, PathError> {
        let mut elements = Vec::new();
        for (index, keys) in self.stages_of(direction).iter().enumerate() {
            let others = self.stages_of(direction.opposite());
            let other = others.first().filter(|_| index == 0);
            let stage = Stage { keys, direction, round_trip: self.round_trip(), other };
            stage.plan(&mut elements)?;
        }
        Ok(LinkPlan { elements })
    }

    /// How long a packet takes in one direction, beside waiting and being sent; at the start, where
    /// it changes with time.
    pub fn delay(&self, direction: Direction) -> Span {
        let stages = self.stages_of(direction);
        let delays = stages.iter().filter_map(|keys| keys.delay.as_ref());
        let nanos = delays.map(|delay| delay.value.at_start().as_nanos());
        Span::from_nanos(nanos.fold(0, u64::saturating_add))
    }

    /// The delay of both directions: the least time from a packet to the answer to it.
    pub fn round_trip(&self) -> Span {
        let [forward, reverse] = Direction::BOTH.map(|way| self.delay(way).as_nanos());
        Span::from_nanos(forward.saturating_add(reverse))
    }
}

/// One stage of one direction, to be planned.
struct Stage<'a> {
    keys: &'a Keys<'a>,
    direction: Direction,
    round_trip: Span,
    /// The keys of the opposite direction, which the path's own may be meant for.
    other: Option<&'a Keys<'a>>,
}

impl Stage<'_> {
    fn plan(&self, elements: &mut Vec<ElementPlan>) -> Result<(), PathError> {
        let keys = self.keys;
        elements.extend(plan(&keys.mtu, "mtu", |it| it.plan())?.map(ElementPlan::Mtu));
        elements.extend(plan(&keys.police, "police", |it| it.plan())?.map(ElementPlan::Policer));
        let cross = keys
            .cross
            .clone()
            .filter(|given| has_bottleneck(keys) || self.is_unused(given.table, has_bottleneck));
        let flows = plan(&cross, "cross", |it| it.plan(has_bottleneck(keys)))?;
        elements.extend(flows.into_iter().flatten().map(ElementPlan::CrossTraffic));
        elements.extend(self.bottleneck()?);
        let interruptions = planned_in(&keys.interruption, "interruption", |it, table| {
            it.plan(self.direction, table)
        })?;
        elements.extend(interruptions.into_iter().flatten().map(ElementPlan::Interruption));
        let blackhole =
            planned_in(&keys.blackhole, "blackhole", |it, table| it.plan(self.direction, table))?;
        elements.extend(blackhole.flatten().map(ElementPlan::Blackhole));
        elements.extend(plan(&keys.loss, "loss", |it| it.plan())?.flatten().map(ElementPlan::Loss));
        elements.extend(plan(&keys.drop, "drop", |it| it.plan())?.flatten().map(ElementPlan::Drop));
        let mark = keys.mark.as_ref().map(|given| *given.value);
        elements.extend(
            mark.filter(|it| *it != Probability::NEVER)
                .map(|probability| ElementPlan::Mark(MarkPlan { probability })),
        );
        elements.extend(
            plan(&keys.corrupt, "corrupt", |it| it.plan())?.flatten().map(ElementPlan::Corruption),
        );
        elements.extend(
            plan(&keys.duplicate, "duplicate", |it| it.plan())?
                .flatten()
                .map(ElementPlan::Duplication),
        );
        elements.extend(
            plan(&keys.reorder, "reorder", |it| it.plan())?.flatten().map(ElementPlan::Reordering),
        );
        let delay = plan(&keys.delay, "delay", |it| it.plan())?;
        let jitter = plan(&keys.jitter, "jitter", |it| it.plan())?.flatten();
        elements.extend(DelayPlan::of(delay, jitter).map(ElementPlan::Delay));
        Ok(())
    }

    /// Whether what stands in this table is good for nothing, this direction lacking what it needs:
    /// the path's may be meant for the other direction, if that has it.
    fn is_unused(&self, table: keys::Table, has: fn(&Keys<'_>) -> bool) -> bool {
        table.direction().is_some() || !self.other.is_some_and(has)
    }

    /// The rate and the queue, or the wireless link and its queue.
    fn bottleneck(&self) -> Result<Option<ElementPlan>, PathError> {
        let Keys { rate, burst, queue, wifi, .. } = self.keys;
        if let (Some(wifi), Some(_)) = (wifi, rate) {
            let what = "a stage has either a `rate` or a `wifi`: leave one out";
            return Err(wifi.error("wifi", Fault::here(what)));
        }
        let burst_bytes = plan(burst, "burst", |burst| match rate {
            None => {
                Err(Fault::here("a burst needs a rate: without one everything may be sent at once"))
            }
            Some(_) => check_burst(*burst).map(|()| *burst),
        });
        let server = match (rate, wifi) {
            (Some(rate), _) => {
                let burst = burst_bytes?;
                plan(&Some(rate.clone()), "rate", |rate| rate.plan(burst))?
            }
            (None, Some(wifi)) => {
                if let Some(burst) = burst.as_ref().filter(|it| self.is_unused(it.table, has_rate))
                {
                    let what = "a burst needs a rate: a wireless link sends frame after frame";
                    return Err(burst.error("burst", Fault::here(what)));
                }
                plan(&Some(wifi.clone()), "wifi", |wifi| wifi.plan())?.map(ServerPlan::Wifi)
            }
            (None, None) => {
                if let Some(burst) = burst.as_ref().filter(|it| self.is_unused(it.table, has_rate))
                {
                    let what = "a burst needs a rate: without one everything may be sent at once";
                    return Err(burst.error("burst", Fault::here(what)));
                }
                if let Some(queue) =
                    queue.as_ref().filter(|it| self.is_unused(it.table, has_bottleneck))
                {
                    let what = "a queue needs a rate: without one no packet ever waits";
                    return Err(queue.error("queue", Fault::here(what)));
                }
                None
            }
        };
        let Some(server) = server else { return Ok(None) };
        let mean_rate: Rate = server.rate();
        let queue_plan = match queue {
            Some(queue) => {
                plan(&Some(queue.clone()), "queue", |it| it.plan(mean_rate, self.round_trip))?
            }
            None => None,
        };
        let queue = match queue_plan {
            Some(plan) => plan,
            None => DEFAULT_QUEUE.plan(mean_rate, self.round_trip).expect("a thousand packets"),
        };
        Ok(Some(ElementPlan::Bottleneck(BottleneckPlan { server, queue })))
    }
}

fn has_rate(keys: &Keys<'_>) -> bool {
    keys.rate.is_some()
}

fn has_bottleneck(keys: &Keys<'_>) -> bool {
    keys.rate.is_some() || keys.wifi.is_some()
}

/// Plans the value of a key, if it is given; a fault in it becomes an error with the full key.
fn plan<T, P>(
    given: &Option<Given<'_, T>>,
    key: &str,
    plan: impl FnOnce(&T) -> Result<P, Fault>,
) -> Result<Option<P>, PathError> {
    planned_in(given, key, |value, _| plan(value))
}

/// The same, for a value whose meaning depends on the table that it stands in.
fn planned_in<T, P>(
    given: &Option<Given<'_, T>>,
    key: &str,
    plan: impl FnOnce(&T, Table) -> Result<P, Fault>,
) -> Result<Option<P>, PathError> {
    given
        .as_ref()
        .map(|given| plan(given.value, given.table).map_err(|fault| given.error(key, fault)))
        .transpose()
}

#[cfg(test)]
mod tests;
