//! Chances, held so exactly that a draw is one integer comparison.

use std::fmt;
use std::str::FromStr;

use crate::parse::{Grammar, written_as};
use crate::unit;
use crate::{Rng, UnitError};

const GRAMMAR: Grammar = Grammar {
    what: "a probability",
    example: "0.3 %",
    usual_of_large: "%",
    units: &[("%", 10_000_000_000)],
    read_unit: unit::of_probability,
    unit_pattern: unit::PROBABILITY,
    limit: "0 % to 100 %, in steps of 10⁻¹⁰ %",
};

const ONE: u64 = 1_000_000_000_000;

/// A probability from 0 to 1, held in steps of 10⁻¹². Written `0.3 %`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Probability(u64);

written_as!(
    serde Probability,
    GRAMMAR,
    "A probability in per cent, such as `0.3 %`. A bare `0.003` is refused: it could be a share."
);

impl Probability {
    /// It never happens.
    pub const NEVER: Probability = Probability(0);
    /// It always happens.
    pub const ALWAYS: Probability = Probability(ONE);

    /// `n` in a million.
    pub fn per_million(n: u32) -> Probability {
        Probability((u64::from(n) * 1_000_000).min(ONE))
    }
    /// That it does not happen.
    #[must_use]
    pub const fn complement(self) -> Probability {
        Probability(ONE - self.0)
    }
    /// From 0 to 1.
    pub fn as_f64(self) -> f64 {
        self.0 as f64 / ONE as f64
    }
    /// Whether it happens this time. Takes exactly one draw, whatever the probability, so that
    /// changing a probability does not shift the draws that follow.
    pub fn happens(self, rng: &mut Rng) -> bool {
        rng.below(ONE) < self.0
    }
}

impl FromStr for Probability {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let read = GRAMMAR.parse(text).map_err(|error| match (error, text.trim().parse()) {
            (UnitError::NoUnit { text, .. }, Ok(number @ 0.0..=1.0)) => {
                let in_percent = (number * 1e12_f64).round() / 1e10;
                let other = format!("`{in_percent} %` (a share of {text})");
                UnitError::Unclear { one: format!("`{text} %`"), other, text }
            }
            (error, _) => error,
        });
        match read? {
            steps if steps <= ONE => Ok(Probability(steps)),
            _ => Err(UnitError::OutOfRange {
                text: text.into(),
                what: GRAMMAR.what,
                limit: GRAMMAR.limit,
            }),
        }
    }
}

impl fmt::Display for Probability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, rest) = (self.0 / 10_000_000_000, self.0 % 10_000_000_000);
        if rest == 0 {
            return write!(f, "{whole} %");
        }
        let decimals = format!("{rest:010}");
        write!(f, "{whole}.{} %", decimals.trim_end_matches('0'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_writes_and_bounds() {
        for (text, written) in [("0.3 %", "0.3 %"), ("100%", "100 %"), ("0 %", "0 %")] {
            assert_eq!(text.parse::<Probability>().unwrap().to_string(), written);
        }
        assert!("100.1 %".parse::<Probability>().is_err());
        for (text, message) in [
            ("0.003", "`0.003` could be two things: write `0.003 %` or `0.3 %` (a share of 0.003)"),
            ("3", "`3` has no unit: give a probability such as `3 %`"),
        ] {
            assert_eq!(text.parse::<Probability>().unwrap_err().to_string(), message);
        }
    }

    #[test]
    fn certain_things_are_certain() {
        let mut rng = Rng::new(7, "test");
        assert!((0..1000).all(|_| Probability::ALWAYS.happens(&mut rng)));
        assert!((0..1000).all(|_| !Probability::NEVER.happens(&mut rng)));
    }
}
