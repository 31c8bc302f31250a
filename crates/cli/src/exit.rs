//! Exit codes.

/// A claim, a script or a check failed.
pub(crate) const FAILED: u8 = 1;
/// The command could not do what it was asked.
pub(crate) const ERROR: u8 = 2;
