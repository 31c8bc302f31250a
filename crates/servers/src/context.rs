//! What all designs work with: configuration, service, counters, the request to stop.

use std::io;
use std::sync::Arc;
use std::thread::ScopedJoinHandle;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;

use crate::config::{Config, Limits};
use crate::counters::{Count, Counters, Slot, Tally};
use crate::service::Service;
use crate::stop::Stop;
use crate::sys;

/// What a design needs to carry connections.
pub(crate) struct ServerContext<'a> {
    pub(crate) config: &'a Config,
    pub(crate) service: Arc<dyn Service>,
    pub(crate) counters: &'a Counters,
    pub(crate) stop: &'a Stop,
}

impl ServerContext<'_> {
    pub(crate) fn limits(&self) -> &Limits {
        &self.config.limits
    }

    /// How often an event loop checks for connections that exceed a limit.
    pub(crate) fn sweep_period(&self, is_stopping: bool) -> Duration {
        if is_stopping {
            return Duration::from_millis(10);
        }
        let shortest = self.limits().idle.min(self.limits().request) / 8;
        shortest.clamp(Duration::from_millis(5), Duration::from_millis(200))
    }

    /// Whether another connection may be accepted; who accepts [reserves](Self::reserve) its place.
    pub(crate) fn has_room(&self) -> bool {
        self.counters.taken() < self.limits().connections
    }

    /// Takes a place for a connection, if there is one.
    pub(crate) fn reserve(&self, slot: Slot<'_>) -> bool {
        slot.reserve(self.limits().connections)
    }
}

/// Waits until a descriptor is ready, at most `longest`. A signal is no event.
pub(crate) fn wait(fds: &mut [PollFd<'_>], longest: Duration) {
    let timeout = Timespec {
        tv_sec: longest.as_secs().min(3600).cast_signed(),
        tv_nsec: longest.subsec_nanos().into(),
    };
    if let Err(error) = rustix::event::poll(fds, Some(&timeout))
        && error != Errno::INTR
    {
        // Probably no memory for a moment: do not spin.
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Reports the counters to the caller of the server, several times a second.
pub(crate) struct Observer<'a> {
    observe: &'a mut dyn FnMut(&Tally),
    counters: &'a Counters,
    reported: Instant,
}

impl<'a> Observer<'a> {
    /// How long the main thread of a design waits at most between two reports.
    pub(crate) const TICK: Duration = Duration::from_millis(200);

    /// Reports while the threads of an event loop work; they notice the request to stop themselves.
    /// If one ends without it, the others are asked to stop.
    pub(crate) fn attend<T>(&mut self, threads: &[ScopedJoinHandle<'_, T>], stop: &Stop) {
        while !threads.iter().all(ScopedJoinHandle::is_finished) {
            self.tick();
            if threads.iter().any(ScopedJoinHandle::is_finished) && !stop.is_asked() {
                self.counters.slot(0).add(Count::Lost, 1);
                self.report();
                stop.ask();
            }
            let mut fds = [PollFd::new(stop, PollFlags::IN)];
            wait(&mut fds, Observer::TICK);
            if !fds[0].revents().is_empty() {
                // The threads know; wait for them to end.
                std::thread::sleep(Duration::from_millis(5));
            }
        }
    }

    /// An observer that calls `observe`.
    pub(crate) fn new(observe: &'a mut dyn FnMut(&Tally), counters: &'a Counters) -> Observer<'a> {
        Observer { observe, counters, reported: Instant::now() }
    }

    /// Reports at once.
    pub(crate) fn report(&mut self) {
        (self.observe)(&self.counters.tally());
        self.reported = Instant::now();
    }

    /// Reports, if the last report is long enough ago.
    pub(crate) fn tick(&mut self) {
        if self.reported.elapsed() >= Observer::TICK {
            self.report();
        }
    }
}

/// The time in which accepted connections may finish.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Drain {
    until: Instant,
}

impl Drain {
    pub(crate) fn begin(limits: &Limits) -> Drain {
        Drain { until: Instant::now() + limits.drain }
    }

    /// Whether time is over, or a second request to stop has come.
    pub(crate) fn is_over(&self, stop: &Stop) -> bool {
        Instant::now() >= self.until || stop.is_urgent()
    }
}

/// State of an event loop that was asked to stop.
pub(crate) struct Stopping {
    pub(crate) drain: Drain,
    /// When the last connection was accepted.
    pub(crate) latest: Instant,
}

impl Stopping {
    pub(crate) fn begin(limits: &Limits) -> Stopping {
        Stopping { drain: Drain::begin(limits), latest: Instant::now() }
    }
}

/// Checks that this process has a single thread, so that it can fork.
pub(crate) fn single_threaded() -> io::Result<()> {
    if sys::threads()? == 1 {
        return Ok(());
    }
    Err(io::Error::other("it forks, and this process has more than one thread"))
}
