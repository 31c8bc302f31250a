//! Notices a guest that computes without end.
//!
//! A machine with other work gives a guest less than all of a processor, so its processor time
//! counts: how much of it goes by while nothing happens.

use std::time::{Duration, Instant as RealInstant};

use tcplab_units::{Instant, Span};

use crate::calendar::LOOK;

/// A guest that does not get the processor is ended after so many times its longest spell.
const MOST: u32 = 30;
/// A clock that moves by less than this in a spell stands: a kernel that waits for something in a
/// loop (`cpu_relax`) moves it by a nanosecond each time.
const TICK: Span = Span::from_millis(4);
/// And by less than this, if nothing comes or goes meanwhile.
const QUIET: Span = Span::from_secs(1);

/// Watches a guest. Time is an argument.
#[derive(Debug)]
pub(crate) struct Watch {
    longest: Duration,
    /// Since its turn began, its clock moved by [`TICK`], and something came or went or its clock
    /// moved by [`QUIET`].
    spells: [Spell; 3],
    looked: RealInstant,
}

/// Since something last happened.
#[derive(Debug, Clone, Copy)]
struct Spell {
    /// By the guest's clock.
    at: Instant,
    since: RealInstant,
    /// The processor time that it had used when it was first looked at in the spell.
    begun: Option<Duration>,
}

/// What is wrong with a guest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// It has used so much processor time while nothing happened.
    Spins(Duration),
    /// For so long it has neither computed nor waited.
    Stuck(Duration),
}

impl Watch {
    /// A guest may use as much processor time as `longest` while nothing happens.
    pub(crate) fn new(longest: Duration, now: RealInstant) -> Watch {
        let spell = Spell { at: Instant::ZERO, since: now, begun: None };
        Watch { longest, spells: [spell; 3], looked: now }
    }

    /// Its turn begins, at `at` by its clock.
    pub(crate) fn turn(&mut self, at: Instant, now: RealInstant) {
        let [turn, tick, quiet] = &mut self.spells;
        let begun = Spell { at, since: now, begun: None };
        *turn = begun;
        if at >= tick.at + TICK {
            *tick = begun;
        }
        if at >= quiet.at + QUIET {
            *quiet = begun;
        }
    }

    /// Something comes to it, or goes from it.
    pub(crate) fn exchange(&mut self, now: RealInstant) {
        let [turn, _, quiet] = &mut self.spells;
        *quiet = Spell { at: turn.at, since: now, begun: None };
    }

    /// Whether it is time to [`Watch::look`] at a guest that ends its turns.
    pub(crate) fn is_due(&self, now: RealInstant) -> bool {
        now.duration_since(self.looked) >= LOOK
    }

    /// Looks at it. `computed` tells the processor time that it has used, where that is known.
    pub(crate) fn look(
        &mut self,
        now: RealInstant,
        computed: impl FnOnce() -> Option<Duration>,
    ) -> Option<Fault> {
        self.looked = now;
        let longest = self.longest;
        let real = |spell: &Spell| now.duration_since(spell.since);
        let is_asked =
            |spell: &Spell| real(spell) > longest || (spell.begun.is_none() && real(spell) >= LOOK);
        if !self.spells.iter().any(is_asked) {
            return None;
        }
        let known = computed();
        for spell in &mut self.spells {
            if spell.begun.is_none() && real(spell) >= LOOK {
                spell.begun = known;
            }
        }
        self.spells.iter().filter(|spell| real(spell) > longest).find_map(|spell| {
            let used = known.zip(spell.begun).map(|(now, begun)| LOOK + now.saturating_sub(begun));
            let used = used.unwrap_or_else(|| real(spell));
            if used >= longest {
                return Some(Fault::Spins(used));
            }
            // Another guest may have had the processor, but not within a turn of this one.
            let is_turn = spell.since == self.spells[0].since;
            (is_turn && real(spell) > MOST * longest).then(|| Fault::Stuck(real(spell)))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONGEST: Duration = Duration::from_secs(20);

    /// A guest whose turns take 1 ms of the processor each and move its clock by `step`; something
    /// comes after each of `exchanges` turns. How long it is suffered, at most for 100 s.
    fn suffered(step: Span, exchanges: Option<u64>) -> Option<Duration> {
        let begun = RealInstant::now();
        let mut watch = Watch::new(LONGEST, begun);
        let mut at = Instant::ZERO;
        for turn in 0..100_000 {
            let passed = Duration::from_millis(turn);
            let now = begun + passed;
            watch.turn(at, now);
            if exchanges.is_some_and(|each| turn % each == 0) {
                watch.exchange(now);
            }
            if watch.is_due(now)
                && let Some(fault) = watch.look(now, || Some(passed))
            {
                assert!(matches!(fault, Fault::Spins(_)), "{fault:?}");
                return Some(passed);
            }
            at += step;
        }
        None
    }

    #[test]
    fn clock_that_hardly_moves_stands() {
        let nanosecond = Span::from_nanos(1);
        for (step, exchanges) in [
            (nanosecond, None),
            (nanosecond, Some(1000)),
            // 10 µs for 1 ms of the processor: a kernel in a loop, far ahead of the other.
            (Span::from_micros(10), None),
        ] {
            let ended = suffered(step, exchanges).unwrap();
            let is_right = (LONGEST..LONGEST + Duration::from_secs(1)).contains(&ended);
            assert!(is_right, "{step} {exchanges:?}: {ended:?}");
        }
    }

    #[test]
    fn hard_work_is_no_fault() {
        for (step, exchanges) in
            [(Span::from_micros(10), Some(1000)), (Span::from_micros(60), None)]
        {
            assert_eq!(suffered(step, exchanges), None, "{step} {exchanges:?}");
        }
    }

    #[test]
    fn one_long_turn_is_judged_by_its_processor_time() {
        let begun = RealInstant::now();
        for (share, expected) in
            [(1.0, Some(20)), (0.5, Some(39)), (0.0, Some(600)), (0.04, Some(497))]
        {
            let mut watch = Watch::new(LONGEST, begun);
            watch.turn(Instant::ZERO, begun);
            let ended = (1..10_000).find(|tenths: &u32| {
                let passed = LOOK * *tenths;
                watch.look(begun + passed, || Some(passed.mul_f64(share))).is_some()
            });
            assert_eq!(ended.map(|tenths| tenths / 10), expected, "{share}");
        }
    }
}
