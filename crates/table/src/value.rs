//! What a cell holds.

use std::borrow::Cow;

use serde::{Serialize, Serializer};

/// What a cell holds.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// Nothing: null in JSON, an empty cell in CSV.
    Empty,
    /// Yes or no.
    Flag(bool),
    /// A whole number. It is signed, so that differences of columns do not wrap.
    Whole(i64),
    /// A whole number that takes all of 64 bits, such as a seed.
    Wide(u64),
    /// A floating point number. What is not finite is written as empty.
    Number(f64),
    /// Words.
    Text(Cow<'static, str>),
    /// Whole numbers, such as frames.
    Wholes(Vec<i64>),
}

impl Value {
    /// Whether it is nothing, zero, no, or an empty list.
    pub(crate) fn is_nothing(&self) -> bool {
        match self {
            Value::Empty | Value::Flag(false) | Value::Whole(0) | Value::Wide(0) => true,
            Value::Text(text) => text.is_empty(),
            Value::Wholes(list) => list.is_empty(),
            Value::Flag(_) | Value::Whole(_) | Value::Wide(_) | Value::Number(_) => false,
        }
    }
}

/// What the cells of a column hold, if they are not empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Yes or no.
    Flag,
    /// Whole numbers, signed, of 64 bits.
    Whole,
    /// Whole numbers, unsigned, of 64 bits.
    Wide,
    /// Floating point numbers of 64 bits.
    Number,
    /// Words.
    Text,
    /// Lists of whole numbers.
    Wholes,
}

impl Kind {
    /// In words: `integer`.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Flag => "boolean",
            Kind::Whole | Kind::Wide => "integer",
            Kind::Number => "number",
            Kind::Text => "text",
            Kind::Wholes => "list of integers",
        }
    }
}

/// A number that does not fit is the largest that does: 292 years in nanoseconds.
pub(crate) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

impl From<u64> for Value {
    fn from(number: u64) -> Value {
        Value::Whole(signed(number))
    }
}

impl From<f64> for Value {
    fn from(number: f64) -> Value {
        if number.is_finite() { Value::Number(number) } else { Value::Empty }
    }
}

impl From<bool> for Value {
    fn from(flag: bool) -> Value {
        Value::Flag(flag)
    }
}

impl From<&'static str> for Value {
    fn from(word: &'static str) -> Value {
        Value::Text(word.into())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Value {
        Value::Text(text.into())
    }
}

impl From<Cow<'static, str>> for Value {
    fn from(text: Cow<'static, str>) -> Value {
        Value::Text(text)
    }
}

impl From<Vec<u64>> for Value {
    fn from(numbers: Vec<u64>) -> Value {
        Value::Wholes(numbers.into_iter().map(signed).collect())
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Value {
        value.map_or(Value::Empty, Into::into)
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Value::Flag(flag) => to.serialize_bool(*flag),
            Value::Whole(number) => to.serialize_i64(*number),
            Value::Wide(number) => to.serialize_u64(*number),
            Value::Number(number) if number.is_finite() => to.serialize_f64(*number),
            // JSON has no infinity and no NaN (RFC 8259 section 6).
            Value::Empty | Value::Number(_) => to.serialize_none(),
            Value::Text(text) => to.serialize_str(text),
            Value::Wholes(numbers) => to.collect_seq(numbers),
        }
    }
}
