//! Why a trial on kernels in virtual time failed.

use tcplab_path::PathError;
use tcplab_recording::RecordingError;
use tcplab_units::{Bytes, Instant, Span};
use tcplab_workload::PayloadMismatch;

use crate::error::overdue;

/// Why such a trial failed.
#[derive(Debug, thiserror::Error)]
pub enum GuestTrialError<E> {
    /// The path cannot be built.
    #[error(transparent)]
    Path(PathError),
    /// The recording could not be written.
    #[error(transparent)]
    Recording(#[from] RecordingError),
    /// A guest cannot go on.
    #[error("the {endpoint}: {source}")]
    Guest {
        /// Which end.
        endpoint: &'static str,
        /// Why.
        source: E,
    },
    /// The application of a guest failed, or it could not be set up.
    #[error("the {endpoint}: {message}")]
    Failed {
        /// Which end.
        endpoint: &'static str,
        /// Why.
        message: String,
        /// What would help.
        remedy: Option<String>,
    },
    /// The transfer took longer than the scenario allows.
    #[error("{}", overdue(*limit, *received, *wanted))]
    Overdue {
        /// How long it may take.
        limit: Span,
        /// What has arrived, where a model receives: a kernel tells nothing before the end.
        received: Option<u64>,
        /// How much is sent in all; nothing where the workload has no such amount.
        wanted: Bytes,
    },
    /// The payload that arrived is not the one that was sent.
    #[error(transparent)]
    PayloadMismatch(#[from] PayloadMismatch),
    /// Nobody takes what a program prints.
    #[error("cannot write what the program prints: {0}")]
    Output(std::io::Error),
    /// Programs send without end at one instant.
    #[error(
        "time stands after {}: the programs send without end, and nothing on the path takes time",
        .at.since(Instant::ZERO)
    )]
    Stands {
        /// When.
        at: Instant,
    },
    /// Nothing can happen any more.
    #[error("the program waits for something that never comes")]
    Waits,
    /// The caller asked to stop.
    #[error("stopped on request")]
    Stopped,
}
