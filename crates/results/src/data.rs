//! The packets and samples of one trial, loaded for looking at.

use tcplab_path::PathSpec;
use tcplab_recording::{Queues, Sample};
use tcplab_trace::Trace;
use tcplab_units::{Instant, Span};

use crate::Correspondence;

/// A trial's recording, analysed. All times share one zero: the trial's.
#[derive(Debug, Clone, PartialEq)]
pub struct TrialData {
    /// As captured at the client.
    pub client: Trace,
    /// As captured at the server.
    pub server: Trace,
    /// `TCP_INFO` of both sockets in order of time.
    pub samples: Vec<Sample>,
    /// By when a call of the client and of the server had ended with ETIMEDOUT, on the connection
    /// that the trial is about.
    pub timed_out: [Option<Instant>; 2],
    /// When the machine of the client and of the server lost its power (`vanish`).
    pub vanished: [Option<Instant>; 2],
    /// When the path let nothing through.
    pub interruptions: Vec<(Instant, Instant)>,
    /// What was between the ends.
    pub path: PathSpec,
    /// How much waited on the path, and what it dropped.
    pub queues: Queues,
    /// What the ends said in datagrams, where they did so in place of a connection.
    pub correspondence: Option<Correspondence>,
    /// From zero to the end of the recording.
    pub duration: Span,
}
