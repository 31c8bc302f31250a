//! What one end counted of its datagrams.

use serde::{Deserialize, Serialize};
use tcplab_units::{Instant, Span};

/// What one end counted of its datagrams.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DatagramReport {
    /// Datagrams that its socket took.
    pub sent: u64,
    /// Datagrams that it read.
    pub received: u64,
    /// Client: answers to requests that had one already. Server: requests that it had read
    /// already, retransmitted or copied.
    pub duplicates: u64,
    /// Client: answers to requests that it had given up.
    pub late: u64,
    /// Datagrams that were not what they should be.
    pub damaged: u64,
    /// The client's requests, in order.
    pub requests: Vec<RequestReport>,
}

impl DatagramReport {
    /// Repeated requests, each time counted.
    pub fn resent(&self) -> u64 {
        self.requests.iter().map(|request| request.tries.len().saturating_sub(1) as u64).sum()
    }

    /// Requests without an answer in time.
    pub fn unanswered(&self) -> u64 {
        self.requests.iter().filter(|request| request.answered.is_none()).count() as u64
    }
}

/// A request of the client, and its result.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestReport {
    /// When the call began that sent it first.
    #[serde(rename = "asked_ns")]
    pub asked: Instant,
    /// When the socket took it, try after try.
    #[serde(rename = "tries_ns")]
    pub tries: Vec<Instant>,
    /// When its answer was read, if one was in time.
    #[serde(rename = "answered_ns")]
    pub answered: Option<Instant>,
    /// Which try that answer belongs to, from 1.
    pub answer_to: Option<u32>,
    /// The error that ended it.
    pub error: Option<String>,
    /// Answers that were read after it was given up.
    pub late: u64,
    /// Answers that were read after the first.
    pub duplicates: u64,
}

impl RequestReport {
    /// From first sending it until its answer was read.
    pub fn response_time(&self) -> Option<Span> {
        Some(self.answered?.since(self.asked))
    }
}
