//! Values of socket options: as scenarios write them, and as the kernel takes them.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, Visitor};
use serde::{Deserialize, Serialize};
use tcplab_units::{Bytes, Rate, Span};

/// The largest `int`.
pub(super) const INT_MAX: i64 = i32::MAX as i64;

/// What the value of an option is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// On or off: an `int`.
    Flag,
    /// A number with its unit (empty: a count), from and to: an `int`.
    Number(&'static str, i64, i64),
    /// Bytes, from and to: an `int`.
    Size(u64, u64),
    /// Whole seconds, from and to: an `int`.
    Seconds(u64, u64),
    /// Whole milliseconds, from and to: an `int`.
    Millis(u64, u64),
    /// Whole microseconds, from and to: an `int`.
    Micros(u64, u64),
    /// A time: a `struct timeval`; zero: for ever.
    Time,
    /// Off, or on with a time in whole seconds: a `struct linger`.
    Linger,
    /// Bytes per second, as an `unsigned long`; all ones: no limit.
    Rate,
    /// A name of up to 15 characters (`TCP_CA_NAME_MAX`, the closing NUL apart).
    Name,
    /// A structure, which is not looked into here: its name in C.
    Structure(&'static str),
}

/// Linux keeps a name in 16 bytes, the closing NUL included (`TCP_CA_NAME_MAX`).
const NAME_MAX: usize = 15;

impl Kind {
    /// The unit of what is written, such as `B`; empty of counts and flags.
    pub fn unit(self) -> &'static str {
        match self {
            Kind::Number(unit, ..) => unit,
            Kind::Size(..) => "B",
            Kind::Seconds(..) | Kind::Linger => "s",
            Kind::Millis(..) => "ms",
            Kind::Micros(..) | Kind::Time => "µs",
            Kind::Rate => "B/s",
            Kind::Flag | Kind::Name | Kind::Structure(_) => "",
        }
    }

    /// What can be asked for, such as `1 to 32767 s`.
    pub fn range(self) -> String {
        match self {
            Kind::Flag => "off, on".into(),
            Kind::Number(unit, least, most) => spaced(format!("{least} to {most}"), unit),
            Kind::Size(least, most) => format!("{least} to {most} B"),
            Kind::Seconds(least, most) => format!("{least} to {most} s"),
            Kind::Millis(least, most) => format!("{least} to {most} ms"),
            Kind::Micros(least, most) => format!("{least} to {most} µs"),
            Kind::Time => "0 (no limit) or more, in steps of 1 µs".into(),
            Kind::Linger => format!("off, or 0 to {} s", i32::MAX),
            Kind::Rate => "0 B/s or more; unlimited".into(),
            Kind::Name => format!("a name of 1 to {NAME_MAX} characters"),
            Kind::Structure(name) => name.into(),
        }
    }
}

fn spaced(text: String, unit: &str) -> String {
    if unit.is_empty() { text } else { format!("{text} {unit}") }
}

/// The value of an option.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum OptionValue {
    /// Of [`Kind::Flag`]; off, of [`Kind::Linger`].
    Flag(bool),
    /// Of [`Kind::Number`], and of others where the kernel has a number with a meaning of its own.
    Number(i64),
    /// Of [`Kind::Size`].
    Size(Bytes),
    /// Of the kinds that are times; on, of [`Kind::Linger`].
    Span(Span),
    /// Of [`Kind::Rate`].
    Rate(Rate),
    /// Of [`Kind::Name`]; `unlimited` of [`Kind::Rate`].
    Name(String),
}

/// What a rate without limit is called.
const UNLIMITED: &str = "unlimited";

impl fmt::Display for OptionValue {
    /// Exactly, in the option's own unit.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OptionValue::Flag(true) => f.write_str("on"),
            OptionValue::Flag(false) => f.write_str("off"),
            OptionValue::Number(number) => write!(f, "{number}"),
            OptionValue::Size(size) => write!(f, "{} B", size.as_u64()),
            OptionValue::Span(span) if span.is_zero() => f.write_str("0 s"),
            OptionValue::Span(span) => write!(f, "{span}"),
            OptionValue::Rate(rate) => write!(f, "{rate}"),
            OptionValue::Name(name) => f.write_str(name),
        }
    }
}

