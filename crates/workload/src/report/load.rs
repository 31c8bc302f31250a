//! The results of a load.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tcplab_units::{Durations, Span};

/// The results of a load.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct LoadReport {
    /// Why the server could not be run here at all; nothing of what follows was then measured.
    pub impossible: Option<String>,
    /// How long was counted.
    #[serde(rename = "elapsed_ns", with = "tcplab_units::number")]
    pub elapsed: Span,
    /// Requests that were answered as they should be.
    pub requests: u64,
    /// Of these, a second.
    pub requests_per_second: f64,
    /// Bytes that the clients received, heads of answers and all.
    pub bytes: u64,
    /// Bits of these a second.
    pub bits_per_second: f64,
    /// Connections that were made.
    pub connections: u64,
    /// From the beginning of a connection until it stands.
    pub connect: Durations,
    /// From the beginning of a request, its connection included, or from when it was due, until the
    /// first byte of its answer.
    pub latency: Durations,
    /// The same until the last byte.
    pub response: Durations,
    /// Of an open loop: requests that were due and never sent, as all connections were busy.
    pub unsent: u64,
    /// Requests that were not answered as they should be, by kind.
    pub errors: BTreeMap<String, u64>,
    /// Whether all that was answered was the file, to the byte.
    pub is_intact: bool,
    /// Processor time of the clients, s.
    #[serde(rename = "processor_seconds")]
    pub processor_s: f64,
    /// What makes these figures doubtful.
    pub remarks: Vec<String>,
    /// What the server says.
    pub server: ServerReport,
}

impl LoadReport {
    /// Requests that were not answered as they should be.
    pub fn failed(&self) -> u64 {
        self.errors.values().sum()
    }
}

/// What a server says of its work, the warm-up included.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct ServerReport {
    /// Connections that it accepted.
    pub accepted: u64,
    /// Requests that it answered.
    pub requests: u64,
    /// Bytes that it sent.
    pub sent: u64,
    /// Processor time of all its processes from when it listened until its end, s.
    #[serde(rename = "processor_seconds")]
    pub processor_s: f64,
}
