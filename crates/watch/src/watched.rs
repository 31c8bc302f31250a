//! The trials that are watched: those who watch the same one share its readers.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, Weak};
use std::thread;

use crate::error::{WATCHED, WatchError};
use crate::read;
use crate::trial::{Places, WatchedTrial};

/// The trials that are watched.
#[derive(Debug, Default)]
pub struct Watched {
    trials: Mutex<BTreeMap<PathBuf, Weak<WatchedTrial>>>,
}

impl Watched {
    /// The trial in this directory.
    ///
    /// # Errors
    /// When too many are watched.
    pub fn trial(&self, places: &Places, now: &Path) -> Result<Arc<WatchedTrial>, WatchError> {
        let mut trials = self.trials.lock().expect("no thread panics while it holds the trials");
        trials.retain(|_, trial| trial.strong_count() > 0);
        if let Some(trial) = trials.get(now).and_then(Weak::upgrade) {
            return Ok(trial);
        }
        if trials.len() >= WATCHED {
            return Err(WatchError::TooMany);
        }
        let stop = Arc::new(AtomicBool::new(false));
        let trial = Arc::new(WatchedTrial::new(Arc::clone(&stop)));
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