impl OptionValue {
    /// Its size as a number in the option's unit, where that means something.
    pub fn number(&self, kind: Kind) -> Option<u64> {
        match (self, kind) {
            (OptionValue::Number(number), _) => u64::try_from(*number).ok(),
            (OptionValue::Size(size), _) => Some(size.as_u64()),
            (OptionValue::Span(span), Kind::Seconds(..) | Kind::Linger) => {
                Some(span.as_micros() / 1_000_000)
            }
            (OptionValue::Span(span), Kind::Millis(..)) => Some(span.as_micros() / 1_000),
            (OptionValue::Span(span), _) => Some(span.as_micros()),
            (OptionValue::Rate(rate), _) => Some(rate.bits_per_second() / 8),
            (OptionValue::Flag(on), _) => Some(u64::from(*on)),
            (OptionValue::Name(_), _) => None,
        }
    }

    /// As setsockopt(2) takes it.
    pub fn to_bytes(&self, kind: Kind) -> Vec<u8> {
        let number = self.number(kind).unwrap_or_default();
        match (self, kind) {
            (OptionValue::Name(name), Kind::Name) => name.clone().into_bytes(),
            (OptionValue::Name(_), _) => usize::MAX.to_ne_bytes().into(),
            (_, Kind::Rate) => (number as usize).to_ne_bytes().into(),
            (_, Kind::Time) => {
                let parts = [number / 1_000_000, number % 1_000_000];
                parts.into_iter().flat_map(|part| (part as usize).to_ne_bytes()).collect()
            }
            (_, Kind::Linger) => {
                let on = u32::from(matches!(self, OptionValue::Span(_)));
                let seconds = if on == 1 { number as u32 } else { 0 };
                [on, seconds].into_iter().flat_map(u32::to_ne_bytes).collect()
            }
            (OptionValue::Number(number), _) => (*number as i32).to_ne_bytes().into(),
            _ => (number as u32).to_ne_bytes().into(),
        }
    }

    /// As getsockopt(2) gives it; none of a structure, or where bytes are missing.
    pub fn from_bytes(kind: Kind, bytes: &[u8]) -> Option<OptionValue> {
        let int = || bytes.first_chunk().map(|bytes| i32::from_ne_bytes(*bytes));
        let long = |at: usize| {
            let bytes = bytes.get(at..)?.first_chunk()?;
            Some(usize::from_ne_bytes(*bytes) as u64)
        };
        // Where a time or a size is negative, the kernel means something else by it.
        let not_negative = |value: fn(u64) -> OptionValue| {
            let int = int()?;
            Some(u64::try_from(int).map_or(OptionValue::Number(int.into()), value))
        };
        match kind {
            Kind::Flag => int().map(|int| OptionValue::Flag(int != 0)),
            Kind::Number(..) => int().map(|int| OptionValue::Number(int.into())),
            // Some are unsigned to the kernel (TCP_NOTSENT_LOWAT).
            Kind::Size(..) => {
                int().map(|int| OptionValue::Size(Bytes::new(int.cast_unsigned().into())))
            }
            Kind::Seconds(..) => not_negative(|n| OptionValue::Span(Span::from_secs(n))),
            Kind::Millis(..) => not_negative(|n| OptionValue::Span(Span::from_millis(n))),
            Kind::Micros(..) => not_negative(|n| OptionValue::Span(Span::from_micros(n))),
            Kind::Time => {
                let micros =
                    long(0)?.checked_mul(1_000_000)?.checked_add(long(size_of::<usize>())?);
                Some(OptionValue::Span(Span::from_micros(micros?)))
            }
            Kind::Linger => match (int()?, bytes.get(4..)?.first_chunk()) {
                (0, _) => Some(OptionValue::Flag(false)),
                (_, Some(seconds)) => {
                    let seconds = u32::from_ne_bytes(*seconds);
                    Some(OptionValue::Span(Span::from_secs(seconds.into())))
                }
                _ => None,
            },
            Kind::Rate => Some(match long(0)? {
                rate if rate == usize::MAX as u64 => OptionValue::Name(UNLIMITED.into()),
                rate => OptionValue::Rate(Rate::from_bits_per_second(rate.saturating_mul(8))),
            }),
            Kind::Name => {
                let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
                Some(OptionValue::Name(String::from_utf8_lossy(&bytes[..end]).into_owned()))
            }
            Kind::Structure(_) => None,
        }
    }

