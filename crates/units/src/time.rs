//! Points in time and lengths of time, in whole nanoseconds.

use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, Mul, Sub};

use serde::{Deserialize, Serialize};

use crate::parse::{Grammar, written_as};
use crate::unit;

const GRAMMAR: Grammar = Grammar {
    what: "a time span",
    example: "200 ms",
    usual_of_large: "ms",
    units: &[
        ("ns", 1),
        ("µs", 1_000),
        ("ms", 1_000_000),
        ("s", 1_000_000_000),
        ("min", 60_000_000_000),
        ("h", 3_600_000_000_000),
    ],
    read_unit: unit::of_span,
    unit_pattern: unit::SPAN,
    limit: "whole nanoseconds up to 584 years",
};

/// A length of time in nanoseconds, at most 584 years. Written `200 ms`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span(u64);

written_as!(
    Span,
    GRAMMAR,
    "A time span: a number and one of ns, µs, ms, s, min, h, such as `200 ms`. Also read are `us`, \
     `usec`, `msec`, `sec`, `seconds`, `minutes`, `hours`. `5m` is refused: it could be minutes or \
     milliseconds."
);

impl Span {
    /// No time at all.
    pub const ZERO: Span = Span(0);
    /// The longest span.
    pub const MAX: Span = Span(u64::MAX);

    /// `n` nanoseconds.
    pub const fn from_nanos(n: u64) -> Span {
        Span(n)
    }
    /// `n` microseconds.
    pub const fn from_micros(n: u64) -> Span {
        Span(n * 1_000)
    }
    /// `n` milliseconds.
    pub const fn from_millis(n: u64) -> Span {
        Span(n * 1_000_000)
    }
    /// `n` seconds.
    pub const fn from_secs(n: u64) -> Span {
        Span(n * 1_000_000_000)
    }
    /// The nearest span to `seconds`; negative and not-a-number become zero.
    pub fn from_secs_f64(seconds: f64) -> Span {
        Span((seconds * 1e9).round() as u64)
    }
    /// In nanoseconds.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }
    /// In microseconds, rounded down.
    pub const fn as_micros(self) -> u64 {
        self.0 / 1_000
    }
    /// In milliseconds, as people read them.
    pub fn as_millis_f64(self) -> f64 {
        self.0 as f64 / 1e6
    }
    /// In seconds, as people read them.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }
    /// Whether no time passes.
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }
    /// The difference, or zero where `other` is longer.
    #[must_use]
    pub const fn saturating_sub(self, other: Span) -> Span {
        Span(self.0.saturating_sub(other.0))
    }
    /// For the standard library's waiting calls.
    pub const fn to_std(self) -> std::time::Duration {
        std::time::Duration::from_nanos(self.0)
    }
}

impl Add for Span {
    type Output = Span;
    /// Never longer than [`Span::MAX`]: a capture may say anything of its times.
    fn add(self, other: Span) -> Span {
        Span(self.0.saturating_add(other.0))
    }
}
impl AddAssign for Span {
    fn add_assign(&mut self, other: Span) {
        *self = *self + other;
    }
}
impl Sub for Span {
    type Output = Span;
    fn sub(self, other: Span) -> Span {
        Span(self.0 - other.0)
    }
}
impl Mul<u64> for Span {
    type Output = Span;
    /// Never longer than [`Span::MAX`].
    fn mul(self, times: u64) -> Span {
        Span(self.0.saturating_mul(times))
    }
}
impl Div<u64> for Span {
    type Output = Span;
    fn div(self, parts: u64) -> Span {
        Span(self.0 / parts)
    }
}
impl Sum for Span {
    fn sum<I: Iterator<Item = Span>>(spans: I) -> Span {
        spans.fold(Span::ZERO, Add::add)
    }
}

/// A point in time: nanoseconds since the world's own zero (the start of a trial, the first
/// packet of a capture). Only differences and order mean anything.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Instant(u64);

impl Instant {
    /// The world's zero.
    pub const ZERO: Instant = Instant(0);
    /// Later than anything that happens.
    pub const MAX: Instant = Instant(u64::MAX);

