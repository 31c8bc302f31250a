//! How a rate grows from round trip to round trip.

use crate::fold::folded;

/// The rates of the round trips so far, bytes a second.
#[derive(Debug)]
pub(crate) struct Growth {
    /// Each was a quarter more than the one before, since the window began anew.
    by_leaps: bool,
    last: u64,
    best: u64,
}
folded! { Growth { by_leaps, last, best } }

impl Growth {
    pub(crate) fn new() -> Growth {
        Growth { by_leaps: true, last: 0, best: 0 }
    }

    /// The window shrank; after a timeout or an idle time it grows by leaps again.
    pub(crate) fn restart(&mut self, by_leaps: bool) {
        self.by_leaps = by_leaps;
        self.last = 0;
    }
    pub(crate) fn is_by_leaps(&self) -> bool {
        self.by_leaps
    }
    /// Whether a round trip at `rate` goes on as slow start does.
    pub(crate) fn goes_on(&self, rate: u64) -> bool {
        self.by_leaps && is_leap(self.last, rate)
    }
    /// Whether `rate` is a quarter more than any before: BBR's sign that the pipe is not full
    /// (`bbr_check_full_bw_reached`).
    pub(crate) fn rises(&self, rate: u64) -> bool {
        is_leap(self.best, rate)
    }
    /// A round trip at `rate` is over.
    pub(crate) fn add(&mut self, rate: u64) {
        self.by_leaps = self.goes_on(rate);
        self.best = self.best.max(rate);
        self.last = rate;
    }
}

fn is_leap(from: u64, to: u64) -> bool {
    to.saturating_mul(4) >= from.saturating_mul(5)
}
