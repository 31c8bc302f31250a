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
    /// A hundred times as much is not a change by 9,900 per cent: both numbers say more.
    const FARTHEST: f64 = 99.0;

    /// Whether A and B differ in it.
    pub fn differs(&self) -> bool {
        self.values[0] != self.values[1]
    }

    /// By what share of A's number B's is larger; none from [`Fact::FARTHEST`] on, where A's is
    /// next to nothing.
    pub fn change(&self) -> Option<f64> {
        match &self.values {
            [Some(Value::Number(a)), Some(Value::Number(b))] if *a != 0.0 => {
                Some((b - a) / a.abs()).filter(|change| change.abs() < Fact::FARTHEST)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn change_of_next_to_nothing_is_no_percentage() {
        for (a, b, change) in [
            (0.5, 1.0, Some(1.0)),
            (2.0, 1.0, Some(-0.5)),
            (1.0, 90.0, Some(89.0)),
            // 1.29 Gbit/s against 10.9 kbit/s; 500 ns against 60 ms.
            (0.0109, 1_290.0, None),
            (500e-9, 60e-3, None),
            (0.0, 7.0, None),
        ] {
            let values = [a, b].map(|number| Some(Value::Number(number)));
            let (about, name) = ("data to the server".to_owned(), "goodput".to_owned());
            let fact = Fact { about, name, unit: "Mbit/s", better: Better::Higher, values };
            assert_eq!(fact.change(), change, "{a} and {b}");
        }
    }
}
