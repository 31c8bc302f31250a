//! What each end of a trial did, and how its connection ended.

use serde::{Deserialize, Serialize};
use tcplab_units::Endpoint;
use tcplab_workload::CallRow;

use crate::Metric;

/// What one end did, by its application and the capture beside it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EndRow {
    /// Which.
    pub end: Endpoint,
    /// The calls of its application in order, equal ones in a row together.
    pub calls: Vec<CallRow>,
    /// How long each of its requests took, milliseconds.
    pub response_times_ms: Vec<f64>,
    /// How often each of its requests was sent, where they are datagrams.
    pub request_tries: Vec<usize>,
    /// The states of its TCP in order (RFC 9293), as the capture beside it shows them.
    #[serde(default)]
    pub states: Vec<String>,
    /// Other metrics of this end; some have several values.
    pub metrics: Vec<Metric>,
}

/// How a connection ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ending {
    /// In the words of the metric `connection.end`.
    pub how: String,
    /// The end that sent the first FIN, or the RST.
    pub by: Option<Endpoint>,
}
