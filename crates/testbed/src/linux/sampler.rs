//! Looks at `TCP_INFO` of the sockets at a steady pace.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use tcplab_recording::Sample;
use tcplab_units::{Endpoint, Instant, Span};

use crate::clock::Clock;
use crate::scheduling::be_prompt;
use crate::{TrialError, tcp_info, threads};

/// A socket that is looked at until its owner wants it closed.
#[derive(Debug, Clone)]
pub(crate) struct Sampled {
    socket: Arc<Mutex<Option<OwnedFd>>>,
    /// Whose it is, where that is a flow with samples of its own.
    flow: Option<Arc<str>>,
}

/// A sample, and of which flow, where that has samples of its own.
pub(crate) type Looked = (Option<Arc<str>>, Sample);

impl Sampled {
    /// A duplicate of the owner's descriptor.
    pub(crate) fn new(duplicate: OwnedFd, flow: Option<Arc<str>>) -> Sampled {
        Sampled { socket: Arc::new(Mutex::new(Some(duplicate))), flow }
    }

    /// From now on only the owner has it: a socket is closed with its last descriptor.
    pub(crate) fn let_go(&self) {
        *self.held() = None;
    }

    /// Ends what its owner waits for: no packet that this sends is recorded any more.
    pub(crate) fn wake(&self) {
        if let Some(socket) = &*self.held() {
            let _ = rustix::net::shutdown(socket, rustix::net::Shutdown::Both);
        }
    }

    /// Whose it is, where that is a flow with samples of its own.
    pub(crate) fn flow(&self) -> Option<&str> {
        self.flow.as_deref()
    }

    /// Does something with the socket, unless its owner wants it closed.
    pub(crate) fn with<T>(&self, act: impl FnOnce(BorrowedFd<'_>) -> T) -> Option<T> {
        self.held().as_ref().map(|socket| act(socket.as_fd()))
    }

    fn held(&self) -> MutexGuard<'_, Option<OwnedFd>> {
        self.socket.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Calls `sampled` with the state of each socket that comes through `sockets`, every `interval` on
/// a fixed grid, until it is closed (state CLOSE) and the channel's other end is dropped. Returns
/// how many looks were due and could not be taken in time.
///
/// # Errors
/// When there can be no thread for it.
pub(crate) fn start(
    clock: Clock,
    real_time: bool,
    interval: Span,
    sockets: Receiver<(Endpoint, Sampled)>,
    mut sampled: impl FnMut(Looked) + Send + 'static,
) -> Result<JoinHandle<u64>, TrialError> {
    threads::start("the thread that samples TCP_INFO", move || {
        be_prompt(real_time);
        let mut open = Vec::new();
        let mut missed = 0;
        let mut due = Instant::ZERO + interval;
        loop {
            let late = clock.sleep_until(due);
            let skipped = late.as_nanos() / interval.as_nanos();
            // Before there is anything to look at nothing is missed.
            missed += if open.is_empty() { 0 } else { skipped };
            due += interval * (skipped + 1);
            loop {
                match sockets.try_recv() {
                    Ok(socket) => open.push(socket),
                    Err(std::sync::mpsc::TryRecvError::Empty) => break,
                    Err(std::sync::mpsc::TryRecvError::Disconnected) => return missed,
                }
            }
            for (endpoint, socket) in &open {
                let flow = &socket.flow;
                let held = socket.held();
                let Some(socket) = &*held else { continue };
                let sample = tcp_info::sample(socket.as_fd(), clock.now(), *endpoint);
                if let Ok(sample) = sample {
                    sampled((flow.clone(), sample));
                }
            }
        }
    })
}
