//! Reads "a number and a unit" exactly; errors say what would be right.

use std::fmt;

use crate::unit::Unit;

/// Why a quantity could not be read; the text names what would be right.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the message above each field explains it")]
pub enum UnitError {
    /// There is no number at the start.
    #[error("`{text}` is not {what}: give a number and a unit, such as `{example}`")]
    NotANumber { text: String, what: &'static str, example: &'static str },
    /// The number has no unit.
    #[error("`{text}` has no unit: give {what} such as `{example}`")]
    NoUnit { text: String, what: &'static str, example: String },
    /// The unit belongs to another quantity or to none.
    #[error("`{unit}` is not a unit of {what}: use one of {allowed}")]
    WrongUnit { unit: String, what: &'static str, allowed: String },
    /// People mean two things by it.
    #[error("`{text}` could be two things: write {one} or {other}")]
    Unclear { text: String, one: String, other: String },
    /// The number has a comma or an exponent.
    #[error(
        "`{text}` is not a plain number: write digits and a decimal point, such as `{example}`"
    )]
    NotPlain { text: String, example: &'static str },
    /// The number is below zero.
    #[error("`{text}` is negative: {what} must be zero or more")]
    Negative { text: String, what: &'static str },
    /// The number is larger than the type holds, or finer than its smallest step.
    #[error("`{text}` is out of range for {what}: {limit}")]
    OutOfRange { text: String, what: &'static str, limit: &'static str },
}

/// Decimal units divide it, minutes and hours do not.
const TERA: u64 = 1_000_000_000_000;

/// One quantity's grammar: its name in messages, an example, and its units in smallest steps.
pub(crate) struct Grammar {
    pub(crate) what: &'static str,
    pub(crate) example: &'static str,
    /// The unit that a number from 1,000 on without one probably has.
    pub(crate) usual_of_large: &'static str,
    /// The units that are shown and suggested, from the smallest on.
    pub(crate) units: &'static [(&'static str, u64)],
    /// Reads these units and the other ways to write them.
    pub(crate) read_unit: fn(&str) -> Unit,
    /// What `read_unit` accepts, as a regular expression.
    pub(crate) unit_pattern: &'static str,
    pub(crate) limit: &'static str,
}

/// A number as a regular expression: digits, `_` between them, a decimal point.
pub const NUMBER_PATTERN: &str = r"\+?_*([0-9][0-9_]*(\.[0-9_]*)?|\.[0-9_]*[0-9][0-9_]*)";

