//! A progress bar on the terminal, once reading takes long enough.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use tcplab_capture::Source;

use crate::output::{Bar, has_seen_notes};

/// No bar before this time.
const PATIENCE: Duration = Duration::from_millis(400);
/// How often the bar moves.
const TICK: Duration = Duration::from_millis(100);

/// Shows how much of the files was read, until dropped. It polls, so readers need not report.
pub(super) struct Progress {
    over: Arc<AtomicBool>,
    watcher: Option<JoinHandle<()>>,
}

impl Progress {
    /// The progress of reading these.
    pub(super) fn of<'a>(sources: impl Iterator<Item = &'a Source>) -> Progress {
        let over = Arc::new(AtomicBool::new(false));
        let (mut taken, mut size) = (Vec::new(), Some(0));
        for source in sources {
            taken.push(source.taken());
            size = size.zip(source.size()).map(|(all, one)| all + one);
        }
        let mut watcher = None;
        if has_seen_notes() {
            let over = Arc::clone(&over);
            // Where there can be no thread, there is no bar.
            watcher = thread::Builder::new().spawn(move || watch(&taken, size, &over)).ok();
        }
        Progress { over, watcher }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        if let Some(watcher) = self.watcher.take() {
            watcher.thread().unpark();
            // It ends by itself; should it have panicked, the bar is all that is lost.
            let _ = watcher.join();
        }
    }
}

fn watch(taken: &[Arc<AtomicU64>], size: Option<u64>, over: &AtomicBool) {
    thread::park_timeout(PATIENCE);
    if over.load(Ordering::Relaxed) {
        return;
    }
    let template = match size {
        Some(_) => "{spinner} {wide_bar} {bytes} of {total_bytes}, about {eta} left",
        None => "{spinner} {bytes} read, {elapsed_precise}",
    };
    let bar = Bar::new(size, template);
    while !over.load(Ordering::Relaxed) {
        bar.set_position(taken.iter().map(|bytes| bytes.load(Ordering::Relaxed)).sum());
        thread::park_timeout(TICK);
    }
    bar.clear();
}
