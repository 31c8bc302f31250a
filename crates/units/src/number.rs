//! Quantities as plain numbers, for results: `#[serde(with = "tcplab_units::number")]`.
//!
//! Scenario files have `"200 ms"`; results have numbers, and the key names the unit:
//! nanoseconds (`_ns`), bytes (`_bytes`), bits per second (`_bits_per_second`).

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{Bytes, Rate, Span};

/// What has a form as a plain number.
pub trait Number: Sized {
    /// That form.
    type Plain: Serialize + for<'de> Deserialize<'de>;
    /// In it.
    fn plain(&self) -> Self::Plain;
    /// From it.
    fn from_plain(plain: Self::Plain) -> Self;
}

/// Writes it.
///
/// # Errors
/// The serializer's.
pub fn serialize<T: Number, S: Serializer>(value: &T, to: S) -> Result<S::Ok, S::Error> {
    value.plain().serialize(to)
}

/// Reads it.
///
/// # Errors
/// The deserializer's.
pub fn deserialize<'de, T: Number, D: Deserializer<'de>>(from: D) -> Result<T, D::Error> {
    T::Plain::deserialize(from).map(T::from_plain)
}

macro_rules! whole {
    ($($type:ident, $plain:expr, $from_plain:expr;)*) => {
        $(impl Number for $type {
            type Plain = u64;
            fn plain(&self) -> u64 {
                $plain(*self)
            }
            fn from_plain(plain: u64) -> $type {
                $from_plain(plain)
            }
        })*
    };
}

whole! {
    Span, Span::as_nanos, Span::from_nanos;
    Bytes, Bytes::as_u64, Bytes::new;
    Rate, Rate::bits_per_second, Rate::from_bits_per_second;
}

impl<T: Number> Number for Option<T> {
    type Plain = Option<T::Plain>;
    fn plain(&self) -> Self::Plain {
        self.as_ref().map(T::plain)
    }
    fn from_plain(plain: Self::Plain) -> Self {
        plain.map(T::from_plain)
    }
}

impl<T: Number> Number for Vec<T> {
    type Plain = Vec<T::Plain>;
    fn plain(&self) -> Self::Plain {
        self.iter().map(T::plain).collect()
    }
    fn from_plain(plain: Self::Plain) -> Self {
        plain.into_iter().map(T::from_plain).collect()
    }
}

impl<A: Number, B: Number> Number for (A, B) {
    type Plain = (A::Plain, B::Plain);
    fn plain(&self) -> Self::Plain {
        (self.0.plain(), self.1.plain())
    }
    fn from_plain((a, b): Self::Plain) -> Self {
        (A::from_plain(a), B::from_plain(b))
    }
}

impl<T: Number> Number for BTreeMap<String, T> {
    type Plain = BTreeMap<String, T::Plain>;
    fn plain(&self) -> Self::Plain {
        self.iter().map(|(key, value)| (key.clone(), value.plain())).collect()
    }
    fn from_plain(plain: Self::Plain) -> Self {
        plain.into_iter().map(|(key, value)| (key, T::from_plain(value))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Measured {
        #[serde(with = "super")]
        time_ns: Span,
        #[serde(with = "super")]
        size_bytes: Option<Bytes>,
        #[serde(with = "super")]
        rate_bits_per_second: Option<Rate>,
    }

    #[test]
    fn quantities_serialise_as_plain_numbers() {
        let measured = Measured {
            time_ns: Span::from_millis(200),
            size_bytes: None,
            rate_bits_per_second: Some(Rate::from_bits_per_second(24)),
        };
        let text = serde_json::to_string(&measured).unwrap();
        let expected = r#"{"time_ns":200000000,"size_bytes":null,"rate_bits_per_second":24}"#;
        assert_eq!(text, expected);
        assert_eq!(serde_json::from_str::<Measured>(&text).unwrap(), measured);
    }
}
