//! Work beside the interpreter.

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use anyhow::Error;
use pyo3::prelude::*;

use crate::error::{exception, failed};

/// How often Python is asked whether somebody pressed Ctrl-C.
const LOOK: Duration = Duration::from_millis(50);

/// Does `work` in a thread of its own, while the interpreter is free for others; Ctrl-C sets the
/// flag that it is given, and is raised when it has ended. What it sends goes to `told`, here.
///
/// # Errors
/// That of the work, of `told`, or Python's `KeyboardInterrupt`.
pub(crate) fn beside<T: Send, M: Send>(
    py: Python<'_>,
    work: impl FnOnce(&Arc<AtomicBool>, &Sender<M>) -> Result<T, Error> + Send,
    mut told: impl FnMut(Python<'_>, M) -> PyResult<()> + Send,
) -> PyResult<T> {
    let stop = Arc::new(AtomicBool::new(false));
    let (ended, interrupted) = py.detach(|| {
        thread::scope(|scope| {
            let (sender, receiver) = mpsc::channel();
            let worker = thread::Builder::new().spawn_scoped(scope, || work(&stop, &{ sender }));
            let Ok(worker) = worker else { return (Err(no_thread()), None) };
            let mut interrupted = None;
            loop {
                let heard = receiver.recv_timeout(LOOK);
                if matches!(heard, Err(RecvTimeoutError::Disconnected)) {
                    break;
                }
                let here = Python::attach(|py| {
                    py.check_signals()?;
                    heard.ok().map_or(Ok(()), |message| told(py, message))
                });
                if let Err(error) = here {
                    stop.store(true, Ordering::Relaxed);
                    interrupted.get_or_insert(error);
                }
            }
            (worker.join(), interrupted)
        })
    });
    match (interrupted, ended) {
        (Some(error), _) => Err(error),
        (None, Ok(done)) => done.map_err(|error| exception(&error)),
        (None, Err(panic)) => Err(panicked(panic.as_ref())),
    }
}

/// The same for work that tells nothing.
pub(crate) fn alone<T: Send>(
    py: Python<'_>,
    work: impl FnOnce(&Arc<AtomicBool>) -> Result<T, Error> + Send,
) -> PyResult<T> {
    beside(py, |stop, _: &Sender<()>| work(stop), |_, ()| Ok(()))
}

/// Does short work here; a panic becomes an exception.
pub(crate) fn here<T>(work: impl FnOnce() -> Result<T, Error>) -> PyResult<T> {
    match std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)) {
        Ok(done) => done.map_err(|error| exception(&error)),
        Err(panic) => Err(panicked(panic.as_ref())),
    }
}

fn no_thread() -> Box<dyn Any + Send> {
    Box::new("there can be no more threads")
}

fn panicked(panic: &(dyn Any + Send)) -> PyErr {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
    failed(format!("a fault of tcplab, please report it: {text}"))
}
