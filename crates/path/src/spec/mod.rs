//! The path of a scenario, and the plan made from it.

mod keys;
mod stage;

use tcplab_units::Span;

pub use keys::{Backend, LinkSpec, PathSpec, StageSpec};
use stage::Stage;

use crate::elements::{MOST_COPIES, PortDelayPlan, delay_between};
use crate::{Direction, ElementPlan, LinkPlan, PathError, PathEvent};

impl PathSpec {
    /// The most stages of a direction behind its own keys: every packet passes each, and no path of
    /// the Internet has more routers (an IP packet's default time to live is 64, RFC 1700).
    pub const STAGES_MAX: usize = 64;

    /// The most events: each is looked at for the plan, and a person makes fewer.
    pub const EVENTS_MAX: usize = 1_000;

    /// The plan of one direction: its own keys before the path's, checked, in the order that
    /// [`LinkPlan`] explains, then its stages, and what events change of it all. Elements that
    /// would do nothing (a delay of zero) are left out.
    ///
    /// # Errors
    /// When a value, alone or beside others, makes no sense.
    pub fn link(&self, direction: Direction) -> Result<LinkPlan, PathError> {
        let mut plan = self.link_at_start(direction)?;
        let Some(events) = &self.events else { return Ok(plan) };
        check(events)?;
        // A fault in it is an error of its own.
        let other = self.link_at_start(direction.opposite()).unwrap_or_default();
        for (index, event) in events.iter().enumerate() {
            if let Some(change) = event.change().of_direction(direction, [&plan, &other]) {
                plan.change(event.at, change).map_err(|error| of_event(index, error))?;
            }
        }
        Ok(plan)
    }

    /// Whether it damages packets, whose checksums then tell.
    pub fn damages_packets(&self) -> bool {
        let damages = |way| self.link(way).is_ok_and(|link| link.damages_packets());
        Direction::BOTH.into_iter().any(damages)
    }

    /// The path with further events.
    #[must_use]
    pub fn with_events(&self, events: &[PathEvent]) -> PathSpec {
        let mut path = self.clone();
        if !events.is_empty() {
            path.events.get_or_insert_default().extend_from_slice(events);
        }
        path
    }

    /// Without events.
    fn link_at_start(&self, direction: Direction) -> Result<LinkPlan, PathError> {
        let stages = self.stages_of(direction);
        let refused =
            |what: String| Err(PathError { key: self.written(direction, "stages"), what });
        if stages.len() > 1 + PathSpec::STAGES_MAX {
            let (found, most) = (stages.len() - 1, PathSpec::STAGES_MAX);
            return refused(format!("{found} stages: give at most {most}"));
        }
        let others = self.stages_of(direction.opposite());
        let round_trip = self.round_trip();
        let further = PortDelayPlan::of(self.port_delay.as_deref().unwrap_or_default())?;
        let mut elements: Vec<_> = further.map(ElementPlan::PortDelay).into_iter().collect();
        for (index, keys) in stages.iter().enumerate() {
            let other = others.first().filter(|_| index == 0);
            Stage { keys, direction, round_trip, other }.plan(&mut elements)?;
        }
        match copies(&elements) {
            most if most > u64::from(MOST_COPIES) => refused(format!(
                "the stages make up to {most} copies of a packet: give at most {MOST_COPIES} in all"
            )),
            _ => Ok(LinkPlan { elements }),
        }
    }

    /// How long a packet takes in one direction, beside waiting and being sent; where it changes
    /// with time, in the mean over a repetition if it repeats, else at the start.
    pub fn delay(&self, direction: Direction) -> Span {
        let stages = self.stages_of(direction);
        let delays = stages.iter().filter_map(|keys| keys.delay.as_ref());
        delays.map(|delay| delay.value.nominal()).sum()
    }

    /// How long packets between these ports wait in each direction before they enter the path.
    pub fn delay_between_ports(&self, ports: [u16; 2]) -> Span {
        delay_between(self.port_delay.as_deref().unwrap_or_default(), ports)
    }

    /// The delay of both directions: the least time from a packet to the answer to it.
    pub fn round_trip(&self) -> Span {
        self.delay(Direction::Forward) + self.delay(Direction::Reverse)
    }
}

/// Whether the events can be, whatever the path.
fn check(events: &[PathEvent]) -> Result<(), PathError> {
    let most = PathSpec::EVENTS_MAX;
    if events.len() > most {
        let what = format!("{} events: give at most {most}", events.len());
        return Err(PathError { key: "events".into(), what });
    }
    for (index, event) in events.iter().enumerate() {
        event.change().check().map_err(|error| of_event(index, error))?;
    }
    Ok(())
}

/// The error of an event as one of the path.
fn of_event(index: usize, error: PathError) -> PathError {
    let dot = if error.key.is_empty() { "" } else { "." };
    PathError { key: format!("events.{index}{dot}{}", error.key), what: error.what }
}

/// How many copies of one packet all stages together make at most.
fn copies(elements: &[ElementPlan]) -> u64 {
    let packets = elements.iter().fold(1_u64, |packets, element| match element {
        ElementPlan::Duplication(plan) => packets.saturating_mul(1 + u64::from(plan.copies)),
        _ => packets,
    });
    packets - 1
}

#[cfg(test)]
mod tests;
