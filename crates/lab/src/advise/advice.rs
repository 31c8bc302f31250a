//! Something to do, and why.

use serde::Serialize;
use tcplab_scenario::{Better, MetricInfo};

/// Something to do, and why.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Advice {
    /// A word for it, such as `congestion-control`.
    pub id: &'static str,
    /// What to do, in a sentence.
    pub what: String,
    /// How: lines to type or to write.
    pub how: Vec<String>,
    /// Why, in a sentence or two.
    pub why: String,
    /// The formula, the measurement or the document that this rests on.
    pub basis: &'static str,
    /// What it should change, where a formula says.
    pub expected: Option<Expected>,
    /// What it sets in a scenario: key and value. Nothing where there is nothing to try.
    pub changes: Vec<Change>,
    /// What it takes away, or how trials begin without it: keys and values.
    #[serde(skip)]
    pub replaces: Vec<Change>,
}

/// A key of a scenario and what it is set to.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Change {
    /// Such as `client.socket.congestion`.
    pub key: String,
    /// As the scenario file takes it.
    pub value: serde_json::Value,
}

impl Change {
    pub(super) fn new(key: &str, value: impl Into<serde_json::Value>) -> Change {
        Change { key: key.into(), value: value.into() }
    }
}

/// What a formula expects of a change.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Expected {
    /// The metric, such as `goodput`.
    pub metric: &'static str,
    /// Its unit.
    pub unit: &'static str,
    /// Whether small values are good.
    #[serde(skip)]
    lower_is_better: bool,
    /// Before.
    pub before: f64,
    /// After.
    pub after: f64,
}

impl Expected {
    pub(super) fn of(info: &'static MetricInfo, before: f64, after: f64) -> Expected {
        let lower_is_better = info.better == Better::Lower;
        Expected { metric: info.name, unit: info.unit, lower_is_better, before, after }
    }

    /// How many times as good it becomes: above 1 is better.
    pub fn factor(&self) -> f64 {
        if self.lower_is_better { self.before / self.after } else { self.after / self.before }
    }
}
