//! The trials that are watched: those who watch the same one share its readers.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::thread;

use crate::error::{WATCHED, WatchError};
use crate::follow::IsDone;
use crate::history::History;
use crate::read;
use crate::trial::{Places, SharedHistory, WatchedTrial};

/// A place, and which recording there it is.
type Key = (PathBuf, Option<u64>);

/// The trials that are watched.
#[derive(Debug, Default)]
pub struct Watched {
    trials: Mutex<BTreeMap<Key, Weak<WatchedTrial>>>,
}

impl Watched {
    /// The trial in this directory.
    ///
    /// # Errors
    /// When too many are watched.
    pub fn trial(&self, places: &Places, now: &Path) -> Result<Arc<WatchedTrial>, WatchError> {
        let mut trials = self.trials.lock().expect("no thread panics while it holds the trials");
        trials.retain(|_, trial| trial.strong_count() > 0);
        let began = places.identity();
        let key = (now.to_owned(), began);
        if let Some(trial) = trials.get(&key).and_then(Weak::upgrade) {
            return Ok(trial);
        }
        if trials.len() >= WATCHED {
            return Err(WatchError::TooMany);
        }
        let places = places.clone();
        // Of one that is run again nothing more comes.
        let is_done = move || places.is_done() || places.identity() != began;
        let is_done = Arc::new(is_done) as IsDone;
        let trial = begin(History::default(), now, &is_done);
        trials.insert(key, Arc::downgrade(&trial));
        Ok(trial)
    }
}

impl WatchedTrial {
    /// Reads a recording as it grows, from its beginning; the latest packets are kept. It ends when
    /// the recording is whole, or `is_over` says that nothing is added to it any more.
    pub fn of_recording(directory: &Path, is_over: Arc<AtomicBool>) -> Arc<WatchedTrial> {
        let place = directory.to_owned();
        let is_done = move || place.join("DONE").exists() || is_over.load(Ordering::Relaxed);
        begin(History::with_packets(), directory, &(Arc::new(is_done) as IsDone))
    }
}

/// Starts the readers.
fn begin(history: History, now: &Path, is_done: &IsDone) -> Arc<WatchedTrial> {
    let stop = Arc::new(AtomicBool::new(false));
    let history = SharedHistory::new(history);
    for follow in [read::at_client, read::at_server, read::samples, read::verdicts] {
        let (history, is_done) = (history.clone(), Arc::clone(is_done));
        let (now, stop) = (now.to_owned(), Arc::clone(&stop));
        thread::spawn(move || {
            follow(&now, &is_done, &stop, &history);
            history.lock().ended();
        });
    }
    Arc::new(WatchedTrial::new(history, stop))
}
