//! How far a comparison is.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Steps that are done, of all: two for each metric of each case, one to estimate and one to judge.
/// It is polled: a comparison need not report.
#[derive(Debug, Clone, Default)]
pub struct Progress {
    done: Arc<AtomicU64>,
    total: Arc<AtomicU64>,
}

impl Progress {
    /// Steps that are done, and how many there are; 0 of 0 before that is known.
    pub fn steps(&self) -> (u64, u64) {
        (self.done.load(Ordering::Relaxed), self.total.load(Ordering::Relaxed))
    }

    /// There are so many steps.
    pub fn begin(&self, total: usize) {
        self.total.store(total as u64, Ordering::Relaxed);
    }

    /// So many steps are done.
    pub fn advance(&self, steps: usize) {
        self.done.fetch_add(steps as u64, Ordering::Relaxed);
    }
}
