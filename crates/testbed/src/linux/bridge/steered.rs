//! Changes of the path while the bridge is at work.

use std::sync::mpsc::Receiver;

use tcplab_path::{Direction, Link, LinkPlan, PathChange, PathError, PathEvent};
use tcplab_units::{Instant, Span};

use crate::SteeringAnswer;

/// The changes that come, and those that were made.
pub(crate) struct Steered {
    changes: Receiver<PathChange>,
    /// What the links were at first, forward before reverse: it says what each is able of.
    plans: [LinkPlan; 2],
    applied: Vec<PathEvent>,
    /// Tells who sent a change what became of it. It must not wait.
    answer: Box<dyn FnMut(SteeringAnswer) + Send>,
}

impl Steered {
    /// Of a path with these plans.
    pub(crate) fn new(
        plans: [LinkPlan; 2],
        changes: Receiver<PathChange>,
        answer: impl FnMut(SteeringAnswer) + Send + 'static,
    ) -> Steered {
        Steered { changes, plans, applied: Vec::new(), answer: Box::new(answer) }
    }

    /// What the links are at first.
    pub(super) fn plans(&self) -> &[LinkPlan; 2] {
        &self.plans
    }

    /// Makes the changes that have come, and answers the caller.
    pub(super) fn make(&mut self, now: Instant, mut links: [&mut Link; 2]) {
        while let Ok(change) = self.changes.try_recv() {
            let answer = match self.change(now, change, &mut links) {
                Ok(events) => {
                    self.applied.extend_from_slice(&events);
                    SteeringAnswer::Applied(events)
                }
                Err(error) => SteeringAnswer::Refused(error.to_string()),
            };
            (self.answer)(answer);
        }
    }

    /// All that were made, with their times.
    pub(super) fn applied(self) -> Vec<PathEvent> {
        self.applied
    }

    /// Makes a change in the directions that it is for, in all or in none.
    fn change(
        &self,
        now: Instant,
        change: PathChange,
        links: &mut [&mut Link; 2],
    ) -> Result<Vec<PathEvent>, PathError> {
        change.check()?;
        let [forward, reverse] = &self.plans;
        let parts = [
            change.of_direction(Direction::Forward, [forward, reverse]),
            change.of_direction(Direction::Reverse, [reverse, forward]),
        ];
        for (plan, part) in self.plans.iter().zip(parts) {
            part.map_or(Ok(()), |part| plan.check_change(part))?;
        }
        let mut made = Vec::new();
        for ((direction, link), part) in Direction::BOTH.into_iter().zip(links).zip(parts) {
            let Some(part) = part else { continue };
            let at = link.change(now, part)?.since(Instant::ZERO);
            made.push((at, PathChange { direction: direction.into(), ..part }));
        }
        Ok(as_events(change, made))
    }
}

/// The change as one event, where its times are one; else one for each direction.
fn as_events(change: PathChange, made: Vec<(Span, PathChange)>) -> Vec<PathEvent> {
    match made[..] {
        [(at, _), (other, _)] if at == other => vec![change.at(at)],
        _ => made.into_iter().map(|(at, part)| part.at(at)).collect(),
    }
}
