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
        let (mut earned, mut lap) = (0_u128, Lap::default());
        while now >= self.changes && earned < enough && self.changes < Instant::MAX {
            earned = earned.saturating_add(self.rate * nanos(self.at, self.changes));
            self.at = self.changes;
            if let Some((repeat, most, each)) = lap.ended(&self.schedule, self.at, earned) {
                let fit = nanos(self.at, now) / u128::from(repeat.as_nanos());
                let times = most.map_or(fit, |most| most.min(fit));
                earned = earned.saturating_add(each.saturating_mul(times));
                self.pass(repeat, times);
            }
            earned = earned.saturating_add(self.climb(now, u128::MAX));
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
        let (mut spent, mut lap) = (0_u128, Lap::default());
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
            spent = spent.saturating_add(until_change);
            self.at = self.changes;
            self.fraction = 0;
            if self.at == Instant::MAX {
                return;
            }
            if let Some((repeat, most, each)) = lap.ended(&self.schedule, self.at, spent) {
                // Those that do not finish the rest.
                let Some(times) =
                    (left.saturating_sub(1)).checked_div(each).into_iter().chain(most).min()
                else {
                    self.at = Instant::MAX;
                    return;
                };
                left -= times * each;
                self.pass(repeat, times);
            }
            if left > 0 {
                let climbed = self.climb(Instant::MAX, left);
                left -= climbed;
                spent = spent.saturating_add(climbed);
            }
            self.look_up();
        }
    }

    /// At a change, goes on over the stairs of a ramp that end until then and let no more than so
    /// much pass; says how much they did.
    fn climb(&mut self, until: Instant, most: u128) -> u128 {
        let Some(stairs) = self.schedule.stairs(self.at, until) else { return 0 };
        let count = stairs.within(most);
        self.at += Schedule::<Rate>::STAIR * count;
        stairs.area(count)
    }

    /// So many repetitions pass.
    fn pass(&mut self, repeat: Span, times: u128) {
        let span = times.saturating_mul(u128::from(repeat.as_nanos()));
        self.at += Span::from_nanos(u64::try_from(span).unwrap_or(u64::MAX));
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

/// A repetition of a schedule on the way: when it is over it is known what each passes, and as many
/// as need be can be passed at once.
#[derive(Default)]
struct Lap {
    /// When it began, and what had passed by then.
    began: Option<(Instant, u128)>,
}

impl Lap {
    /// The rate changes at `now`, until which so much has passed. Where a repetition has ended: how
    /// long it was, how many follow, if not for ever, and what passed in it.
    fn ended(
        &mut self,
        schedule: &Schedule<Rate>,
        now: Instant,
        passed: u128,
    ) -> Option<(Span, Option<u128>, u128)> {
        let (repeat, most) = schedule.repeats(now)?;
        if !now.as_nanos().is_multiple_of(repeat.as_nanos()) {
            return None;
        }
        let (began, before) = self.began.replace((now, passed))?;
        debug_assert_eq!(now.since(began), repeat, "no repetition begins unseen");
        self.began = None;
        Some((repeat, most, passed - before))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::Step;

    const YEAR: u64 = 365 * 86_400 * 1_000_000_000;

    fn supply(start: u64, (at, to, over): (u64, u64, u64), repeat: Option<u64>) -> Supply {
        let [start, to] = [start, to].map(Rate::from_bits_per_second);
        let step = Step { at: Span::from_nanos(at), to, over: Span::from_nanos(over) };
        let repeat = repeat.map(Span::from_nanos);
        Supply::new(Schedule { start, steps: vec![step], repeat })
    }

    /// 1 and 2 bit/s, each for a nanosecond: in ten years three billionths each two nanoseconds.
    #[test]
    fn rate_that_repeats_each_nanosecond_is_added_up_at_once() {
        let quick = || supply(1, (1, 2, 0), Some(2));
        let now = Instant::from_nanos(10 * YEAR + 1);
        let work = 15 * u128::from(YEAR) + 1;
        assert_eq!(quick().earn(now, u128::MAX), work);
        let mut spending = quick();
        spending.spend(work);
        assert_eq!(spending.whole(), now);
    }

    /// From 0 to 1 bit/s in a hundred years: rounded down it is 0 until then.
    #[test]
    fn ramp_of_years_is_climbed_at_once() {
        let slow = || supply(0, (0, 1, 100 * YEAR), None);
        let (years, work) = (Instant::from_nanos(100 * YEAR), 12_000_000_000_000_u128);
        let later = years + Span::from_secs(12_000);
        assert_eq!(slow().earn(years, u128::MAX), 0);
        assert_eq!(slow().earn(later, u128::MAX), work);
        let mut spending = slow();
        spending.spend(work);
        assert_eq!(spending.whole(), later);
    }

    /// From 0 to 10¹⁵ bit/s in a hundred years: after ten of them a hundredth of what passes in
    /// all, which is half of what the last rate would let pass; less half a stair of 317 bit/s.
    #[test]
    fn steep_ramp_of_years_is_climbed_at_once() {
        let steep = || supply(0, (0, 1_000_000_000_000_000, 100 * YEAR), Some(200 * YEAR));
        let now = Instant::from_nanos(10 * YEAR);
        let whole = 5e14 * 100.0 * YEAR as f64;
        let earned = steep().earn(now, u128::MAX);
        assert!((earned as f64 / whole - 0.01).abs() < 1e-9, "{earned}");
        let mut spending = steep();
        spending.spend(earned);
        assert_eq!(spending.whole(), now);
    }
}
