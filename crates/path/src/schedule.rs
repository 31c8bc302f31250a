//! Values that change with time: steps and ramps.

use std::fmt::Display;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tcplab_units::{Instant, Rate, Span};

use crate::text_or_table::is_default;

/// The most steps of a schedule: each packet looks through them.
const STEPS_MAX: usize = 10_000;

/// A value that changes with time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Schedule<T> {
    /// The value from the world's zero on.
    pub start: T,
    /// The changes, in order of time.
    pub steps: Vec<Step<T>>,
    /// Begin again after so long; later than the last step has ended. Default: the last value
    /// stays.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeat: Option<Span>,
}

/// A change of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Step<T> {
    /// When it begins, from the world's zero (or the beginning of a repetition).
    pub at: Span,
    /// The value it leads to.
    pub to: T,
    /// How long the way there takes: the value changes evenly, a ramp. Default: no time, a step.
    #[serde(default, skip_serializing_if = "is_default")]
    pub over: Span,
}

/// What can change with time: a quantity held in whole steps.
pub trait Quantity: Copy + Eq + Display {
    /// In its smallest unit.
    fn whole(self) -> u64;
    /// From its smallest unit.
    fn from_whole(n: u64) -> Self;
}

impl Quantity for Rate {
    fn whole(self) -> u64 {
        self.bits_per_second()
    }
    fn from_whole(n: u64) -> Rate {
        Rate::from_bits_per_second(n)
    }
}

impl Quantity for Span {
    fn whole(self) -> u64 {
        self.as_nanos()
    }
    fn from_whole(n: u64) -> Span {
        Span::from_nanos(n)
    }
}

impl<T: Quantity> Schedule<T> {
    /// A ramp is a staircase: its value is recomputed this often, so that between two such instants
    /// a value is constant and everything that follows from it exact. Finer than anybody can steer
    /// a link.
    pub const STAIR: Span = Span::from_millis(1);

    /// The value at `now`.
    pub fn at(&self, now: Instant) -> T {
        let mut value = self.start;
        let phase = self.phase(now);
        for step in &self.steps {
            if phase < step.at {
                break;
            }
            let into = phase - step.at;
            if into >= step.over {
                value = step.to;
                continue;
            }
            let stair = Self::STAIR.as_nanos();
            let done = u128::from(into.as_nanos() / stair * stair);
            let whole = u128::from(step.over.as_nanos());
            let (from, to) = (u128::from(value.whole()), u128::from(step.to.whole()));
            let reached = (from * (whole - done) + to * done) / whole;
            return T::from_whole(reached as u64);
        }
        value
    }

    /// The first instant after `now` at which the value may be another; none when it stays.
    pub fn next_change(&self, now: Instant) -> Option<Instant> {
        let phase = self.phase(now);
        let round = Span::from_nanos(now.since(Instant::ZERO).as_nanos() - phase.as_nanos());
        let next = self.steps.iter().find_map(|step| {
            if phase < step.at {
                return Some(step.at);
            }
            let into = phase - step.at;
            let stair = Self::STAIR.as_nanos();
            let next = Span::from_nanos((into.as_nanos() / stair + 1) * stair);
            (into < step.over).then(|| step.at + next.min(step.over))
        });
        let next = next.or(self.repeat)?;
        Some(Instant::ZERO + round + next)
    }

    /// The time since the last repetition began.
    fn phase(&self, now: Instant) -> Span {
        let since = now.since(Instant::ZERO);
        match self.repeat {
            Some(repeat) => Span::from_nanos(since.as_nanos() % repeat.as_nanos()),
            None => since,
        }
    }

    /// The mean from one instant to a later one, rounded down; of a ramp as a straight line, not a
    /// stair.
    pub fn mean(&self, from: Instant, until: Instant) -> T {
        let Some(span) = until.as_nanos().checked_sub(from.as_nanos()).filter(|span| *span > 0)
        else {
            return self.at(from);
        };
        let doubled = self.doubled_area(until).saturating_sub(self.doubled_area(from));
        let mean = doubled / (2 * u128::from(span));
        T::from_whole(u64::try_from(mean).unwrap_or(u64::MAX))
    }