    /// Why no kernel takes it, if none does.
    pub(super) fn objection(&self, kind: Kind) -> Option<String> {
        let outside = || Some(format!("is {self}: it must be {}", expected(kind)));
        let number = self.number(kind);
        let is_within = match kind {
            Kind::Number(_, least, most) => {
                number.is_some_and(|it| (least..=most).contains(&it.cast_signed()))
            }
            Kind::Size(least, most)
            | Kind::Seconds(least, most)
            | Kind::Millis(least, most)
            | Kind::Micros(least, most) => number.is_some_and(|it| (least..=most).contains(&it)),
            Kind::Linger => number.is_some_and(|it| i32::try_from(it).is_ok()),
            Kind::Flag | Kind::Time | Kind::Rate | Kind::Name | Kind::Structure(_) => true,
        };
        if !is_within {
            return outside();
        }
        let step = match kind {
            Kind::Seconds(..) | Kind::Linger => 1_000_000_000,
            Kind::Millis(..) => 1_000_000,
            Kind::Micros(..) | Kind::Time => 1_000,
            _ => 1,
        };
        match self {
            OptionValue::Span(span) if span.as_nanos() % step != 0 => Some(format!(
                "is {self}: the kernel takes whole {}",
                match step {
                    1_000_000_000 => "seconds",
                    1_000_000 => "milliseconds",
                    _ => "microseconds",
                }
            )),
            OptionValue::Rate(rate) if rate.bits_per_second() % 8 != 0 => {
                Some(format!("is {self}: the kernel takes whole bytes per second"))
            }
            OptionValue::Name(name) if !is_name(name) => Some(format!(
                "is `{name}`: give a name of up to {NAME_MAX} letters, digits, `_` or `-`, such as \
                 `reno`"
            )),
            _ => None,
        }
    }
}

fn is_name(name: &str) -> bool {
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-');
    !name.is_empty() && name.len() <= NAME_MAX && name.bytes().all(plain)
}

fn expected(kind: Kind) -> String {
    match kind {
        Kind::Number(..)
        | Kind::Size(..)
        | Kind::Seconds(..)
        | Kind::Millis(..)
        | Kind::Micros(..) => {
            format!("from {}", kind.range())
        }
        _ => kind.range(),
    }
}

/// Reads a value of a kind.
pub(super) struct ValueOf(pub(super) Kind);

impl<'de> DeserializeSeed<'de> for ValueOf {
    type Value = OptionValue;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<OptionValue, D::Error> {
        match self.0 {
            Kind::Flag => bool::deserialize(deserializer).map(OptionValue::Flag),
            Kind::Number(..) => u64::deserialize(deserializer)
                .map(|number| OptionValue::Number(i64::try_from(number).unwrap_or(i64::MAX))),
            Kind::Size(..) => Bytes::deserialize(deserializer).map(OptionValue::Size),
            Kind::Seconds(..) | Kind::Millis(..) | Kind::Micros(..) | Kind::Time => {
                Span::deserialize(deserializer).map(OptionValue::Span)
            }
            Kind::Linger => deserializer.deserialize_any(LingerVisitor),
            Kind::Rate => Rate::deserialize(deserializer).map(OptionValue::Rate),
            Kind::Name => String::deserialize(deserializer).map(OptionValue::Name),
            Kind::Structure(name) => {
                Err(D::Error::custom(format!("a {name} cannot be set in a scenario")))
            }
        }
    }
}

struct LingerVisitor;

impl Visitor<'_> for LingerVisitor {
    type Value = OptionValue;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("false, or a time to linger, such as \"5 s\"")
    }

    fn visit_bool<E: Error>(self, on: bool) -> Result<OptionValue, E> {
        if on {
            return Err(E::custom("give a time to linger, such as \"5 s\""));
        }
        Ok(OptionValue::Flag(false))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<OptionValue, E> {
        text.parse().map(OptionValue::Span).map_err(E::custom)
    }
}
