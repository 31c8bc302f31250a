//! The flows of a trial.

use serde::{Deserialize, Serialize};
use tcplab_scenario::{MetricInfo, metrics};

use crate::Metric;

/// One of several flows of a trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FlowRow {
    /// Its name in the scenario.
    pub name: String,
    /// Whether the trial did not wait for its end.
    pub background: bool,
    /// Its connections in the order in which they began.
    pub connections: Vec<FlowConnectionRow>,
    /// What arrived of it, over time.
    pub series: FlowSeries,
}

/// One connection of a flow.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FlowConnectionRow {
    /// The client's port and the server's.
    #[serde(with = "tcplab_units::ends")]
    pub ports: [u16; 2],
    /// When its client connected, seconds since the trial's zero.
    #[serde(rename = "start_seconds")]
    pub start_s: f64,
    /// Payload that its receiver read, bytes.
    pub bytes: u64,
    /// The metrics of a trial that belong to one connection.
    pub metrics: Vec<Metric>,
    /// How long each of its requests took, milliseconds.
    pub response_times_ms: Vec<f64>,
}

/// Payload that arrived at the receivers of a flow, each byte once, in equal intervals from the
/// trial's zero on.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct FlowSeries {
    /// How long each is, seconds.
    #[serde(rename = "interval_seconds")]
    pub interval_s: f64,
    /// Bytes in each.
    pub bytes: Vec<u64>,
}

impl FlowRow {
    /// The values of a metric: one for each connection that has it, or one for each request.
    pub fn values(&self, info: &MetricInfo) -> Vec<f64> {
        let of = |row: &FlowConnectionRow| -> Vec<f64> {
            if *info == *metrics::RESPONSE_TIME {
                return row.response_times_ms.clone();
            }
            let own = row.metrics.iter().filter(|metric| metric.name == info.name);
            own.map(|metric| metric.value).collect()
        };
        self.connections.iter().flat_map(of).collect()
    }

    /// The sum of a metric over its connections; none where none of them has it.
    pub fn sum(&self, info: &MetricInfo) -> Option<f64> {
        let values = self.values(info);
        (!values.is_empty()).then(|| values.iter().sum())
    }

    /// The median of a metric's values.
    pub fn median(&self, info: &MetricInfo) -> Option<f64> {
        tcplab_stats::median(&self.values(info))
    }

    /// Payload that its receivers read.
    pub fn bytes(&self) -> u64 {
        self.connections.iter().map(|row| row.bytes).sum()
    }
}
