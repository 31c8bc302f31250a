//! What an event does to a link: to its plan beforehand, or to the link at work.

use tcplab_units::{Instant, Span};

use super::Link;
use super::plan::{ElementPlan, LinkPlan};
use crate::bottleneck::ServerPlan::{Rate, TokenBucket, Trace, Varying, Wifi};
use crate::bottleneck::{BottleneckPlan, TokenBucketPlan};
use crate::direction::{Direction, Directions};
use crate::elements::{
    DelayPlan, DelaySpec, DropNextEvent, DropNextPlan, InterruptionPlan, InterruptionTimes,
    LossChange, LossChangesPlan,
};
use crate::event::{Change, PathChange};
use crate::fault::PathError;
use crate::schedule::Schedule;

/// How the elements of a plan have changed.
enum Edit {
    /// The element with this index has.
    Changed(usize),
    /// There is a new one with this index.
    Made(usize),
}

impl LinkPlan {
    /// Adds a change `at` a time; of two at the same time, the second holds. The first element of
    /// its kind changes; where there is none, one is made at its place.
    ///
    /// # Errors
    /// When the link has no rate that can change, with the event's key. Nothing has changed then.
    pub fn change(&mut self, at: Span, change: PathChange) -> Result<(), PathError> {
        self.check_change(change)?;
        for part in change.parts() {
            self.edit(at, part);
        }
        Ok(())
    }

    /// Whether the link is able of a change.
    ///
    /// # Errors
    /// As for [`LinkPlan::change`].
    pub fn check_change(&self, change: PathChange) -> Result<(), PathError> {
        change.check()?;
        let what = match (change.rate, self.servers().next()) {
            (None, _) | (_, Some(Rate(_) | Varying(_) | TokenBucket(_))) => return Ok(()),
            (_, None) => "there is no bottleneck: give the path a `rate` to start with",
            (_, Some(Trace(_))) => "a trace sets the rate: give the path a `rate` without a trace",
            (_, Some(Wifi(_))) => {
                "a wireless link has no such rate: give the path a `rate` instead of `wifi`, or \
                 name the other `direction`"
            }
        };
        Err(PathError { key: "rate".into(), what: what.into() })
    }

    /// Whether it has a bottleneck, whatever sets its rate.
    pub(crate) fn has_bottleneck(&self) -> bool {
        self.elements.iter().any(|element| matches!(element, ElementPlan::Bottleneck(_)))
    }

    /// Makes a change that was checked.
    fn edit(&mut self, at: Span, change: Change) -> Edit {
        match change {
            Change::Rate(rate) => self.set_rate(at, rate),
            Change::Delay(to) => self.set_delay(at, to),
            Change::Loss(probability) => self.set_loss(LossChange { at, probability }),
            Change::Interrupt(lasting) => self.interrupt(at, lasting),
            Change::Drop(count) => self.drop_next(DropNextEvent { at, count }),
        }
    }

    fn set_rate(&mut self, at: Span, to: tcplab_units::Rate) -> Edit {
        for (index, element) in self.elements.iter_mut().enumerate() {
            let ElementPlan::Bottleneck(BottleneckPlan { server, .. }) = element else { continue };
            if let Rate(rate) = server {
                *server = Varying(Schedule::steady(*rate));
            }
            if let Varying(schedule) | TokenBucket(TokenBucketPlan { rate: schedule, .. }) = server
            {
                schedule.set(at, to);
                return Edit::Changed(index);
            }
        }
        unreachable!("it was checked that there is a rate")
    }

    fn set_delay(&mut self, at: Span, to: Span) -> Edit {
        for (index, element) in self.elements.iter_mut().enumerate() {
            if let ElementPlan::Delay(plan) = element {
                plan.delay.set(at, to);
                return Edit::Changed(index);
            }
        }
        let mut delay = DelaySpec::Constant(Span::ZERO);
        delay.set(at, to);
        self.make(ElementPlan::Delay(DelayPlan { delay, jitter: None }))
    }

