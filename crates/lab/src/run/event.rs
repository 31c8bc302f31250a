//! What happens in a run.

use std::time::Duration;

use tcplab_testbed::Progress;

/// An event of a run, for its progress display.
#[derive(Debug, Clone, Copy)]
pub enum Event<'a> {
    /// The machine and the paths are being verified.
    Calibrating {
        /// The step, from 1.
        step: usize,
        /// The number of them.
        total: usize,
    },
    /// A trial starts; trials are counted over the whole plan.
    Started {
        /// Which trial, from 1.
        index: usize,
        /// The largest number of them.
        total: usize,
        /// The case's name.
        case: &'a str,
        /// Its trial's number.
        number: u32,
    },
    /// It continues.
    Progress(Progress),
    /// A trial runs that is not counted.
    WarmingUp {
        /// Which, from 1.
        index: usize,
        /// The number of them.
        total: usize,
    },
    /// It failed.
    Failed {
        /// Why.
        reason: &'a str,
        /// Whether it is run again; if not, it is missing.
        again: bool,
    },
    /// Its path misbehaved.
    Flawed {
        /// How, a sentence each.
        flaws: &'a [String],
        /// Whether it is run again; if not, it is used and flagged, or has failed.
        again: bool,
    },
    /// It is complete, analysed and stored.
    Stored {
        /// How long it took, with all attempts.
        took: Duration,
        /// What its kernels complain of in virtual time, a sentence each.
        complaints: &'a [String],
    },
    /// It was stored already.
    Skipped,
    /// All trials are complete; they are being analysed.
    Analysing {
        /// How many are done.
        done: usize,
        /// The number of them.
        total: usize,
    },
    /// The report is being written.
    Reporting,
}
