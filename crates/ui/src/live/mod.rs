//! A trial while it runs: what its recording says, read as the files grow.
//!
//! Nobody tells this server anything, so watching costs a trial nothing but the reading; and what
//! was watched looks the same once the trial is over. One reader serves all pages that watch a
//! trial. What it keeps are sums over intervals of [`INTERVAL`], so memory grows with the length of
//! a trial and not with its packets.

mod follow;
mod history;
mod packets;
mod read;
mod sink;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::thread;

pub(crate) use history::{Cursor, History};
pub(crate) use packets::{PacketRow, packets};

use crate::error::Refusal;

/// Trials that are watched at a time.
const WATCHED: usize = 16;

/// The trials that pages watch.
#[derive(Debug, Default)]
pub(crate) struct Watched {
    trials: Mutex<BTreeMap<PathBuf, Weak<WatchedTrial>>>,
}

/// A trial that is read as it grows.
#[derive(Debug)]
pub(crate) struct WatchedTrial {
    pub(crate) history: Mutex<History>,
    stop: Arc<AtomicBool>,
}

impl Drop for WatchedTrial {
    /// The last page has left.
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// Where the recording of a trial is made, and where it will be.
#[derive(Debug, Clone)]
pub(crate) struct Places {
    /// The run.
    pub(crate) run: PathBuf,
    pub(crate) case: String,
    pub(crate) number: u32,
}

impl Places {
    /// Where it is now.
    pub(crate) fn now(&self) -> Option<PathBuf> {
        tcplab_lab::place_of_trial(&self.run, &self.case, self.number)
    }
    /// Whether nothing is added to it any more.
    pub(crate) fn is_done(&self) -> bool {
        self.now().is_none_or(|place| place.join("DONE").exists())
    }
}

impl Watched {
    /// The trial in this directory.
    ///
    /// # Errors
    /// When too many are watched.
    pub(crate) fn trial(&self, places: Places, now: &Path) -> Result<Arc<WatchedTrial>, Refusal> {
        let mut trials = self.trials.lock().expect("no thread panics while it holds the trials");
        trials.retain(|_, trial| trial.strong_count() > 0);
        if let Some(trial) = trials.get(now).and_then(Weak::upgrade) {
            return Ok(trial);
        }
        if trials.len() >= WATCHED {
            let what = format!("{WATCHED} trials are watched already: close a page");
            return Err(Refusal::new(axum::http::StatusCode::CONFLICT, what));
        }
        let stop = Arc::new(AtomicBool::new(false));
        let trial = Arc::new(WatchedTrial { history: Mutex::default(), stop: Arc::clone(&stop) });
        trials.insert(now.to_owned(), Arc::downgrade(&trial));
        for follow in [read::at_client, read::at_server, read::samples, read::verdicts] {
            let (trial, places, stop) = (Arc::downgrade(&trial), places.clone(), Arc::clone(&stop));
            let now = now.to_owned();
            thread::spawn(move || {
                follow(&now, &places, &stop, &trial);
                if let Some(trial) = trial.upgrade() {
                    trial.history().ended();
                }
            });
        }
        Ok(trial)
    }
}

impl WatchedTrial {
    pub(crate) fn history(&self) -> std::sync::MutexGuard<'_, History> {
        self.history.lock().expect("no thread panics while it holds a history")
    }
}
