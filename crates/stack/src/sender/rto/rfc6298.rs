//! RFC 6298's timeout, and the stacks that bound it differently.

use tcplab_units::Span;

use super::policy::{Estimate, RtoPolicy};

/// `max(least, SRTT + 4·RTTVAR)`; µs.
#[derive(Debug)]
pub(super) struct Rfc6298 {
    pub(super) least: i64,
}

impl RtoPolicy for Rfc6298 {
    fn timeout(&self, estimate: &Estimate) -> i64 {
        self.least.max((estimate.srtt8 >> 3) + estimate.deviation4)
    }
}

/// `slop + max(30 ms, SRTT + 4·RTTVAR)` (xnu: `TCP_REXMTVAL`); µs.
#[derive(Debug)]
pub(super) struct Xnu {
    pub(super) slop: i64,
}

impl RtoPolicy for Xnu {
    fn timeout(&self, estimate: &Estimate) -> i64 {
        self.slop + ((estimate.srtt8 >> 3) + estimate.deviation4).max(30_000)
    }
}

/// `max(least, SRTT + 2·RTTVAR)`, and 2 s without timestamps (Haiku before August 2017); µs.
#[derive(Debug)]
pub(super) struct OldHaiku {
    pub(super) least: i64,
}

impl RtoPolicy for OldHaiku {
    fn timeout(&self, estimate: &Estimate) -> i64 {
        self.least.max((estimate.srtt8 >> 3) + (estimate.deviation4 >> 1))
    }

    fn without_timestamps(&self) -> Option<Span> {
        Some(Span::from_secs(2))
    }
}

/// `SRTT + max(100 ms, 4·RTTVAR)` (Haiku after August 2017).
#[derive(Debug)]
pub(super) struct Haiku;

impl RtoPolicy for Haiku {
    fn timeout(&self, estimate: &Estimate) -> i64 {
        (estimate.srtt8 >> 3) + estimate.deviation4.max(100_000)
    }
}
