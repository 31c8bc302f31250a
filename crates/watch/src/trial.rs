//! A trial that is watched, and where it is.

use std::fs::{self, Metadata};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
#[cfg(not(unix))]
use std::time::SystemTime;

use crate::history::History;

/// A history that readers add to, and pages ask.
#[derive(Debug, Clone)]
pub(crate) struct SharedHistory(Arc<Mutex<History>>);

impl SharedHistory {
    pub(crate) fn new(history: History) -> SharedHistory {
        SharedHistory(Arc::new(Mutex::new(history)))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, History> {
        self.0.lock().expect("no thread panics while it holds a history")
    }
}

/// A trial that is read as it grows.
#[derive(Debug)]
pub struct WatchedTrial {
    history: SharedHistory,
    stop: Arc<AtomicBool>,
}

impl Drop for WatchedTrial {
    /// Nobody watches it any more.
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// Where the recording of a trial is made, and where it will be.
#[derive(Debug, Clone)]
pub struct Places {
    /// The run.
    pub run: PathBuf,
    /// The case's name.
    pub case: String,
    /// The number of the trial in its case.
    pub number: u32,
}

impl Places {
    /// Where it is now.
    pub fn now(&self) -> Option<PathBuf> {
        tcplab_lab::place_of_trial(&self.run, &self.case, self.number)
    }
    /// Which recording it is: another one where the trial is run again.
    pub fn identity(&self) -> Option<u64> {
        self.now().and_then(|place| fs::metadata(place).ok()).map(|about| identity(&about))
    }
    /// Whether nothing is added to it any more.
    pub fn is_done(&self) -> bool {
        self.now().is_none_or(|place| place.join("DONE").exists())
    }
}

#[cfg(unix)]
fn identity(about: &Metadata) -> u64 {
    use std::os::unix::fs::MetadataExt;
    about.ino()
}

/// Without numbers of files: when it was made.
#[cfg(not(unix))]
fn identity(about: &Metadata) -> u64 {
    let made = about.created().ok().and_then(|it| it.duration_since(SystemTime::UNIX_EPOCH).ok());
    made.map_or(0, |since| since.as_nanos() as u64)
}

impl WatchedTrial {
    pub(crate) fn new(history: SharedHistory, stop: Arc<AtomicBool>) -> WatchedTrial {
        WatchedTrial { history, stop }
    }

    /// What happened so far.
    pub fn history(&self) -> MutexGuard<'_, History> {
        self.history.lock()
    }
}