impl Grammar {
    /// Reads `text` into whole steps of the smallest unit, by integer arithmetic.
    pub(crate) fn parse(&self, text: &str) -> Result<u64, UnitError> {
        let trimmed = text.trim();
        let number_len = trimmed
            .find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '_' | '-' | '+')))
            .unwrap_or(trimmed.len());
        let (number, unit) = (&trimmed[..number_len], trimmed[number_len..].trim());
        if number.starts_with('-') {
            return Err(UnitError::Negative { text: text.into(), what: self.what });
        }
        let number = number.strip_prefix('+').unwrap_or(number).replace('_', "");
        let (whole, fraction) = number.split_once('.').unwrap_or((number.as_str(), ""));
        let digits_only = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
        if (whole.is_empty() && fraction.is_empty())
            || !digits_only(whole)
            || !digits_only(fraction)
        {
            return Err(UnitError::NotANumber {
                text: text.into(),
                what: self.what,
                example: self.example,
            });
        }
        let factor = match (self.read_unit)(unit) {
            Unit::Steps(factor) => factor,
            // No time is no time in every unit.
            _ if trimmed == "0" => 1,
            other => return Err(self.refused(text, &number, unit, other)),
        };
        scale(whole, fraction, factor).ok_or_else(|| UnitError::OutOfRange {
            text: text.into(),
            what: self.what,
            limit: self.limit,
        })
    }

    /// Why `unit` behind `number` is refused.
    fn refused(&self, text: &str, number: &str, unit: &str, read: Unit) -> UnitError {
        let (text, what, example) = (text.to_owned(), self.what, self.example);
        let is_exponent = unit.strip_prefix(['e', 'E']).is_some_and(|rest| {
            rest.trim_start_matches(['-', '+']).starts_with(|c: char| c.is_ascii_digit())
        });
        match read {
            Unit::Unclear([one, other]) => {
                let [one, other] = [one, other].map(|unit| format!("`{number} {unit}`"));
                UnitError::Unclear { text, one, other }
            }
            Unit::Bits([bytes, bits]) => {
                let eighth = number.parse::<f64>().unwrap_or_default() / 8.0;
                let other = format!("`{eighth} {bytes}` (for {number} {bits})");
                UnitError::Unclear { text, one: format!("`{number} {bytes}`"), other }
            }
            _ if unit.is_empty() => {
                let is_large = number.parse::<f64>().is_ok_and(|it| it >= 1_000.0);
                let usual = example.split_once(' ').map_or("", |(_, unit)| unit);
                let unit = if is_large { self.usual_of_large } else { usual };
                UnitError::NoUnit { text, what, example: format!("{number} {unit}") }
            }
            _ if unit.starts_with(',') || is_exponent => UnitError::NotPlain { text, example },
            _ => {
                let allowed = self.units.iter().map(|(name, _)| *name).collect::<Vec<_>>();
                UnitError::WrongUnit { unit: unit.into(), what, allowed: allowed.join(", ") }
            }
        }
    }

    /// What [`Grammar::parse`] accepts, but for the range, as a regular expression.
    pub(crate) fn pattern(&self) -> String {
        format!(r"^\s*(0|{NUMBER_PATTERN}\s*{})\s*$", self.unit_pattern)
    }

    /// Writes `steps` in the largest unit that keeps it exact and short.
    pub(crate) fn format(&self, steps: u64, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (smallest, _) = self.units[0];
        for (name, factor) in self.units.iter().rev() {
            if steps < *factor || name.contains('i') && name.ends_with("iB") {
                continue;
            }
            let (whole, rest) = (steps / factor, steps % factor);
            if rest == 0 {
                return write!(f, "{whole} {name}");
            }
            // Decimals read better than a smaller unit; of minutes and hours there are none.
            if TERA.is_multiple_of(*factor) {
                let width = factor.ilog10() as usize;
                let decimals = format!("{rest:0width$}");
                return write!(f, "{whole}.{} {name}", decimals.trim_end_matches('0'));
            }
        }
        write!(f, "{steps} {smallest}")
    }
}

/// `whole.fraction × factor`, or `None` when that is not a whole number of steps below 2⁶⁴.
fn scale(whole: &str, fraction: &str, factor: u64) -> Option<u64> {
    let fraction = fraction.trim_end_matches('0');
    let whole: u128 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    let power = 10u128.checked_pow(u32::try_from(fraction.len()).ok()?)?;
    let fraction: u128 = if fraction.is_empty() { 0 } else { fraction.parse().ok()? };
    let scaled =
        whole.checked_mul(power)?.checked_add(fraction)?.checked_mul(u128::from(factor))?;
    if scaled % power != 0 {
        return None;
    }
    u64::try_from(scaled / power).ok()
}

