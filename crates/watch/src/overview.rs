//! What a small display shows of a trial: the latest steps of its time, and what was dropped.

use std::collections::BTreeMap;

use tcplab_units::{Instant, Span};

/// The latest steps of a trial.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Overview {
    /// The end of the last step.
    pub at: Instant,
    /// One after the other, the oldest first.
    pub steps: Vec<Step>,
    /// How many of them are over: to the others more bytes may come.
    pub over: usize,
    /// Packets that the path dropped in the whole trial, by the name of the cause.
    pub drops: BTreeMap<&'static str, u64>,
    /// Retransmissions in the whole trial.
    pub retransmissions: u64,
    /// Whether the path's log was read: where it was not, `drops` and queues are not known.
    pub knows_path: bool,
    /// Whether the trial has ended and all of it was read.
    pub is_over: bool,
}

/// A step of time. What only a sample knows stays as it was until there is another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Step {
    /// IP bytes that the path delivered, from the client and to it; of a trial without a path, new
    /// data.
    pub bytes: [u64; 2],
    /// Packets that it dropped.
    pub dropped: u64,
    /// The longest time in a queue.
    pub queue: Span,
    /// Of the end that sends more: its smoothed RTT.
    pub rtt: Option<Span>,
    /// Its congestion window, bytes.
    pub cwnd: Option<u64>,
    /// Its slow start threshold, bytes.
    pub ssthresh: Option<u64>,
    /// What it has in flight, bytes.
    pub in_flight: Option<u64>,
}
