//! When a packet was captured.

use tcplab_units::Span;

/// A time in nanoseconds since 1970-01-01 UTC, up to the year 2554.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct UnixTime(u64);

impl UnixTime {
    /// `n` nanoseconds after the beginning of 1970.
    pub const fn from_nanos(n: u64) -> UnixTime {
        UnixTime(n)
    }
    /// Nanoseconds since the beginning of 1970.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }
    /// How long after `earlier` this is; zero when it is not after.
    pub const fn since(self, earlier: UnixTime) -> Span {
        Span::from_nanos(self.0.saturating_sub(earlier.0))
    }
}
