//! Comparisons that run, and how far they are.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};

use serde::Deserialize;
use serde_json::Value;

/// Which runs.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Pair {
    pub(crate) a: String,
    pub(crate) b: String,
}

/// How far the comparisons are that run: the latest event of each, by a number of its own.
#[derive(Debug, Default)]
pub(crate) struct Comparisons {
    running: Mutex<BTreeMap<u64, (Pair, Value)>>,
    last: AtomicU64,
}

impl Comparisons {
    pub(crate) fn begin(&self, pair: Pair) -> Running<'_> {
        let number = self.last.fetch_add(1, Ordering::Relaxed);
        self.lock().insert(number, (pair, Value::Null));
        Running { all: self, number }
    }

    /// The event of the one of these runs that began last; null if there is none.
    pub(crate) fn of(&self, pair: &Pair) -> Value {
        let running = self.lock();
        let found = running.values().rev().find(|(own, _)| own == pair);
        found.map_or(Value::Null, |(_, event)| event.clone())
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<u64, (Pair, Value)>> {
        self.running.lock().expect("no thread panics while it holds the comparisons")
    }
}

/// A comparison that runs, until dropped.
pub(crate) struct Running<'c> {
    all: &'c Comparisons,
    pub(crate) number: u64,
}

impl Running<'_> {
    pub(crate) fn tell(&self, event: Value) {
        if let Some((_, latest)) = self.all.lock().get_mut(&self.number) {
            *latest = event;
        }
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.all.lock().remove(&self.number);
    }
}
