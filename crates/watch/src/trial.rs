//! A trial that is watched.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use crate::history::History;

/// A trial that is read as it grows.
#[derive(Debug)]
pub struct WatchedTrial {
    pub(crate) history: Mutex<History>,
    pub(crate) stop: Arc<AtomicBool>,
}

impl Drop for WatchedTrial {
    /// Nobody watches it any more.
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

impl WatchedTrial {
    /// What happened so far.
    pub fn history(&self) -> MutexGuard<'_, History> {
        self.history.lock().expect("no thread panics while it holds a history")
    }
}
