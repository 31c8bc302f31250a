//! What a rate lets pass, exactly, also while it changes.

use tcplab_units::{Instant, Rate, Span};

use crate::schedule::Schedule;

/// A moment on the way along a rate that changes with time, known exactly.
///
/// Work is counted in billionths of a bit. Between two changes the rate is constant and does a
/// whole number of them in each nanosecond, and changes fall on whole nanoseconds. So only the
/// place within a nanosecond is a fraction, with the rate there as its denominator; it is carried
/// on, and over any run of packets nothing is gained or lost by rounding.
#[derive(Debug)]
pub(crate) struct Supply {
    schedule: Schedule<Rate>,
    /// The rate at this moment, in bits per second: billionths of a bit per nanosecond.
    rate: u128,
    /// Until when it stays; [`Instant::MAX`] for ever.
    changes: Instant,
    /// The moment is `fraction` / `rate` nanoseconds after this.
    at: Instant,
    /// Less than `rate`, or zero.
    fraction: u128,
}

/// A moment of a [`Supply`], to go back to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Position {
    at: Instant,
    fraction: u128,
}

impl Supply {
    /// From the world's zero on.
    pub(crate) fn new(schedule: Schedule<Rate>) -> Supply {
        let mut supply =
            Supply { schedule, rate: 0, changes: Instant::ZERO, at: Instant::ZERO, fraction: 0 };
        supply.look_up();
        supply
    }

    /// Where it is.
    pub(super) fn position(&self) -> Position {
        Position { at: self.at, fraction: self.fraction }
    }

    /// From `at` on, which nobody has been told of yet, there is another rate. Goes back to a
    /// position before that, if one is given.
    pub(super) fn set(&mut self, at: Instant, rate: Rate, back_to: Option<Position>) {
        self.schedule.set(at.since(Instant::ZERO), rate);
        if let Some(Position { at, fraction }) = back_to {
            (self.at, self.fraction) = (at, fraction);
        }
        self.look_up();
    }

    /// Goes on to `now`, whatever lies between; not backwards.
    pub(crate) fn go_to(&mut self, now: Instant) {
        self.at = now;
        self.fraction = 0;
        if now >= self.changes {
            self.look_up();
        }
    }

    /// Goes on to `now`, and says what may have passed until then; from `enough` on it may say less
    /// than the truth. Only from a whole nanosecond.
    pub(super) fn earn(&mut self, now: Instant, enough: u128) -> u128 {
        debug_assert_eq!(self.fraction, 0, "tokens are counted at whole nanoseconds");
        let mut earned = 0_u128;
        while now >= self.changes && earned < enough && self.changes < Instant::MAX {
            earned = earned.saturating_add(self.rate * nanos(self.at, self.changes));
            self.at = self.changes;
            self.look_up();
        }
        if now < self.changes {
            earned = earned.saturating_add(self.rate * nanos(self.at, now));
        }
        self.go_to(now);
        earned
    }

    /// Goes on until so much `work` has passed; to [`Instant::MAX`] if it never has.
    pub(crate) fn spend(&mut self, work: u128) {
        let mut left = self.fraction.saturating_add(work);
        // A moment at which the rate changed, and what was left there: a repetition later it is
        // known what each repetition does, and as many as need be are passed at once.
        let mut lap: Option<(Instant, u128)> = None;
        loop {
            if left == 0 {
                self.fraction = 0;
                return;
            }
            let until_change = self.rate * nanos(self.at, self.changes);
            if left < until_change {
                let (whole, fraction) = divide(left, self.rate);
                self.at += Span::from_nanos(whole as u64);
                self.fraction = fraction;
                return;
            }
            left -= until_change;
            self.at = self.changes;
            self.fraction = 0;
            if self.at == Instant::MAX {
                return;
            }
            if let Some((repeat, most)) = self.schedule.repeats(self.at) {
                let (began, then) = *lap.get_or_insert((self.at, left));
                if self.at.since(began) >= repeat {
                    left = self.skip(repeat, most, then - left, left);
                    lap = None;
                }
            }
            self.look_up();
        }
    }

    /// Skips the repetitions, each of `each` work and `most` of them, that do not finish the rest;
    /// returns the rest.
    fn skip(&mut self, repeat: Span, most: Option<u128>, each: u128, left: u128) -> u128 {
        let enough = left.saturating_sub(1).checked_div(each);
        let Some(times) = enough.into_iter().chain(most).min() else {
            self.at = Instant::MAX;
            return left;
        };
        let span = times.saturating_mul(u128::from(repeat.as_nanos()));
        self.at += Span::from_nanos(u64::try_from(span).unwrap_or(u64::MAX));
        left - times * each
    }

    /// Goes on to the next whole nanosecond if this is none, and says what more passes until then.
    pub(super) fn round_up(&mut self) -> u128 {
        if self.fraction == 0 {
            return 0;
        }
        let more = self.rate - self.fraction;
        self.go_to(self.whole());
        more
    }

    /// The first whole nanosecond at which it has got here: by then the last bit has been sent.
    pub(crate) fn whole(&self) -> Instant {
        self.at + Span::from_nanos(u64::from(self.fraction > 0))
    }

    fn look_up(&mut self) {
        self.rate = u128::from(self.schedule.at(self.at).bits_per_second());
        self.changes = self.schedule.next_change(self.at).unwrap_or(Instant::MAX);
    }
}

/// Quotient and remainder; a division of 128 bits takes several times as long as one of 64.
fn divide(work: u128, rate: u128) -> (u128, u128) {
    match (u64::try_from(work), u64::try_from(rate)) {
        (Ok(work), Ok(rate)) => ((work / rate).into(), (work % rate).into()),
        _ => (work / rate, work % rate),
    }
}

fn nanos(from: Instant, to: Instant) -> u128 {
    u128::from(to.since(from).as_nanos())
}