    /// The earlier of two, where there are two.
    #[inline]
    pub fn earlier(one: Option<Instant>, other: Option<Instant>) -> Option<Instant> {
        match (one, other) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        }
    }
    /// `n` nanoseconds after zero.
    pub const fn from_nanos(n: u64) -> Instant {
        Instant(n)
    }
    /// Nanoseconds since zero.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }
    /// Whole microseconds since zero: a clock that shows no fractions.
    pub const fn as_micros(self) -> u64 {
        self.0 / 1_000
    }
    /// Seconds since zero, as people read them.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }
    /// How long after `earlier` this is; zero when it is not after.
    pub const fn since(self, earlier: Instant) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }
}

impl Add<Span> for Instant {
    type Output = Instant;
    fn add(self, span: Span) -> Instant {
        Instant(self.0.saturating_add(span.0))
    }
}
impl AddAssign<Span> for Instant {
    fn add_assign(&mut self, span: Span) {
        *self = *self + span;
    }
}
impl Sub<Span> for Instant {
    type Output = Instant;
    /// Never earlier than zero.
    fn sub(self, span: Span) -> Instant {
        Instant(self.0.saturating_sub(span.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_and_writes_as_people_do() {
        for (text, nanos, written) in [
            ("200 ms", 200_000_000, "200 ms"),
            ("200ms", 200_000_000, "200 ms"),
            ("0.2 s", 200_000_000, "200 ms"),
            ("1.5 s", 1_500_000_000, "1.5 s"),
            ("2 min", 120_000_000_000, "2 min"),
            ("90 s", 90_000_000_000, "90 s"),
            ("12 µs", 12_000, "12 µs"),
            ("0 s", 0, "0 ns"),
            ("0", 0, "0 ns"),
            ("12us", 12_000, "12 µs"),
            ("12 μs", 12_000, "12 µs"),
            ("200 msec", 200_000_000, "200 ms"),
            ("5sec", 5_000_000_000, "5 s"),
            ("2 minutes", 120_000_000_000, "2 min"),
        ] {
            let span: Span = text.parse().unwrap();
            assert_eq!(span.as_nanos(), nanos, "{text}");
            assert_eq!(span.to_string(), written, "{text}");
        }
    }

    #[test]
    fn says_what_would_be_right() {
        for (text, message) in [
            ("200", "`200` has no unit: give a time span such as `200 ms`"),
            ("-5 ms", "`-5 ms` is negative: a time span must be zero or more"),
            ("5m", "`5m` could be two things: write `5 min` or `5 ms`"),
            (
                "0,5 s",
                "`0,5 s` is not a plain number: write digits and a decimal point, such as `200 ms`",
            ),
            (
                "1e3 ms",
                "`1e3 ms` is not a plain number: write digits and a decimal point, such as `200 ms`",
            ),
            ("soon", "`soon` is not a time span: give a number and a unit, such as `200 ms`"),
            ("5 Mbit/s", "`Mbit/s` is not a unit of a time span: use one of ns, µs, ms, s, min, h"),
            (
                "0.1 ns",
                "`0.1 ns` is out of range for a time span: whole nanoseconds up to 584 years",
            ),
            (
                "6000000 h",
                "`6000000 h` is out of range for a time span: whole nanoseconds up to 584 years",
            ),
        ] {
            assert_eq!(text.parse::<Span>().unwrap_err().to_string(), message);
        }
    }

    #[test]
    fn sums_and_multiples_saturate() {
        let half = Span::from_nanos(u64::MAX / 2 + 1);
        assert_eq!(half + half, Span::MAX);
        assert_eq!(half * 2, Span::MAX);
        assert_eq!([half, half, half].into_iter().sum::<Span>(), Span::MAX);
        assert_eq!(Instant::from_nanos(5) + Span::MAX, Instant::MAX);
    }

    proptest::proptest! {
        #[test]
        fn span_text_round_trips(nanos: u64) {
            let span = Span::from_nanos(nanos);
            proptest::prop_assert_eq!(span.to_string().parse::<Span>().unwrap(), span);
        }
    }
}