    fn set_loss(&mut self, change: LossChange) -> Edit {
        for (index, element) in self.elements.iter_mut().enumerate() {
            if let ElementPlan::Loss(first) = element {
                *element = ElementPlan::LossChanges(LossChangesPlan::of(Some(*first)));
            }
            if let ElementPlan::LossChanges(plan) = element {
                plan.add(change);
                return Edit::Changed(index);
            }
        }
        let mut plan = LossChangesPlan::of(None);
        plan.add(change);
        self.make(ElementPlan::LossChanges(plan))
    }

    fn interrupt(&mut self, at: Span, lasting: Span) -> Edit {
        for (index, element) in self.elements.iter_mut().enumerate() {
            if let ElementPlan::Interruption(plan) = element
                && matches!(plan.times, InterruptionTimes::Events { .. })
            {
                plan.add(at, lasting);
                return Edit::Changed(index);
            }
        }
        let mut plan = InterruptionPlan::by_events();
        plan.add(at, lasting);
        self.make(ElementPlan::Interruption(plan))
    }

    fn drop_next(&mut self, event: DropNextEvent) -> Edit {
        for (index, element) in self.elements.iter_mut().enumerate() {
            if let ElementPlan::DropNext(plan) = element {
                plan.add(event);
                return Edit::Changed(index);
            }
        }
        let mut plan = DropNextPlan::nothing();
        plan.add(event);
        self.make(ElementPlan::DropNext(plan))
    }

    /// Adds an element at its place in the order that [`LinkPlan`] explains.
    fn make(&mut self, element: ElementPlan) -> Edit {
        let comes_after = |other: &ElementPlan| other.place() > element.place();
        let index = self.elements.iter().position(comes_after).unwrap_or(self.elements.len());
        self.elements.insert(index, element);
        Edit::Made(index)
    }
}

impl PathChange {
    /// What of it is for one direction of a path: a rate that is given for both is meant for the
    /// one that has a bottleneck. None if nothing is.
    pub fn of_direction(
        self,
        direction: Direction,
        [own, other]: [&LinkPlan; 2],
    ) -> Option<PathChange> {
        if !self.direction.include(direction) {
            return None;
        }
        let is_for_other =
            self.direction == Directions::Both && !own.has_bottleneck() && other.has_bottleneck();
        let rate = self.rate.filter(|_| !is_for_other);
        let change = PathChange { rate, ..self };
        change.parts().next().is_some().then_some(change)
    }
}

impl Link {
    /// Makes a change to a link that is [changeable](Link::changeable), as of `now`: before all
    /// that happens at that instant. Returns the instant, which is later where the link has gone
    /// further already. A link that was planned with the change at that instant does the same.
    ///
    /// # Errors
    /// As for [`LinkPlan::change`].
    ///
    /// # Panics
    /// When the link is not changeable.
    pub fn change(&mut self, now: Instant, change: PathChange) -> Result<Instant, PathError> {
        let (mut plan, seed) = self.plan.take().expect("the link is changeable");
        let past = self.clock.max(self.changed_before);
        let at = if now > past { now } else { past + Span::from_nanos(1) };
        let checked = plan.check_change(change);
        if checked.is_ok() {
            for part in change.parts() {
                match plan.edit(at.since(Instant::ZERO), part) {
                    Edit::Changed(index) => {
                        self.elements[index].change(at, part);
                        self.due[index] = self.elements[index].poll_at();
                    }
                    Edit::Made(index) => {
                        let element = Link::element(&plan, index, seed, self.direction);
                        self.due.insert(index, element.poll_at());
                        self.elements.insert(index, element);
                    }
                }
            }
            self.ends_in_line = super::ends_in_line(&plan.elements);
            self.changed_before = Instant::from_nanos(at.as_nanos() - 1);
        }
        self.plan = Some((plan, seed));
        checked.map(|()| at)
    }
}
