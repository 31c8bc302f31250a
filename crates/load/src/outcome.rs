//! The results of a load.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Serialize, Serializer};
use tcplab_units::Durations;

use crate::latency::Latencies;

/// The results of a load. Times in nanoseconds.
#[derive(Debug, Clone, Serialize)]
pub struct Outcome {
    /// How long was counted, without the warm-up.
    #[serde(serialize_with = "seconds", rename = "elapsed_seconds")]
    pub elapsed: Duration,
    /// Good answers: all that came in this time, or those to the number of requests.
    pub requests: u64,
    /// Of these, a second.
    pub requests_per_second: f64,
    /// Bytes received in this time, heads and all.
    pub bytes: u64,
    /// Bits a second of these.
    pub bits_per_second: f64,
    /// Connections that were used, without those of the warm-up alone.
    pub connections: u64,
    /// The time to connect.
    pub connect: Durations,
    /// From when a request was due (open loop), or begun, until the first byte of its answer. To
    /// make a connection for it, where that is needed, is part of it. Of the good answers to
    /// requests that were due after the warm-up, whenever they came.
    pub latency: Durations,
    /// The same until the last byte.
    pub response: Durations,
    /// Open loop: how late requests were sent because the generator was slow.
    pub late: Durations,
    /// Open loop: requests that were due and were never sent, as all connections were busy.
    pub unsent: u64,
    /// Answers that had begun, and were still arriving a second after the end.
    pub unfinished: u64,
    /// Requests that were not answered as they should be, by kind.
    pub errors: BTreeMap<String, u64>,
    /// What the bodies were.
    pub body: Option<BodySeen>,
    /// Processor time of the generator.
    #[serde(serialize_with = "seconds", rename = "processor_seconds")]
    pub processor: Duration,
    /// Threads of the generator.
    pub threads: usize,
    /// Whether it was interrupted.
    pub was_stopped: bool,
    /// What makes the figures doubtful.
    pub warnings: Vec<String>,
}

impl Outcome {
    /// Requests that were not answered as they should be.
    pub fn failed(&self) -> u64 {
        self.errors.values().sum()
    }

    /// Whether a request was answered as it should be, be it after the end.
    pub fn has_answers(&self) -> bool {
        self.requests > 0 || self.response.count > 0
    }
}

/// What bodies were compared with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BodySeen {
    /// Bytes.
    pub length: u64,
    /// BLAKE3.
    pub digest: String,
}

/// How far a load is.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Progress {
    /// Since the beginning, with the warm-up.
    pub elapsed: Duration,
    /// For how long requests have been sent: less than `elapsed` where the rest waits for answers.
    pub sending: Duration,
    /// Requests that wait for their answers.
    pub waiting: u64,
    /// Whether it is still warming up.
    pub is_warming_up: bool,
    /// Good answers so far, also of the warm-up.
    pub requests: u64,
    /// Others.
    pub errors: u64,
    /// Bytes received.
    pub bytes: u64,
    /// Connections that stand.
    pub connected: u64,
    /// Of the good answers, without those of the warm-up.
    pub latencies: Latencies,
}

impl Progress {
    /// Whether nothing is sent any more.
    pub fn has_sent_all(&self) -> bool {
        self.sending < self.elapsed
    }
}

pub(crate) fn seconds<S: Serializer>(span: &Duration, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_f64(span.as_secs_f64())
}
