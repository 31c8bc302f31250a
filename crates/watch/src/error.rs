//! Why a trial cannot be watched.

/// Trials that are watched at a time.
pub(crate) const WATCHED: usize = 32;

/// Why a trial cannot be watched.
#[derive(Debug, thiserror::Error)]
pub enum WatchError {
    /// Too many are watched at a time.
    #[error("{WATCHED} trials are watched already: close a page")]
    TooMany,
    /// There is no capture.
    #[error("there are no packets: the trial did not keep them")]
    NoPackets,
}