/// Implements reading and writing (`FromStr`, `Display`, serde, JSON Schema) by a [`Grammar`]; with
/// `serde`, of a type that has its own `FromStr` and `Display`.
macro_rules! written_as {
    ($type:ident, $grammar:expr, $about:literal) => {
        $crate::parse::written_as!(serde $type, $grammar, $about);
        impl std::str::FromStr for $type {
            type Err = $crate::UnitError;
            fn from_str(text: &str) -> Result<Self, Self::Err> {
                $grammar.parse(text).map(Self)
            }
        }
        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                $grammar.format(self.0, f)
            }
        }
    };
    (serde $type:ident, $grammar:expr, $about:literal) => {
        impl $type {
            /// The units that are read, as a regular expression.
            pub const UNIT_PATTERN: &'static str = $grammar.unit_pattern;
        }
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
                s.collect_str(self)
            }
        }
        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
                $crate::parse::from_text(d, $grammar.what, $grammar.example)
            }
        }
        impl schemars::JsonSchema for $type {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($type).into()
            }
            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({
                    "type": "string", "pattern": $grammar.pattern(), "description": $about
                })
            }
        }
    };
}
pub(crate) use written_as;

/// Reads a quantity from a string; a bare number is refused with the unit it lacks.
pub(crate) fn from_text<'de, D, T>(
    deserializer: D,
    what: &'static str,
    example: &'static str,
) -> Result<T, D::Error>
where
    D: serde::Deserializer<'de>,
    T: std::str::FromStr<Err = UnitError>,
{
    struct Visitor<T>(&'static str, &'static str, std::marker::PhantomData<T>);
    impl<T: std::str::FromStr<Err = UnitError>> serde::de::Visitor<'_> for Visitor<T> {
        type Value = T;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "{} such as \"{}\"", self.0, self.1)
        }
        fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<T, E> {
            text.parse().map_err(E::custom)
        }
        fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<T, E> {
            self.visit_str(&number.to_string())
        }
        fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<T, E> {
            self.visit_str(&number.to_string())
        }
        fn visit_f64<E: serde::de::Error>(self, number: f64) -> Result<T, E> {
            self.visit_str(&number.to_string())
        }
    }
    deserializer.deserialize_any(Visitor(what, example, std::marker::PhantomData))
}

#[cfg(test)]
mod tests {
    use std::str::FromStr;

    use proptest::prelude::*;
    use schemars::{JsonSchema, SchemaGenerator};

    use crate::{Bytes, Probability, Rate, Span, UnitError};

    /// Whether the parser and the schema's pattern agree on a text.
    fn agree<T: FromStr<Err = UnitError> + JsonSchema>(text: &str) -> Result<(), String> {
        let schema = T::json_schema(&mut SchemaGenerator::default()).to_value();
        let pattern = schema["pattern"].as_str().expect("a pattern");
        let is_allowed = regex_lite::Regex::new(pattern).expect("a regular expression");
        let is_read = match text.parse::<T>() {
            Ok(_) | Err(UnitError::OutOfRange { .. }) => true,
            Err(_) => false,
        };
        if is_allowed.is_match(text) == is_read {
            return Ok(());
        }
        Err(format!("{text:?}: read {is_read}, pattern {pattern}"))
    }

    /// A number, a unit or what looks like one, and sometimes both wrong.
    fn written() -> impl Strategy<Value = String> {
        let number = "[+_]{0,1}[0-9_]{0,4}[.]{0,1}[0-9_]{0,3}";
        let units = prop_oneof![
            "[kKmMgGtT]{0,1}i{0,1}(|b|B|bit|bits|Bit|byte|Bytes|bps|Bps|BPS)(|/s|/sec|/second|ps)",
            "(|n|u|\u{b5}|\u{3bc}|m)(s|sec|secs|second|seconds|min|minutes|h|hrs|hours|m)",
            "(%| %|percent)",
            "[a-zA-Z/%.,]{0,4}",
        ];
        (number, " {0,2}", units).prop_map(|(number, space, unit)| number + &space + &unit)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn schema_accepts_what_is_read_and_no_other(text in written()) {
            prop_assert_eq!(agree::<Bytes>(&text), Ok(()));
            prop_assert_eq!(agree::<Rate>(&text), Ok(()));
            prop_assert_eq!(agree::<Span>(&text), Ok(()));
            prop_assert_eq!(agree::<Probability>(&text), Ok(()));
        }
    }
}
