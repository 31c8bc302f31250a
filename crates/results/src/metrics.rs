//! The metrics of a trial, in little room: what thousands of trials have in common is there once.

use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use tcplab_scenario::MetricInfo;

/// A measured value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Metric {
    /// Such as `goodput`.
    pub name: String,
    /// Such as `Mbit/s`; empty for a count.
    pub unit: String,
    /// In that unit.
    pub value: f64,
}

/// Name and unit of each metric of a trial, in their order.
type Names = Arc<[(Box<str>, Box<str>)]>;

/// The lists of names that the trials of a run have, each once.
#[derive(Debug, Default)]
pub struct MetricNames(Vec<Names>);

#[cfg(test)]
impl MetricNames {
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}

/// The metrics of a trial: one value each. Names and units are shared by trials that have the same,
/// so that a value takes eight bytes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Metrics {
    names: Names,
    values: Box<[f64]>,
}

/// One of them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct MetricValue<'a> {
    /// Such as `goodput`.
    pub name: &'a str,
    /// Such as `Mbit/s`; empty for a count.
    pub unit: &'a str,
    /// In that unit.
    pub value: f64,
}

impl Metric {
    /// A value of this metric.
    pub fn of(info: &MetricInfo, value: f64) -> Metric {
        Metric { name: info.name.into(), unit: info.unit.into(), value }
    }
}

impl Metrics {
    /// Those of the trial, in their order.
    pub fn iter(&self) -> impl Iterator<Item = MetricValue<'_>> {
        let all = self.names.iter().zip(&self.values);
        all.map(|((name, unit), value)| MetricValue { name, unit, value: *value })
    }

    /// The metric, if the trial has it.
    pub fn find(&self, info: &MetricInfo) -> Option<MetricValue<'_>> {
        self.find_named(info.name)
    }

    /// The value of a metric, if the trial has it.
    pub fn value(&self, info: &MetricInfo) -> Option<f64> {
        self.find(info).map(|it| it.value)
    }

    /// The metric whose name a file or a user gives, if the trial has it.
    pub fn find_named(&self, name: &str) -> Option<MetricValue<'_>> {
        self.iter().find(|it| it.name == name)
    }

    /// Its value.
    pub fn value_named(&self, name: &str) -> Option<f64> {
        self.find_named(name).map(|it| it.value)
    }

    /// Replaces the value of a metric that the trial has.
    pub fn set(&mut self, info: &MetricInfo, value: f64) {
        if let Some(place) = self.names.iter().position(|(own, _)| **own == *info.name) {
            self.values[place] = value;
        }
    }

    /// Whether the trial has none.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Takes names and units that are the same from one of the lists that are `known`, and adds
    /// those that are new.
    pub(crate) fn share(&mut self, known: &mut MetricNames) {
        match known.0.iter().find(|names| **names == self.names) {
            Some(names) => self.names = Arc::clone(names),
            None => known.0.push(Arc::clone(&self.names)),
        }
    }
}

impl FromIterator<Metric> for Metrics {
    fn from_iter<T: IntoIterator<Item = Metric>>(metrics: T) -> Metrics {
        let of = |Metric { name, unit, value }: Metric| ((name.into(), unit.into()), value);
        let (names, values): (Vec<_>, Vec<_>) = metrics.into_iter().map(of).unzip();
        Metrics { names: names.into(), values: values.into() }
    }
}

impl From<Vec<Metric>> for Metrics {
    fn from(metrics: Vec<Metric>) -> Metrics {
        metrics.into_iter().collect()
    }
}

/// As a list of [`Metric`].
impl Serialize for Metrics {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

impl<'de> Deserialize<'de> for Metrics {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Metrics, D::Error> {
        Vec::<Metric>::deserialize(deserializer).map(Metrics::from)
    }
}

#[cfg(test)]
mod tests {
    use tcplab_units::Rng;

    use super::*;

    /// What compares runs reads them from `run.json`.
    #[test]
    fn values_are_read_as_they_were_written() {
        let mut random = Rng::new(1, "values");
        for _ in 0..100_000 {
            let value = random.open_unit() * 10_f64.powi(random.below(12) as i32 - 3);
            let written = Metric { name: "goodput".into(), unit: "Mbit/s".into(), value };
            let json = serde_json::to_string(&written).unwrap();
            let read: Metric = serde_json::from_str(&json).unwrap();
            assert_eq!(read.value.to_bits(), value.to_bits(), "{json}");
        }
    }
}
