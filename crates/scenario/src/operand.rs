//! Values in claims and comparisons.

use std::fmt;

use schemars::JsonSchema;
use serde::de::{Deserializer, Error, Visitor};
use serde::{Deserialize, Serialize};
use tcplab_units::{Bytes, Rate, Span, UnitError};
use toml::Spanned;

use crate::fault::Fault;
use crate::metrics::{MetricInfo, MetricKind};
use crate::problem::Problem;

/// A value of a metric: a number in its unit (1 and 0 for true and false), or a text.
#[derive(Debug, Clone, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// In the metric's unit.
    Number(f64),
    /// One of the metric's texts.
    Text(String),
}

/// Converts an operand to a value of the metric.
pub(crate) fn value(
    operand: &Spanned<Operand>,
    metric: &'static MetricInfo,
    check: &'static str,
) -> Result<Value, Fault> {
    let at = |problem| Fault::new(problem, operand.span());
    let bound = matches!(check, "at_least" | "at_most");
    let not_a_value = |wanted: String| {
        let found = operand.get_ref().to_string();
        at(Problem::NotAValue { found, metric: metric.name, wanted })
    };
    match (metric.kind, operand.get_ref()) {
        (MetricKind::Text(_), _) if bound => {
            Err(at(Problem::NotForTexts { check, metric: metric.name.into() }))
        }
        (MetricKind::Text(words), Operand::Text(text)) if words.contains(&text.as_str()) => {
            Ok(Value::Text(text.clone()))
        }
        (MetricKind::Text(words), _) => {
            let words: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
            Err(not_a_value(words.join(", ")))
        }
        (MetricKind::Truth, Operand::Truth(truth)) => {
            Ok(Value::Number(f64::from(u8::from(*truth))))
        }
        (MetricKind::Truth, Operand::Number(n)) if [0.0, 1.0].contains(n) => Ok(Value::Number(*n)),
        (MetricKind::Truth, _) => Err(not_a_value("true or false".into())),
        (MetricKind::Number, Operand::Truth(_)) => Err(not_a_value(number_of(metric))),
        (MetricKind::Number, Operand::Number(n)) => quantity(&n.to_string(), metric).map_err(at),
        (MetricKind::Number, Operand::Text(text)) => quantity(text, metric).map_err(at),
    }
}

/// Reads a number. It needs a unit if the metric has a time, rate or size.
fn quantity(text: &str, metric: &'static MetricInfo) -> Result<Value, Problem> {
    let read = match metric.unit {
        "s" => text.parse().map(Span::as_secs_f64),
        "ms" => text.parse().map(Span::as_millis_f64),
        "Mbit/s" => text.parse().map(Rate::as_mbit_f64),
        "bytes" => text.parse().map(|amount: Bytes| amount.as_u64() as f64),
        _ => {
            return match text.parse::<f64>() {
                Ok(n) if n.is_finite() && n >= 0.0 => Ok(Value::Number(n)),
                _ => Err(Problem::NotAValue {
                    found: text.into(),
                    metric: metric.name,
                    wanted: number_of(metric),
                }),
            };
        }
    };
    read.map(Value::Number).map_err(|error: UnitError| Problem::Quantity {
        message: error.to_string(),
        metric: metric.name,
    })
}

fn number_of(metric: &MetricInfo) -> String {
    match metric.unit {
        "s" | "ms" => "a time span such as \"200 ms\"".into(),
        "Mbit/s" => "a data rate such as \"4 Mbit/s\"".into(),
        "bytes" => "an amount of data such as \"450 kB\"".into(),
        "" => "a number, not negative".into(),
        unit => format!("a number of {unit} without the unit, not negative"),
    }
}

/// A value as the file writes it: a number, a text or quantity, or a truth.
#[derive(Debug)]
pub(crate) enum Operand {
    Number(f64),
    Text(String),
    Truth(bool),
}

impl fmt::Display for Operand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Operand::Number(n) => n.fmt(f),
            Operand::Text(text) => text.fmt(f),
            Operand::Truth(truth) => truth.fmt(f),
        }
    }
}

impl<'de> Deserialize<'de> for Operand {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Operand, D::Error> {
        struct Any;
        impl Visitor<'_> for Any {
            type Value = Operand;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number, a quantity such as \"1 s\", a text, true or false")
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Operand, E> {
                Ok(Operand::Text(text.into()))
            }
            fn visit_i64<E: Error>(self, number: i64) -> Result<Operand, E> {
                Ok(Operand::Number(number as f64))
            }
            fn visit_u64<E: Error>(self, number: u64) -> Result<Operand, E> {
                Ok(Operand::Number(number as f64))
            }
            fn visit_f64<E: Error>(self, number: f64) -> Result<Operand, E> {
                Ok(Operand::Number(number))
            }
            fn visit_bool<E: Error>(self, truth: bool) -> Result<Operand, E> {
                Ok(Operand::Truth(truth))
            }
        }
        deserializer.deserialize_any(Any)
    }
}

impl JsonSchema for Operand {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Operand".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": ["number", "string", "boolean"],
            "description": "A number, a quantity with its unit such as `\"1 s\"`, a text, or a truth."
        })
    }
}
