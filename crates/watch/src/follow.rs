//! A file that another process writes, read to its end when that is over.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// Whether nothing is added any more.
pub(crate) type IsDone = Arc<dyn Fn() -> bool + Send + Sync>;

/// How long a reader rests at the end of what there is. With the writer's 50 ms, and the 100 ms
/// after which a page is told, a packet is seen a fifth of a second after it was sent.
pub(crate) const REST: Duration = Duration::from_millis(20);

/// A growing file.
pub(super) struct Growing {
    file: File,
    is_done: IsDone,
    stop: Arc<AtomicBool>,
    was_done: bool,
    /// Called before it waits for more.
    before_rest: Box<dyn FnMut()>,
}

impl Growing {
    /// Waits until the file is there; none if it never will be.
    pub(super) fn open(
        path: &Path,
        is_done: &IsDone,
        stop: &Arc<AtomicBool>,
        before_rest: impl FnMut() + 'static,
    ) -> Option<Growing> {
        loop {
            let was_done = is_done();
            if let Ok(file) = File::open(path) {
                return Some(Growing {
                    file,
                    is_done: Arc::clone(is_done),
                    stop: Arc::clone(stop),
                    was_done: false,
                    before_rest: Box::new(before_rest),
                });
            }
            if was_done || stop.load(Ordering::Relaxed) {
                return None;
            }
            thread::sleep(REST);
        }
    }
}

impl Read for Growing {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if self.stop.load(Ordering::Relaxed) {
                return Ok(0);
            }
            let read = self.file.read(buffer)?;
            if read > 0 || self.was_done {
                return Ok(read);
            }
            // What was written before it was done is read once more.
            self.was_done = (self.is_done)();
            if !self.was_done {
                (self.before_rest)();
                thread::sleep(REST);
            }
        }
    }
}
