//! What is learnt while probes are sent.

use super::clock::Sample;
use crate::bulk::Direction;

/// What is learnt of a probe or of a load. Times are nanoseconds since the beginning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProbeEvent {
    /// A probe was answered.
    Answered(Sample),
    /// A probe that was sent at `at` was not.
    Lost {
        /// When it was sent.
        at: i64,
        /// On which way, if that is known by now.
        way: Option<Way>,
    },
    /// Of the lost probes that were sent in this time, it was not known on which way; now it is.
    Explained {
        /// When the first was sent.
        from: i64,
        /// When the last was sent.
        until: i64,
        /// How many were lost on their way to the server.
        there: u64,
        /// How many answers were lost.
        back: u64,
    },
    /// Loads began to carry data: the first of them.
    LoadBegan {
        /// When.
        at: i64,
    },
    /// No load carries data any more.
    LoadEnded {
        /// Since when.
        at: i64,
    },
    /// A load carried data.
    Carried {
        /// Since when.
        from: i64,
        /// Until when.
        until: i64,
        /// Which way.
        direction: Direction,
        /// How much.
        bytes: u64,
    },
}

/// Where a probe was lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// On its way to the server.
    There,
    /// As an answer.
    Back,
}
