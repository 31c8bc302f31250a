//! Texts that may be numbers, as numbers: `#[serde(with = "tcplab_units::text")]`.
//!
//! Values of socket options and sysctls are kept as the texts that people read: `16384 B`, `1`,
//! `cubic`. In results a number is a number: `1`; one with a unit is an object whose key is the
//! unit: `{"bytes": 16384}`; words stay words. Where the text cannot be made from the number again
//! it stands beside it: `{"ns": 200000000, "text": "200 ms"}`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::number::Number;
pub use crate::number::{deserialize, serialize};
use crate::{Bytes, Rate, Span};

/// A number, and its unit as keys have it; empty without one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measured {
    /// The number, in the unit.
    pub number: Plain,
    /// `ns`, `bytes`, `bits_per_second`, `ratio`, `packets`, or nothing.
    pub unit: &'static str,
}

/// A whole number, or one with a fraction.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Plain {
    /// A whole number.
    Whole(i64),
    /// One with a fraction.
    Fraction(f64),
}

/// The number that a text says; none if it says words. `0.5 %` is the ratio 0.005.
pub fn measured(text: &str) -> Option<Measured> {
    let whole = |number: u64, unit| {
        let number = Plain::Whole(i64::try_from(number).ok()?);
        Some(Measured { number, unit })
    };
    let fraction = |number: f64, unit| {
        number.is_finite().then_some(Measured { number: Plain::Fraction(number), unit })
    };
    if let Ok(number) = text.parse::<i64>() {
        return Some(Measured { number: Plain::Whole(number), unit: "" });
    }
    if let Ok(number) = text.parse::<f64>() {
        return fraction(number, "");
    }
    let before = |unit: &str| text.strip_suffix(unit).map(str::trim_end);
    if let Some(percent) = before("%").and_then(|number| number.parse::<f64>().ok()) {
        return fraction(percent / 100.0, "ratio");
    }
    if let Some(packets) = before("packets").or(before("packet")).and_then(|it| it.parse().ok()) {
        return whole(packets, "packets");
    }
    if let Ok(span) = text.parse::<Span>() {
        return whole(span.as_nanos(), "ns");
    }
    if let Ok(bytes) = text.parse::<Bytes>() {
        return whole(bytes.as_u64(), "bytes");
    }
    text.parse::<Rate>().ok().and_then(|rate| whole(rate.bits_per_second(), "bits_per_second"))
}

/// A text as it is written down.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
pub enum Written {
    /// A number without a unit.
    Number(i64),
    /// Words.
    Words(String),
    /// Numbers with a unit, and perhaps the text.
    Amount(BTreeMap<String, Entry>),
}

/// A part of an amount.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
pub enum Entry {
    /// The number.
    Number(Plain),
    /// The text.
    Text(String),
}

impl From<&String> for Written {
    fn from(text: &String) -> Written {
        match measured(text) {
            Some(Measured { number: Plain::Whole(number), unit: "" })
                if number.to_string() == *text =>
            {
                Written::Number(number)
            }
            None | Some(Measured { unit: "", .. }) => Written::Words(text.clone()),
            Some(Measured { number, unit }) => {
                let mut amount = BTreeMap::from([(unit.to_owned(), Entry::Number(number))]);
                if in_bytes(unit, number).as_ref() != Some(text) {
                    amount.insert("text".into(), Entry::Text(text.clone()));
                }
                Written::Amount(amount)
            }
        }
    }
}

/// The text of an amount that has none beside it.
fn in_bytes(unit: &str, number: Plain) -> Option<String> {
    match (unit, number) {
        ("bytes", Plain::Whole(bytes)) => Some(format!("{bytes} B")),
        _ => None,
    }
}

impl From<Written> for String {
    fn from(written: Written) -> String {
        match written {
            Written::Number(number) => number.to_string(),
            Written::Words(words) => words,
            Written::Amount(amount) => {
                let text = amount.get("text").map(|entry| match entry {
                    Entry::Text(text) => text.clone(),
                    Entry::Number(_) => String::new(),
                });
                let number = amount.iter().find_map(|(unit, entry)| match entry {
                    Entry::Number(number) => in_bytes(unit, *number),
                    Entry::Text(_) => None,
                });
                text.or(number).unwrap_or_default()
            }
        }
    }
}

impl Number for String {
    type Plain = Written;
    fn plain(&self) -> Written {
        Written::from(self)
    }
    fn from_plain(plain: Written) -> String {
        plain.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_texts_round_trip() {
        let table = [
            ("1", "1"),
            ("16384 B", r#"{"bytes":16384}"#),
            ("262.144 kB", r#"{"bytes":262144,"text":"262.144 kB"}"#),
            ("200 ms", r#"{"ns":200000000,"text":"200 ms"}"#),
            ("0.5 %", r#"{"ratio":0.005,"text":"0.5 %"}"#),
            ("cubic", r#""cubic""#),
            ("007", r#""007""#),
            ("4096 131072 6291456", r#""4096 131072 6291456""#),
        ];
        for (text, expected) in table {
            let written = serde_json::to_string(&text.to_owned().plain()).unwrap();
            assert_eq!(written, expected);
            let read: Written = serde_json::from_str(&written).unwrap();
            assert_eq!(String::from_plain(read), text);
        }
    }
}
