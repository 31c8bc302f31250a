//! One stage of one direction: from its keys to its elements.

use tcplab_units::{Bytes, Probability, Span};

use super::keys::{Given, Keys};
use crate::bottleneck::{BottleneckPlan, RateSpec, ServerPlan, WifiSpec, check_burst};
use crate::elements::{
    CorruptSpec, DelayPlan, DelaySpec, DropSpec, DuplicateSpec, JitterSpec, LossSpec, MarkPlan,
    MtuSpec, NatSpec, PolicerSpec, ReorderSpec,
};
use crate::fault::{Fault, PathError};
use crate::{DEFAULT_QUEUE, Direction, ElementPlan};

/// One stage of one direction, to be planned.
pub(super) struct Stage<'a> {
    pub(super) keys: &'a Keys<'a>,
    pub(super) direction: Direction,
    pub(super) round_trip: Span,
    /// The keys of the opposite direction, which the path's own may be meant for.
    pub(super) other: Option<&'a Keys<'a>>,
}

impl Stage<'_> {
    /// Adds its elements, in the order that [`LinkPlan`](crate::LinkPlan) explains.
    pub(super) fn plan(&self, elements: &mut Vec<ElementPlan>) -> Result<(), PathError> {
        let keys = self.keys;
        elements.extend(planned(keys.mtu, MtuSpec::plan)?.map(ElementPlan::Mtu));
        elements.extend(planned(keys.nat, NatSpec::plan)?.map(ElementPlan::Nat));
        elements.extend(planned(keys.police, PolicerSpec::plan)?.map(ElementPlan::Policer));
        elements.extend(self.cross_traffic()?);
        elements.extend(self.bottleneck()?.map(ElementPlan::Bottleneck));
        if let Some(given) = keys.interruption {
            let plans = given.planned(|it| it.plan(self.direction, given.table))?;
            elements.extend(plans.into_iter().map(ElementPlan::Interruption));
        }
        if let Some(given) = keys.blackhole {
            let plan = given.planned(|it| it.plan(self.direction, given.table))?;
            elements.extend(plan.map(ElementPlan::Blackhole));
        }
        elements.extend(planned(keys.loss, LossSpec::plan)?.flatten().map(ElementPlan::Loss));
        elements.extend(planned(keys.drop, DropSpec::plan)?.flatten().map(ElementPlan::Drop));
        let mark = keys.mark.map(|given| *given.value).filter(|it| *it != Probability::NEVER);
        elements.extend(mark.map(|probability| ElementPlan::Mark(MarkPlan { probability })));
        let corruption = planned(keys.corrupt, CorruptSpec::plan)?.flatten();
        elements.extend(corruption.map(ElementPlan::Corruption));
        let duplication = planned(keys.duplicate, DuplicateSpec::plan)?.flatten();
        elements.extend(duplication.map(ElementPlan::Duplication));
        let reordering = planned(keys.reorder, ReorderSpec::plan)?.flatten();
        elements.extend(reordering.map(ElementPlan::Reordering));
        let delay = planned(keys.delay, DelaySpec::plan)?;
        let jitter = planned(keys.jitter, JitterSpec::plan)?.flatten();
        elements.extend(DelayPlan::of(delay, jitter).map(ElementPlan::Delay));
        Ok(())
    }

    fn cross_traffic(&self) -> Result<impl Iterator<Item = ElementPlan>, PathError> {
        let is_shared = has_bottleneck(self.keys);
        let cross =
            self.keys.cross.filter(|it| is_shared || self.is_for_nothing(it, has_bottleneck));
        let flows = planned(cross, |cross| cross.plan(is_shared))?;
        Ok(flows.into_iter().flatten().map(ElementPlan::CrossTraffic))
    }

    /// The rate and the queue, or the wireless link and its queue.
    fn bottleneck(&self) -> Result<Option<BottleneckPlan>, PathError> {
        let Keys { rate, burst, queue, wifi, .. } = *self.keys;
        let server = match (rate, wifi) {
            (Some(_), Some(wifi)) => {
                let what = "give either `rate` or `wifi`";
                return Err(wifi.error(Fault::here(what)));
            }
            (Some(rate), None) => paced(rate, burst)?,
            (None, Some(wifi)) => {
                let what = "`burst` needs `rate`; a wireless link has none";
                self.refuse_for_nothing(burst, has_rate, what)?;
                ServerPlan::Wifi(wifi.planned(WifiSpec::plan)?)
            }
            (None, None) => {
                let what = "`burst` needs `rate`";
                self.refuse_for_nothing(burst, has_rate, what)?;
                let what = "`queue` needs `rate`: without a bottleneck no packet waits";
                self.refuse_for_nothing(queue, has_bottleneck, what)?;
                return Ok(None);
            }
        };
        let queue = match queue {
            Some(queue) => queue.planned(|it| it.plan(server.rate(), self.round_trip))?,
            None => DEFAULT_QUEUE.plan(server.rate(), self.round_trip).expect("a thousand packets"),
        };
        Ok(Some(BottleneckPlan { server, queue }))
    }

    /// An error if a key is given that is good for nothing, this direction lacking what it needs.
    fn refuse_for_nothing<T>(
        &self,
        given: Option<Given<'_, T>>,
        has: fn(&Keys<'_>) -> bool,
        what: &str,
    ) -> Result<(), PathError> {
        match given {
            Some(given) if self.is_for_nothing(&given, has) => Err(given.error(Fault::here(what))),
            _ => Ok(()),
        }
    }

    /// The path's may be meant for the other direction, if that `has` what it needs.
    fn is_for_nothing<T>(&self, given: &Given<'_, T>, has: fn(&Keys<'_>) -> bool) -> bool {
        given.table.direction().is_some() || !self.other.is_some_and(has)
    }
}

/// What sends at this rate, so much at once.
fn paced(
    rate: Given<'_, RateSpec>,
    burst: Option<Given<'_, Bytes>>,
) -> Result<ServerPlan, PathError> {
    let burst = planned(burst, |burst| check_burst(*burst).map(|()| *burst))?;
    rate.planned(|rate| rate.plan(burst))
}

fn has_rate(keys: &Keys<'_>) -> bool {
    keys.rate.is_some()
}

fn has_bottleneck(keys: &Keys<'_>) -> bool {
    keys.rate.is_some() || keys.wifi.is_some()
}

/// The plan of the value of a key, if it is given.
fn planned<T, P>(
    given: Option<Given<'_, T>>,
    plan: impl FnOnce(&T) -> Result<P, Fault>,
) -> Result<Option<P>, PathError> {
    given.map(|given| given.planned(plan)).transpose()
}
