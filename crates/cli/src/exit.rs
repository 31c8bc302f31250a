//! Exit codes.

/// A claim, a script or a check failed.
pub(crate) const FAILED: u8 = 1;
/// The command could not do what it was asked.
pub(crate) const ERROR: u8 = 2;

/// A signal stopped the command; Ctrl-C is 130, as in shells.
pub(crate) fn of_signal(signal: i32) -> u8 {
    128 + signal.unsigned_abs() as u8
}
