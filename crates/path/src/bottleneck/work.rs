//! How work is counted: exactly, in whole numbers.

use tcplab_units::Bytes;

/// A billion: the nanoseconds of a second, and the parts of a bit in which work is counted, so that
/// a rate in bits per second does a whole number of them in each nanosecond.
pub(crate) const BILLION: u128 = 1_000_000_000;

/// The work of sending so much, in billionths of a bit.
pub(crate) fn work(size: Bytes) -> u128 {
    size.bits() * BILLION
}
