//! The path of a scenario, and the plan made from it.

mod keys;
mod stage;

use tcplab_units::Span;

pub use keys::{Backend, LinkSpec, PathSpec, StageSpec};
use stage::Stage;

use crate::{Direction, LinkPlan, PathError};

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
        delays.map(|delay| delay.value.at_start()).sum()
    }

    /// The delay of both directions: the least time from a packet to the answer to it.
    pub fn round_trip(&self) -> Span {
        self.delay(Direction::Forward) + self.delay(Direction::Reverse)
    }
}

#[cfg(test)]
mod tests;