    /// Twice what lies below it from the world's zero until then, in whole units times nanoseconds:
    /// below a ramp there may be a half.
    fn doubled_area(&self, until: Instant) -> u128 {
        let phase = self.phase(until);
        let rest = self.doubled_area_of_round(phase);
        let Some(repeat) = self.repeat else { return rest };
        let rounds = until.as_nanos() / repeat.as_nanos();
        if rounds == 0 {
            return rest;
        }
        self.doubled_area_of_round(repeat).saturating_mul(u128::from(rounds)).saturating_add(rest)
    }

    fn doubled_area_of_round(&self, until: Span) -> u128 {
        let area = |value: u64, span: Span| u128::from(value) * u128::from(span.as_nanos());
        let (mut value, mut reached, mut doubled) = (self.start.whole(), Span::ZERO, 0_u128);
        for step in self.steps.iter().take_while(|step| step.at < until) {
            let to = step.to.whole();
            let along = step.over.min(until - step.at);
            let left = step.over - along;
            let there = match u128::from(step.over.as_nanos()) {
                0 => to,
                over => ((area(value, left) + area(to, along)) / over) as u64,
            };
            doubled = doubled
                .saturating_add(area(value, step.at - reached).saturating_mul(2))
                .saturating_add(area(value, along))
                .saturating_add(area(there, along));
            (value, reached) = (there, step.at + along);
        }
        doubled.saturating_add(area(value, until.saturating_sub(reached)).saturating_mul(2))
    }

    /// When it jumps, and where ramps begin and end, between the world's zero and `until`, in
    /// order; none where these are more than `most`.
    pub(crate) fn corners(&self, until: Instant, most: usize) -> Option<Vec<Instant>> {
        let mut corners = Vec::new();
        let mut round = Instant::ZERO;
        loop {
            for step in &self.steps {
                corners.push(round + step.at);
                corners.push(round + step.at + step.over);
            }
            let next = self.repeat.map_or(Instant::MAX, |repeat| round + repeat);
            corners.push(next);
            corners.retain(|at| Instant::ZERO < *at && *at < until);
            corners.dedup();
            if corners.len() > most {
                return None;
            }
            if next >= until {
                return Some(corners);
            }
            round = next;
        }
    }

