//! A property of a connection in two captures.

use serde::Serialize;
use tcplab_scenario::Better;

/// A property of a connection, in both captures.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Fact {
    /// What it is about, such as `data to the server`.
    pub about: String,
    /// What it is.
    pub name: String,
    /// Of numbers: their unit.
    pub unit: &'static str,
    /// Which way is good, of numbers.
    pub better: Better,
    /// What A and B have; none where a capture does not show it.
    pub values: [Option<Value>; 2],
}

impl Fact {
    /// Whether A and B differ in it.
    pub fn differs(&self) -> bool {
        self.values[0] != self.values[1]
    }

    /// By what share of A's number B's is larger.
    pub fn change(&self) -> Option<f64> {
        match &self.values {
            [Some(Value::Number(a)), Some(Value::Number(b))] if *a != 0.0 => {
                Some((b - a) / a.abs())
            }
            _ => None,
        }
    }
}

/// What is known of a property.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Value {
    /// A number in the fact's unit.
    Number(f64),
    /// Words.
    Text(String),
}
