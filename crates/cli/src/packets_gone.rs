//! Recordings that have no packets any more.

use std::path::Path;

use anyhow::Error;
use tcplab_lab::{LabError, packets_again};
use tcplab_recording::RecordingError;

/// The trial without packets that an error is about, if it is about one.
pub(crate) fn lacking(error: &Error) -> Option<&Path> {
    let of_lab = error.downcast_ref::<LabError>().and_then(|error| match error {
        LabError::Recording(error) => Some(error),
        _ => None,
    });
    match of_lab.or_else(|| error.downcast_ref::<RecordingError>())? {
        RecordingError::NoPackets { path } => Some(path),
        _ => None,
    }
}

/// What to do about an error that is about a trial without packets.
pub(crate) fn remedy(error: &Error) -> Option<String> {
    packets_again(lacking(error)?)
}