    /// All values that it names.
    pub fn values(&self) -> impl Iterator<Item = T> + '_ {
        std::iter::once(self.start).chain(self.steps.iter().map(|step| step.to))
    }

    /// What is wrong with it: the key below its own (such as `steps`) and why.
    pub(crate) fn check(&self) -> Result<(), (&'static str, String)> {
        if self.steps.is_empty() {
            let what = "no steps given: write the value itself";
            return Err(("steps", what.into()));
        }
        if self.steps.len() > STEPS_MAX {
            let found = self.steps.len();
            let what = format!("{found} steps: give at most {STEPS_MAX}, or a trace");
            return Err(("steps", what));
        }
        let mut free = Span::ZERO;
        for step in &self.steps {
            if step.at < free {
                let what = format!("the step at {} overlaps the previous one", step.at);
                return Err(("steps", what));
            }
            free = step.at + step.over;
        }
        match self.repeat {
            Some(repeat) if repeat <= free || repeat.is_zero() => {
                let what =
                    format!("`repeat` ({repeat}) must be later than the end of the last step");
                Err(("repeat", what))
            }
            _ => Ok(()),
        }
    }

    /// Such as `10 Mbit/s, from 5 s on 2 Mbit/s`.
    pub(crate) fn describe(&self) -> String {
        let mut text = self.start.to_string();
        for Step { at, to, over } in &self.steps {
            if over.is_zero() {
                text += &format!(", {to} from {at}");
            } else {
                text += &format!(", ramp to {to} from {at} to {}", *at + *over);
            }
        }
        if let Some(repeat) = self.repeat {
            text += &format!(", repeated every {repeat}");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::ms;

    fn mbit(n: u64) -> Rate {
        Rate::from_bits_per_second(n * 1_000_000)
    }

    /// 10, a ramp of 4 ms from 10 ms on to 2, a step to 5 at 20 ms, again after 30 ms.
    fn example() -> Schedule<Rate> {
        let steps = vec![
            Step { at: Span::from_millis(10), to: mbit(2), over: Span::from_millis(4) },
            Step { at: Span::from_millis(20), to: mbit(5), over: Span::ZERO },
        ];
        Schedule { start: mbit(10), steps, repeat: Some(Span::from_millis(30)) }
    }

    #[test]
    fn values_follow_steps_and_ramps() {
        let schedule = example();
        assert_eq!(schedule.check(), Ok(()));
        for (at, value, next) in [
            (0, 10, 10),
            (10, 10, 11),
            (11, 8, 12),
            (12, 6, 13),
            (13, 4, 14),
            (14, 2, 20),
            (19, 2, 20),
            (20, 5, 30),
            (29, 5, 30),
            (30, 10, 40),
            (41, 8, 42),
        ] {
            assert_eq!(schedule.at(ms(at)), mbit(value), "at {at} ms");
            assert_eq!(schedule.next_change(ms(at)), Some(ms(next)), "after {at} ms");
        }
        let once = Schedule { repeat: None, ..example() };
        assert_eq!((once.at(ms(500)), once.next_change(ms(20))), (mbit(5), None));
        assert_eq!(
            example().describe(),
            "10 Mbit/s, ramp to 2 Mbit/s from 10 ms to 14 ms, 5 Mbit/s from 20 ms, repeated every \
             30 ms"
        );
    }

    #[test]
    fn means_are_areas_by_their_spans() {
        let micros = |n: u64| Instant::from_nanos(n * 1_000);
        let kbit = |n: u64| Rate::from_bits_per_second(n * 1_000);
        // A round of 30 ms: 10 · 10, a ramp of 4 ms with a mean of 6, 2 · 6, 5 · 10.
        for (from, until, mean) in [
            (0, 10_000, kbit(10_000)),
            (10_000, 14_000, kbit(6_000)),
            (10_000, 12_000, kbit(8_000)),
            (11_500, 12_500, kbit(6_000)),
            (13_000, 15_000, kbit(2_500)), // a millisecond from 4 to 2, one of 2
            (0, 30_000, Rate::from_bits_per_second(6_200_000)),
            (0, 90_000, Rate::from_bits_per_second(6_200_000)),
            (85_000, 95_000, kbit(7_500)),
            (41_000, 43_000, kbit(6_000)),
            (7_000, 7_000, kbit(10_000)),
        ] {
            assert_eq!(example().mean(micros(from), micros(until)), mean, "{from} to {until} µs");
        }
        let corners = |until, most| example().corners(ms(until), most);
        let expected = [10, 14, 20, 30, 40, 44, 50].map(ms).to_vec();
        assert_eq!(corners(60, 7), Some(expected.clone()));
        assert_eq!(corners(60, 6), None);
        assert_eq!(corners(51, 9), Some(expected));
        let once = Schedule { repeat: None, ..example() };
        assert_eq!(once.corners(ms(500), 9), Some([10, 14, 20].map(ms).to_vec()));
    }

    #[test]
    fn invalid_schedule_is_refused() {
        let no_steps = Schedule { steps: vec![], ..example() };
        assert_eq!(no_steps.check().unwrap_err().0, "steps");
        let mut crossing = example();
        crossing.steps[1].at = Span::from_millis(13);
        assert_eq!(
            crossing.check().unwrap_err(),
            ("steps", "the step at 13 ms overlaps the previous one".into())
        );
        let short = Schedule { repeat: Some(Span::from_millis(20)), ..example() };
        assert_eq!(short.check().unwrap_err().0, "repeat");
    }
}
