//! Values that change with time: steps and ramps.

mod stairs;

use std::fmt::Display;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tcplab_units::{Instant, Rate, Span};

pub(crate) use stairs::Stairs;

use crate::text_or_table::is_default;

/// The most steps of a schedule: a packet that takes as long passes each.
const STEPS_MAX: usize = 10_000;

/// See [`Schedule::STAIR`].
const STAIR: Span = Span::from_millis(1);

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
    /// How long the way there takes: the value changes evenly, a ramp, in stairs of 1 ms (a ramp of
    /// 1 ms or less is a step at its end). Default: no time, a step.
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
    pub const STAIR: Span = STAIR;

    /// A value that never changes, until it is [set](Schedule::set).
    pub(crate) fn steady(start: T) -> Schedule<T> {
        Schedule { start, steps: Vec::new(), repeat: None }
    }

    /// From `at` on, counted from the world's zero, it is `to`, whatever was to come but for what
    /// other calls set later times to. Of two calls with the same time the second holds.
    ///
    /// These steps are told from those of a file by their place: they begin when the first
    /// repetition is over, or at its end. With the first of them the repeating ends; their times
    /// count from the world's zero, and they have no ramps.
    pub(crate) fn set(&mut self, at: Span, to: T) {
        let mut set = self.steps.split_off(self.parts().0.len());
        self.steps.retain(|step| step.at < at);
        // From then on nothing of what was given is left.
        self.repeat = Some(self.repeat.map_or(at, |repeat| repeat.min(at)));
        set.insert(set.partition_point(|step| step.at <= at), Step { at, to, over: Span::ZERO });
        self.steps.append(&mut set);
    }

    /// The steps of each repetition (all, where nothing repeats), and those that end it.
    fn parts(&self) -> (&[Step<T>], &[Step<T>]) {
        let repeated = match self.repeat {
            Some(repeat) => self.steps.partition_point(|step| step.at < repeat),
            None => self.steps.len(),
        };
        self.steps.split_at(repeated)
    }

    /// After how long it begins again, where it does after `now`; and how many whole repetitions
    /// are left, if not for ever.
    pub(crate) fn repeats(&self, now: Instant) -> Option<(Span, Option<u128>)> {
        let repeat = self.repeat?;
        let Some(end) = self.parts().1.first() else { return Some((repeat, None)) };
        let left = end.at.as_nanos().checked_sub(now.as_nanos()).filter(|left| *left > 0)?;
        Some((repeat, Some(u128::from(left / repeat.as_nanos().max(1)))))
    }

    /// The value at `now`.
    pub fn at(&self, now: Instant) -> T {
        let (repeated, last) = self.parts();
        let since = now.since(Instant::ZERO);
        if let Some(step) = last.iter().rfind(|step| step.at <= since) {
            return step.to;
        }
        let phase = self.phase(now);
        let begun = repeated.partition_point(|step| step.at <= phase);
        let Some(index) = begun.checked_sub(1) else { return self.start };
        let (step, before) = (&repeated[index], self.before(index));
        let into = phase - step.at;
        if into >= step.over {
            return step.to;
        }
        let stair = Self::STAIR.as_nanos();
        let done = u128::from(into.as_nanos() / stair * stair);
        let whole = u128::from(step.over.as_nanos());
        let (from, to) = (u128::from(before.whole()), u128::from(step.to.whole()));
        T::from_whole(((from * (whole - done) + to * done) / whole) as u64)
    }

    /// The value before the step with that index.
    fn before(&self, index: usize) -> T {
        index.checked_sub(1).map_or(self.start, |index| self.steps[index].to)
    }

    /// The first instant after `now` at which the value may be another; none when it stays.
    pub fn next_change(&self, now: Instant) -> Option<Instant> {
        let (repeated, last) = self.parts();
        let since = now.since(Instant::ZERO);
        let set = last.iter().find(|step| step.at > since).map(|step| Instant::ZERO + step.at);
        if last.first().is_some_and(|step| step.at <= since) {
            return set;
        }
        let phase = self.phase(now);
        let round = Span::from_nanos(since.as_nanos() - phase.as_nanos());
        let begun = repeated.partition_point(|step| step.at <= phase);
        let on_ramp = begun.checked_sub(1).and_then(|index| {
            let step = &repeated[index];
            let into = phase - step.at;
            let stair = Self::STAIR.as_nanos();
            let next = Span::from_nanos((into.as_nanos() / stair + 1) * stair);
            (into < step.over).then(|| step.at + next.min(step.over))
        });
        let next = on_ramp.or_else(|| repeated.get(begun).map(|step| step.at));
        let next = next.or(self.repeat).map(|next| Instant::ZERO + round + next);
        Instant::earlier(next, set)
    }

    /// The whole stairs of a ramp from `now` to `until`, if one of them begins at `now`.
    pub(crate) fn stairs(&self, now: Instant, until: Instant) -> Option<Stairs> {
        let (repeated, last) = self.parts();
        let until = last.first().map_or(until, |step| until.min(Instant::ZERO + step.at));
        let phase = self.phase(now);
        let index = repeated.partition_point(|step| step.at <= phase).checked_sub(1)?;
        let step = &repeated[index];
        let stair = Self::STAIR.as_nanos();
        let into = (phase - step.at).as_nanos();
        let left = step.over.as_nanos().checked_sub(into)?.min(until.since(now).as_nanos());
        let (from, to) = (self.before(index).whole(), step.to.whole());
        let stairs = Stairs { from, to, over: step.over, next: into / stair, count: left / stair };
        (into.is_multiple_of(stair) && stairs.count > 0).then_some(stairs)
    }

    /// The time since the last repetition began.
    fn phase(&self, now: Instant) -> Span {
        let since = now.since(Instant::ZERO);
        // A file may be asked for its delay before its check refuses a repetition of 0.
        match self.repeat.filter(|repeat| !repeat.is_zero()) {
            Some(repeat) => Span::from_nanos(since.as_nanos() % repeat.as_nanos()),
            None => since,
        }
    }

    /// The mean over a repetition if there is one, else the start.
    pub(crate) fn nominal(&self) -> T {
        let repeat = self.repeat.filter(|repeat| !repeat.is_zero());
        repeat.map_or(self.at(Instant::ZERO), |repeat| {
            self.mean(Instant::ZERO, Instant::ZERO + repeat)
        })
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
        let (repeated, last) = self.parts();
        let until = until.since(Instant::ZERO);
        let end = last.first().map_or(until, |step| step.at.min(until));
        let mut doubled = self.doubled_area_of_rounds(repeated, Instant::ZERO + end);
        let ends = last.iter().skip(1).map(|next| next.at.min(until)).chain([until]);
        for (step, end) in last.iter().zip(ends).take_while(|(step, _)| step.at < until) {
            let span = end - step.at;
            doubled = doubled.saturating_add(area(step.to.whole(), span).saturating_mul(2));
        }
        doubled
    }

    fn doubled_area_of_rounds(&self, steps: &[Step<T>], until: Instant) -> u128 {
        let rest = self.doubled_area_of_round(steps, self.phase(until));
        let Some(repeat) = self.repeat.filter(|repeat| !repeat.is_zero()) else { return rest };
        let rounds = until.as_nanos() / repeat.as_nanos();
        if rounds == 0 {
            return rest;
        }
        let round = self.doubled_area_of_round(steps, repeat);
        round.saturating_mul(u128::from(rounds)).saturating_add(rest)
    }

    fn doubled_area_of_round(&self, steps: &[Step<T>], until: Span) -> u128 {
        let (mut value, mut reached, mut doubled) = (self.start.whole(), Span::ZERO, 0_u128);
        for step in steps.iter().take_while(|step| step.at < until) {
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
        let (repeated, last) = self.parts();
        let mut corners = Vec::new();
        let mut round = Instant::ZERO;
        let repeats_until = last.first().map_or(until, |step| until.min(Instant::ZERO + step.at));
        loop {
            for step in repeated {
                corners.push(round + step.at);
                corners.push(round + step.at + step.over);
            }
            let next = self.repeat.map_or(Instant::MAX, |repeat| round + repeat);
            corners.push(next);
            let is_over = next >= repeats_until;
            corners.retain(|at| Instant::ZERO < *at && *at < repeats_until);
            if is_over {
                let set = last.iter().map(|step| Instant::ZERO + step.at);
                corners.extend(set.filter(|at| *at < until));
            }
            corners.dedup();
            if corners.len() > most {
                return None;
            }
            if is_over {
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
        let (repeated, last) = self.parts();
        let step = |text: String, Step { at, to, over }: &Step<T>| {
            if over.is_zero() {
                text + &format!(", {to} from {at}")
            } else {
                text + &format!(", ramp to {to} from {at} to {}", *at + *over)
            }
        };
        let mut text = repeated.iter().fold(self.start.to_string(), step);
        let repeats = |repeat: &Span| last.first().is_none_or(|step| *repeat < step.at);
        if let Some(repeat) = self.repeat.filter(repeats) {
            text += &format!(", repeated every {repeat}");
        }
        last.iter().fold(text, step)
    }
}

fn area(value: u64, span: Span) -> u128 {
    u128::from(value) * u128::from(span.as_nanos())
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
    fn set_value_stays_whatever_was_to_come() {
        let mut cut = example();
        cut.set(Span::from_millis(12), mbit(3));
        assert_eq!(
            cut.describe(),
            "10 Mbit/s, ramp to 2 Mbit/s from 10 ms to 14 ms, 3 Mbit/s from 12 ms"
        );
        for (at, value, next) in
            [(10, 10, Some(11)), (11, 8, Some(12)), (12, 3, None), (13, 3, None), (40, 3, None)]
        {
            assert_eq!(cut.at(ms(at)), mbit(value), "at {at} ms");
            assert_eq!(cut.next_change(ms(at)), next.map(ms), "after {at} ms");
        }
        // 10 · 10, a ramp of 2 ms from 10 to 6, 8 · 3.
        assert_eq!(cut.mean(ms(0), ms(20)), Rate::from_bits_per_second(7_000_000));
        assert_eq!(cut.corners(ms(500), 9), Some([10, 12].map(ms).to_vec()));
        assert_eq!(cut.repeats(ms(12)), None);

        let mut later = example();
        later.set(Span::from_millis(71), mbit(3));
        later.set(Span::from_millis(80), mbit(4));
        for (at, value, next) in
            [(60, 10, Some(70)), (70, 10, Some(71)), (71, 3, Some(80)), (80, 4, None)]
        {
            assert_eq!(later.at(ms(at)), mbit(value), "at {at} ms");
            assert_eq!(later.next_change(ms(at)), next.map(ms), "after {at} ms");
        }
        // Of the third repetition 10 · 10 and 1 of a ramp from 10 to 8; then 9 · 3 and 10 · 4.
        assert_eq!(later.mean(ms(60), ms(90)), Rate::from_bits_per_second(5_866_666));
        let corners = [10, 14, 20, 30, 40, 44, 50, 60, 70, 71, 80].map(ms).to_vec();
        assert_eq!(later.corners(ms(500), 11), Some(corners));
        let repeat = Span::from_millis(30);
        assert_eq!(later.repeats(ms(11)), Some((repeat, Some(2))));
        assert_eq!(
            (later.repeats(ms(71)), example().repeats(ms(71))),
            (None, Some((repeat, None)))
        );
        assert!(
            later
                .describe()
                .ends_with("repeated every 30 ms, 3 Mbit/s from 71 ms, 4 Mbit/s from 80 ms")
        );
        later.set(Span::from_millis(80), mbit(9));
        assert_eq!(later.at(ms(80)), mbit(9), "the second of two at once");
        later.set(Span::from_millis(12), mbit(7));
        let values = [11, 12, 70, 71, 80].map(|at| later.at(ms(at)));
        assert_eq!(values, [8, 7, 7, 3, 9].map(mbit), "what later times are set to stays");
        later.set(Span::ZERO, mbit(1));
        assert_eq!((later.at(ms(0)), later.at(ms(12))), (mbit(1), mbit(7)));
        assert_eq!(later.mean(ms(0), ms(24)), mbit(4));
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
